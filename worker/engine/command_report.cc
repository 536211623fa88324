#include "worker/engine/command_report.h"

#include <cmath>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/formats/upstream_status.h"
#include "common/plan/metric_fields.h"
#include "common/plan/nearest.h"
#include "common/stats/stats.h"
#include "nlohmann/json.hpp"

namespace dynbench::worker {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "dynbench:";
constexpr size_t kSamplesMax = 1'000'000;
constexpr size_t kNotesMax = 100;
constexpr size_t kFactsMax = 100;
constexpr size_t kTextMax = 2'000;
constexpr double kCountMax = 1e15;
constexpr double kNsPerMs = 1e6;

std::string Text(const json& message, const char* key) {
  const auto it = message.find(key);
  return it != message.end() && it->is_string() ? it->get<std::string>().substr(0, kTextMax) : "";
}

// The first key that is none of `known`.
std::string UnknownKey(const json& message, std::initializer_list<const char*> known) {
  for (const auto& [key, value] : message.items()) {
    bool found = false;
    for (const char* word : known) found = found || key == word;
    if (!found) return key;
  }
  return "";
}

// Sets the metric of that name; false when there is none of it. `fits` is false for a count that is
// none.
bool SetMetric(const std::string& name, double value, plan::Metrics* metrics, bool* fits) {
  bool found = false;
  plan::ForEachMetric(*metrics, [&](const char* metric, auto& field) {
    if (name != metric) return;
    found = true;
    using Value = typename std::remove_reference_t<decltype(field)>::value_type;
    if constexpr (std::is_same_v<Value, int64_t>) {
      *fits = value >= 0 && value <= kCountMax && std::floor(value) == value;
      if (*fits) field = static_cast<int64_t>(value);
    } else {
      field = value;
    }
  });
  return found;
}

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  plan::Metrics metrics;
  plan::ForEachMetric(metrics, [&](const char* name, auto&) { names.emplace_back(name); });
  return names;
}

double Median(const std::vector<int64_t>& ns) { return stats::Median(stats::ToDoubles(ns)); }
double Spread(const std::vector<int64_t>& ns) { return stats::Spread(stats::ToDoubles(ns)); }

// What the samples say, where the program has not said it itself.
void Summarize(plan::Result* r) {
  plan::Metrics& m = r->metrics;
  const auto set = [](std::optional<double>* metric, double value) {
    if (!*metric && std::isfinite(value)) *metric = value;
  };
  if (!r->compiled_ns.empty()) {
    set(&m.abs_latency_ms, Median(r->compiled_ns) / kNsPerMs);
    set(&m.compiled_spread, Spread(r->compiled_ns));
  }
  if (!r->eager_ns.empty()) {
    set(&m.eager_latency_ms, Median(r->eager_ns) / kNsPerMs);
    set(&m.eager_spread, Spread(r->eager_ns));
  }
  if (!r->compiled_ns.empty() && !r->eager_ns.empty()) {
    set(&m.speedup, Median(r->eager_ns) / Median(r->compiled_ns));
  }
}

}  // namespace

void CommandReport::Refuse(const std::string& why) {
  if (refusals_++ == 0) refused_ = why.substr(0, kTextMax);
}

void CommandReport::Read(std::string_view line) {
  if (line.substr(0, kPrefix.size()) != kPrefix) return;
  const json message = json::parse(line.substr(kPrefix.size()), nullptr, false);
  if (!message.is_object()) {
    return Refuse(absl::StrCat("not a JSON object: ", std::string(line.substr(0, 200))));
  }
  Take(message);
}

void CommandReport::Take(const json& message) {
  if (message.contains("metric")) return TakeMetric(message);
  if (message.contains("sample")) return TakeSamples(message);
  if (message.contains("status")) return TakeStatus(message);
  if (message.contains("phase")) {
    const auto phase = plan::ParsePhase(Text(message, "phase"));
    if (!phase) return Refuse("unknown phase \"" + Text(message, "phase") + "\"");
    told_phase_ = phase;
    if (phase_) phase_(*phase);
  } else if (message.contains("batch_size")) {
    const json& size = message["batch_size"];
    if (!size.is_number_integer() || size.get<int64_t>() < 1 || size.get<int64_t>() > INT32_MAX) {
      return Refuse("batch_size wants a whole number from 1 on");
    }
    told_.batch_size = size.get<int>();
  } else if (message.contains("fact")) {
    if (Text(message, "fact").empty() || !message.contains("value")) {
      return Refuse("a fact wants a name and a value");
    }
    if (told_.in_force.size() == kFactsMax) return Refuse("more facts than 100");
    const json& value = message["value"];
    told_.in_force["command." + Text(message, "fact")] =
        value.is_string() ? Text(message, "value") : value.dump().substr(0, kTextMax);
  } else if (message.contains("note")) {
    if (told_.notes.size() == kNotesMax) return Refuse("more notes than 100");
    told_.notes.push_back(Text(message, "note"));
  } else {
    const std::string key = message.empty() ? "" : message.begin().key();
    Refuse(absl::StrCat("unknown key \"", key, "\"",
                        plan::DidYouMean(key, {"metric", "sample", "status", "phase", "batch_size",
                                               "fact", "note"})));
  }
}

