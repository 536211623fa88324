#include "common/formats/compile_pays.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/formats/format_number.h"
#include "common/stats/break_even.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using Json = nlohmann::json;
using store::ResultRow;

Payback PaybackOf(const ResultRow& row) {
  Payback payback;
  payback.row = &row;
  const plan::Metrics& m = row.result->metrics;
  if (row.result->outcome != plan::Outcome::kPassed || !m.eager_latency_ms || !m.abs_latency_ms) {
    return payback;
  }
  payback.compile_s = m.compile_synchronized_s.value_or(m.compilation_latency_s.value_or(0)) +
                      m.export_s.value_or(0) + m.package_s.value_or(0) + m.load_s.value_or(0);
  const double calls_per_sample = std::max(1, row.experiment.iterations_per_run);
  const double eager_ms = *m.eager_latency_ms / calls_per_sample;
  const double compiled_ms = *m.abs_latency_ms / calls_per_sample;
  payback.saved_ms = eager_ms - compiled_ms;
  const double noise_ms =
      eager_ms * m.eager_spread.value_or(0) / 2 + compiled_ms * m.compiled_spread.value_or(0) / 2;
  if (std::fabs(payback.saved_ms) <= noise_ms) {
    payback.pays = Pays::kNoDifference;
    return payback;
  }
  payback.pays = payback.saved_ms > 0 ? Pays::kPays : Pays::kCosts;
  payback.calls = m.break_even_calls
                      ? m.break_even_calls
                      : stats::BreakEvenCalls(payback.compile_s, eager_ms / 1e3, compiled_ms / 1e3);
  if (payback.pays == Pays::kCosts) payback.calls.reset();
  if (payback.calls) payback.running_s = payback.compile_s + *payback.calls * compiled_ms / 1e3;
  return payback;
}

// Pays soonest, then no difference, then the dearest last, then what is not known.
bool Before(const Payback& a, const Payback& b) {
  const auto rank = [](Pays pays) {
    return pays == Pays::kPays ? 0 : pays == Pays::kNoDifference ? 1 : pays == Pays::kCosts ? 2 : 3;
  };
  if (a.pays != b.pays) return rank(a.pays) < rank(b.pays);
  if (a.pays == Pays::kPays) return a.calls.value_or(0) < b.calls.value_or(0);
  return a.pays == Pays::kCosts && a.saved_ms > b.saved_ms;
}

Tone ToneOf(Pays pays) {
  return pays == Pays::kPays ? Tone::kGood : pays == Pays::kCosts ? Tone::kBad : Tone::kDim;
}

std::string Words(const plan::Experiment& e) {
  return absl::StrCat(std::string(plan::ToString(e.mode)), " ",
                      std::string(plan::ToString(e.precision)), " ", e.configuration);
}

std::string Calls(double calls) { return Fixed(std::ceil(calls), 0); }

std::vector<Payback> Sorted(const std::vector<ResultRow>& rows) {
  std::vector<Payback> paybacks = Paybacks(rows);
  std::stable_sort(paybacks.begin(), paybacks.end(), Before);
  return paybacks;
}

int64_t Count(const std::vector<Payback>& paybacks, Pays pays) {
  return std::count_if(paybacks.begin(), paybacks.end(),
                       [&](const Payback& payback) { return payback.pays == pays; });
}

// The median number of calls until compiling has paid, of those where it pays.
std::optional<double> MedianCalls(const std::vector<Payback>& paybacks) {
  std::vector<double> calls;
  for (const Payback& payback : paybacks) {
    if (payback.calls) calls.push_back(*payback.calls);
  }
  if (calls.empty()) return std::nullopt;
  std::sort(calls.begin(), calls.end());
  return calls[calls.size() / 2];
}

