#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/formats/compare_json.h"
#include "common/formats/compare_table.h"
#include "common/judge/compare.h"
#include "common/judge/flips.h"
#include "common/judge/history.h"
#include "common/plan/nearest.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/compare_sides.h"
#include "tools/dynbenchctl/exit_code.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string base, fresh, noise, threshold, why, layout;
  std::vector<std::string> metrics;
  bool allow_incomparable = false, csv = false, markdown = false, all = false;
};

absl::Status Check(const Arguments& a, const Globals& globals) {
  const int outputs = (globals.json ? 1 : 0) + (a.csv ? 1 : 0) + (a.markdown ? 1 : 0);
  if (outputs > 1) {
    return absl::InvalidArgumentError("--json, --csv and --markdown exclude each other");
  }
  if (!a.layout.empty() && (globals.json || a.markdown || !a.why.empty())) {
    return absl::InvalidArgumentError(
        "--layout regression is CSV; it goes with none of --json, "
        "--markdown and --why");
  }
  if (!a.why.empty() && (globals.json || a.csv)) {
    return absl::InvalidArgumentError(
        "--why explains to people: it goes with neither --json nor "
        "--csv, which have every model anyway");
  }
  if (a.all && (globals.json || a.csv || !a.why.empty() || !a.layout.empty())) {
    return absl::InvalidArgumentError("--all would have no effect: it lengthens the tables");
  }
  return absl::OkStatus();
}

absl::StatusOr<judge::Options> OptionsOf(const Arguments& a) {
  judge::Options options;
  options.rules.allow_incomparable = a.allow_incomparable;
  if (!a.threshold.empty()) {
    double percent = 0;
    const std::string number(absl::StripSuffix(a.threshold, "%"));
    if (!absl::SimpleAtod(number, &percent) || !(percent >= 0 && percent < 1000)) {
      return absl::InvalidArgumentError("--threshold: '" + a.threshold +
                                        "' is no percentage, such as 2 or 0.5%");
    }
    options.rules.threshold = percent / 100;
  }
  for (const std::string& word : a.metrics) {
    options.metrics.insert(*judge::ParseMetric(word));  // the parser has checked the words
  }
  return options;
}

ExitCode CodeOf(judge::Gate gate) {
  Findings findings;
  findings.refused = gate == judge::Gate::kIncomparable;
  findings.measured_failure = gate == judge::Gate::kRegression;
  findings.nothing_measured = gate == judge::Gate::kNotEnough;
  return Decide(findings);
}

absl::StatusOr<std::string> Why(const judge::Comparison& comparison, const std::string& model,
                                bool markdown, const formats::TableStyle& style) {
  std::string text = formats::CompareWhy(comparison, model, {markdown, true}, style);
  if (!text.empty()) return text;
  std::set<std::string> models;
  for (const auto& pair : comparison.pairing.pairs) models.insert(pair.experiment.model);
  return absl::NotFoundError(
      "neither side has the model '" + model + "'" +
      plan::DidYouMean(model, std::vector<std::string>(models.begin(), models.end())));
}

VerbResult Show(Context& context, const Arguments& a, const judge::Comparison& comparison) {
  const formats::TableStyle style = StyleOf(context);
  if (!a.why.empty()) {
    ASSIGN_OR_RETURN(const std::string text, Why(comparison, a.why, a.markdown, style));
    context.out() << text;
  } else if (!a.layout.empty()) {
    context.out() << formats::RegressionTable(comparison);
  } else if (context.globals.json) {
    PrintJson(context, formats::CompareJson(comparison));
  } else if (a.csv) {
    context.out() << formats::CompareCsv(comparison);
  } else {
    context.out() << formats::CompareTable(comparison, {a.markdown, a.all}, style);
  }
  return CodeOf(comparison.gate);
}

// Of series whose status turned, the nights up to the newest that is compared.
absl::Status WeighPast(Source& source, const judge::Side& base, const judge::Side& fresh,
                       judge::Comparison* comparison) {
  store::HistoryFilter filter;
  filter.series = judge::TurnedSeries(*comparison);
  if (filter.series.empty()) return absl::OkStatus();
  for (const judge::Side* side : {&base, &fresh}) {
    for (const judge::Process& process : side->processes) {
      filter.up_to = std::max(filter.up_to, process.row.id);
    }
  }
  size_t most = 0;
  for (const judge::Pair& pair : comparison->pairing.pairs)
    most = std::max(most, pair.fresh.size());
  filter.newest = static_cast<int64_t>(judge::kFlipNights + most);
  ASSIGN_OR_RETURN(const store::History history, source.History(filter));
  judge::WeighHistory(judge::GroupHistory(history), comparison);
  return absl::OkStatus();
}