void CommandReport::TakeMetric(const json& message) {
  const std::string name = Text(message, "metric");
  const auto value = message.find("value");
  if (const std::string key = UnknownKey(message, {"metric", "value"}); !key.empty()) {
    return Refuse(absl::StrCat("metric \"", name, "\": unknown key \"", key, "\""));
  }
  if (value == message.end() || !value->is_number() || !std::isfinite(value->get<double>())) {
    return Refuse(absl::StrCat("metric \"", name, "\" wants a number as \"value\""));
  }
  bool fits = true;
  if (!SetMetric(name, value->get<double>(), &told_.metrics, &fits)) {
    return Refuse(absl::StrCat("unknown metric \"", name, "\"",
                               plan::DidYouMean(name, MetricNames()),
                               "; docs/engines.md lists them"));
  }
  if (!fits) Refuse(absl::StrCat("metric \"", name, "\" is a count: a whole number from 0 on"));
}

void CommandReport::TakeSamples(const json& message) {
  const std::string side = Text(message, "sample");
  if (side != "eager" && side != "compiled") {
    return Refuse(absl::StrCat("a sample is of \"eager\" or \"compiled\", not \"", side, "\""));
  }
  const auto ns = message.find("ns");
  if (ns == message.end()) return Refuse("a sample wants \"ns\", in nanoseconds");
  std::vector<int64_t>& samples = side == "eager" ? told_.eager_ns : told_.compiled_ns;
  const json list = ns->is_array() ? *ns : json::array({*ns});
  for (const json& sample : list) {
    if (!sample.is_number() || !(sample.get<double>() > 0) || sample.get<double>() > 1e18) {
      return Refuse("a sample's \"ns\" wants a number greater than 0");
    }
    if (samples.size() == kSamplesMax) return Refuse("more samples of a side than 1,000,000");
    samples.push_back(static_cast<int64_t>(std::llround(sample.get<double>())));
  }
}

void CommandReport::TakeStatus(const json& message) {
  const std::string word = Text(message, "status");
  if (const std::string key = UnknownKey(message, {"status", "error", "blame", "phase"});
      !key.empty()) {
    return Refuse(absl::StrCat("status: unknown key \"", key, "\""));
  }
  if (word.empty()) return Refuse("status wants a word");
  const auto meaning = formats::MeaningOfStatus(word);
  const bool passed = word == "measured" || (meaning && meaning->outcome == plan::Outcome::kPassed);
  const plan::Phase reached = told_phase_.value_or(plan::Phase::kLoad);
  told_.status = word;
  told_.error = Text(message, "error");
  told_.phase = passed ? plan::Phase::kReport : meaning ? meaning->phase : reached;
  told_.blame = passed ? plan::Blame::kNone : meaning ? meaning->blame : plan::BlameFor(reached);
  if (message.contains("phase")) {
    const auto phase = plan::ParsePhase(Text(message, "phase"));
    if (!phase) return Refuse("unknown phase \"" + Text(message, "phase") + "\"");
    told_.phase = *phase;
  }
  if (message.contains("blame")) {
    const auto blame = plan::ParseBlame(Text(message, "blame"));
    if (!blame) return Refuse("unknown blame \"" + Text(message, "blame") + "\"");
    told_.blame = *blame;
  }
  outcome_ = passed                                        ? plan::Outcome::kPassed
             : told_.blame == plan::Blame::kInfrastructure ? plan::Outcome::kLost
                                                           : plan::Outcome::kFailed;
  if (!passed && told_.error.empty()) told_.error = "the program reports " + word;
}

bool CommandReport::Measured() const {
  bool any = !told_.eager_ns.empty() || !told_.compiled_ns.empty();
  plan::ForEachMetric(told_.metrics,
                      [&](const char*, const auto& metric) { any = any || metric.has_value(); });
  return any;
}

plan::Result CommandReport::MakeResult(const Ending& ending, std::string_view log,
                                       const plan::Experiment& experiment) const {
  const bool performance = experiment.test == plan::Test::kPerformance;
  const bool complete = outcome_ || (performance && Measured() && ending.exit.success() &&
                                     !ending.timed_out && ending.exit.signal == 0);
  if (ending.cancelled || (!complete && refusals_ == 0)) {
    plan::Result result = ResultWithoutReport(ending, log);
    result.notes.insert(result.notes.end(), told_.notes.begin(), told_.notes.end());
    return result;
  }
  plan::Result result = told_;
  if (refusals_ > 0) {
    result = {};
    result.status = "report_refused";
    result.phase = plan::Phase::kReport;
    result.error = refused_;
    if (refusals_ > 1) {
      result.notes.push_back(absl::StrCat(refusals_, " lines of its report were refused"));
    }
  } else {
    result.outcome = outcome_.value_or(plan::Outcome::kPassed);
    if (!outcome_) {
      result.status = "measured";
      result.blame = plan::Blame::kNone;
    }
    if (result.outcome == plan::Outcome::kPassed) {
      Summarize(&result);
    } else {  // a failure is no number
      result.metrics = {};
      result.eager_ns.clear();
      result.compiled_ns.clear();
    }
  }
  if (result.outcome != plan::Outcome::kPassed) result.detail = LogTail(log);
  AddEnding(ending, &result);
  return result;
}

}  // namespace dynbench::worker