std::string Summary(const std::vector<Payback>& paybacks) {
  std::string text = absl::StrCat("compiling pays for ", Count(paybacks, Pays::kPays), " of ",
                                  paybacks.size(), ", costs for ", Count(paybacks, Pays::kCosts),
                                  ", makes no difference beyond the spread for ",
                                  Count(paybacks, Pays::kNoDifference));
  const int64_t unknown = Count(paybacks, Pays::kUnknown);
  if (unknown > 0) text += absl::StrCat(", is not known for ", unknown);
  const auto median = MedianCalls(paybacks);
  if (median)
    text += absl::StrCat("; where it pays, the median is after ", Calls(*median), " calls");
  return text + "\n";
}

}  // namespace

std::vector<Payback> Paybacks(const std::vector<ResultRow>& rows) {
  std::vector<Payback> paybacks;
  for (const ResultRow& row : rows) {
    if (row.experiment.test != plan::Test::kPerformance || !row.result) continue;
    if (row.result->outcome == plan::Outcome::kSkipped ||
        row.result->outcome == plan::Outcome::kCancelled) {
      continue;
    }
    paybacks.push_back(PaybackOf(row));
  }
  return paybacks;
}

std::string ToString(Pays pays) {
  switch (pays) {
    case Pays::kPays:
      return "pays";
    case Pays::kCosts:
      return "costs";
    case Pays::kNoDifference:
      return "no difference";
    case Pays::kUnknown:
      break;
  }
  return "unknown";
}

std::string PaysTable(const store::JobRow& job, const std::vector<ResultRow>& rows,
                      const TableStyle& style) {
  const std::vector<Payback> paybacks = Sorted(rows);
  const std::string title =
      Paint(absl::StrCat("job ", job.id.value, ": does compiling pay?"), Tone::kStrong, style) +
      "\n\n";
  if (paybacks.empty()) return title + "nothing was measured: no performance row has ended\n";
  TextTable table({{"model", Align::kLeft, 0},
                   {"measured as", Align::kLeft, 2},
                   {"compiling", Align::kLeft, 0},
                   {"compile s", Align::kRight, 0},
                   {"saved ms a call", Align::kRight, 0},
                   {"pays after calls", Align::kRight, 0},
                   {"which take", Align::kRight, 1}});
  for (const Payback& p : paybacks) {
    const bool known = p.pays != Pays::kUnknown;
    const Cell none{"-", Tone::kDim};
    table.AddRow({{p.row->experiment.model},
                  {Words(p.row->experiment)},
                  {ToString(p.pays), ToneOf(p.pays)},
                  known ? Cell{Fixed(p.compile_s, 1)} : none,
                  known ? Cell{Milliseconds(p.saved_ms)} : none,
                  p.calls ? Cell{Calls(*p.calls)} : none,
                  p.running_s ? Cell{FormatSeconds(*p.running_s)} : none});
  }
  return title + table.Render(style) + "\n" + Summary(paybacks);
}

Json PaysJson(const store::JobRow& job, const std::vector<ResultRow>& rows) {
  const std::vector<Payback> paybacks = Sorted(rows);
  Json models = Json::array();
  for (const Payback& p : paybacks) {
    Json model = {{"id", p.row->id.value},
                  {"experiment", plan::ToPublicJson(p.row->experiment)},
                  {"compiling", ToString(p.pays)},
                  {"break_even_calls", p.calls ? Json(*p.calls) : Json(nullptr)},
                  {"break_even_s", p.running_s ? Json(*p.running_s) : Json(nullptr)}};
    if (p.pays != Pays::kUnknown) {
      model["compile_s"] = p.compile_s;
      model["saved_ms_per_call"] = p.saved_ms;
    }
    models.push_back(std::move(model));
  }
  const auto median = MedianCalls(paybacks);
  return {{"schema", "dynbench.pays/1"},
          {"job", job.id.value},
          {"models", std::move(models)},
          {"summary",
           {{"pays", Count(paybacks, Pays::kPays)},
            {"costs", Count(paybacks, Pays::kCosts)},
            {"no_difference", Count(paybacks, Pays::kNoDifference)},
            {"unknown", Count(paybacks, Pays::kUnknown)},
            {"median_break_even_calls", median ? Json(*median) : Json(nullptr)}}}};
}

}  // namespace dynbench::formats