// The rounds of a pair job, each side of a round against the other.
VerbResult ComparePairJob(Context& context, const Arguments& a, const judge::Options& options) {
  if (!a.noise.empty()) {
    return absl::InvalidArgumentError(
        "--noise would have no effect: a pair job has its noise in its own rounds");
  }
  ASSIGN_OR_RETURN(const JobId job, ParseJobId(a.base));
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const PairSides sides, LoadPairJob(*source, job, !a.why.empty()));
  judge::Comparison comparison = judge::ComparePairs(sides.base, sides.fresh, options);
  RETURN_IF_ERROR(WeighPast(*source, sides.base, sides.fresh, &comparison));
  return Show(context, a, comparison);
}

VerbResult Compare(Context& context, const Arguments& a) {
  RETURN_IF_ERROR(Check(a, context.globals));
  ASSIGN_OR_RETURN(const judge::Options options, OptionsOf(a));
  if (a.fresh.empty()) return ComparePairJob(context, a, options);
  ASSIGN_OR_RETURN(const SideSpec base_spec, ParseSide(a.base));
  ASSIGN_OR_RETURN(const SideSpec fresh_spec, ParseSide(a.fresh));
  if (base_spec.environment == fresh_spec.environment) {
    for (const JobId job : base_spec.jobs) {
      if (std::find(fresh_spec.jobs.begin(), fresh_spec.jobs.end(), job) == fresh_spec.jobs.end()) {
        continue;
      }
      return absl::InvalidArgumentError("job " + std::to_string(job.value) +
                                        " is on both sides; a job's environments are compared as "
                                        "JOB:OLD JOB:NEW");
    }
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  const bool samples = !a.why.empty();
  ASSIGN_OR_RETURN(const judge::Side base, LoadSide(*source, base_spec, samples));
  ASSIGN_OR_RETURN(const judge::Side fresh, LoadSide(*source, fresh_spec, samples));
  std::vector<judge::NoiseFloor> noise;
  if (!a.noise.empty()) {
    ASSIGN_OR_RETURN(const SideSpec noise_spec, ParseSide(a.noise));
    ASSIGN_OR_RETURN(const judge::Side side, LoadSide(*source, noise_spec, false));
    noise = judge::FloorsOf(side.processes);
  } else {
    ASSIGN_OR_RETURN(noise, LoadFloors(*source));
  }
  judge::Comparison comparison = judge::Compare(base, fresh, noise, options);
  RETURN_IF_ERROR(WeighPast(*source, base, fresh, &comparison));
  return Show(context, a, comparison);
}

std::vector<std::string> MetricWords() {
  std::vector<std::string> words;
  for (const judge::MetricInfo& info : judge::AllMetrics()) words.emplace_back(info.word);
  return words;
}

}  // namespace

void AddCompare(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      tree.AddVerb("compare", "What changed between two builds, and whether it is real; a gate.",
                   [arguments](Context& context) { return Compare(context, *arguments); });
  verb->add_option("BASE", arguments->base,
                   "job, or several jobs of the same build: 1,2,3; JOB:ENVIRONMENT for one of "
                   "several environments; alone: a job of submit --base --new")
      ->required();
  verb->add_option("NEW", arguments->fresh, "likewise");
  tree.Choices(verb->add_option("--metric", arguments->metrics,
                                "show and gate only these; several with commas")
                   ->type_name("METRIC")
                   ->delimiter(',')
                   ->allow_extra_args(false)
                   ->group("flags"),
               MetricWords());
  const auto add_option = [&](const char* name, std::string* target, const char* type,
                              const char* text) {
    return verb->add_option(name, *target, text)->type_name(type)->group("flags");
  };
  const auto add_switch = [&](const char* name, bool* target, const char* text) {
    verb->add_flag(name, *target, text)->group("flags");
  };
  add_option("--threshold", &arguments->threshold, "PERCENT",
             "changes below it are not told (default: 1)");
  add_option("--noise", &arguments->noise, "JOBS",
             "jobs of one build: their spread between processes is the noise floor (default: what "
             "calibrate has stored)");
  add_switch("--allow-incomparable", &arguments->allow_incomparable,
             "judge rows although machine or settings differ");
  add_option("--why", &arguments->why, "MODEL",
             "everything about one model: processes, drift, clusters, how each verdict came about");
  add_switch("--all", &arguments->all, "every model and finding, however many");
  add_switch("--csv", &arguments->csv, "a line for each metric of each model");
  add_switch("--markdown", &arguments->markdown, "tables for an issue");
  tree.Choices(add_option("--layout", &arguments->layout, "LAYOUT",
                          "regression: the table that hardware vendors post, as CSV"),
               {"regression"});
}

}  // namespace dynbench::cli
