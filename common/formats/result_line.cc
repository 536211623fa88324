#include "common/formats/result_line.h"

#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/formats/format_number.h"

namespace dynbench::formats {

using plan::Outcome;
using store::ResultRow;

std::string FailureText(const plan::Result& result) {
  const std::string outcome(plan::ToString(result.outcome));
  std::string text = result.status.empty() ? outcome : result.status;
  if (result.outcome == Outcome::kLost && text != outcome) text = outcome + " (" + text + ")";
  if (result.outcome == Outcome::kFailed) {
    text += absl::StrCat(" in ", std::string(plan::ToString(result.phase)), ", blame ",
                         std::string(plan::ToString(result.blame)));
  }
  return result.error.empty() ? text : text + ": " + result.error;
}

std::string CoverageLine(const store::Coverage& c) {
  std::string text = absl::StrCat(c.passed, " passed, ", c.failed, " failed");
  const std::array<std::pair<int64_t, const char*>, 5> others = {{{c.skipped, "skipped"},
                                                                  {c.lost, "lost"},
                                                                  {c.cancelled, "cancelled"},
                                                                  {c.running, "running"},
                                                                  {c.waiting, "waiting"}}};
  for (const auto& [count, word] : others) {
    if (count != 0) text += absl::StrCat(", ", count, " ", word);
  }
  return absl::StrCat(text, " of ", c.planned, " planned");
}

std::string ResultLine(const ResultRow& row, const TableStyle& style) {
  if (!row.result) return "";
  const plan::Result& result = *row.result;
  const plan::Metrics& m = result.metrics;
  std::string text = absl::StrCat(Printable(row.experiment.model), " ",
                                  std::string(plan::ToString(row.experiment.test)), ": ");
  if (result.outcome == Outcome::kSkipped || result.outcome == Outcome::kCancelled) {
    const std::string& reason =
        row.experiment.reason.empty() ? result.error : row.experiment.reason;
    text += std::string(plan::ToString(result.outcome));
    return reason.empty() ? text : text + ", " + Printable(reason);
  }
  if (result.outcome != Outcome::kPassed) {
    return text + Paint(Printable(FailureText(result)), Tone::kBad, style);
  }
  if (!m.speedup) return text + Paint(Printable(result.status), Tone::kGood, style);
  text += Paint(Times(*m.speedup), Tone::kGood, style);
  if (m.eager_latency_ms && m.abs_latency_ms) {
    text += absl::StrCat(" (eager ", Milliseconds(*m.eager_latency_ms), " ms");
    if (m.eager_spread) text += " ± " + Percent(*m.eager_spread / 2);
    text += absl::StrCat(", compiled ", Milliseconds(*m.abs_latency_ms), " ms");
    if (m.compiled_spread) text += " ± " + Percent(*m.compiled_spread / 2);
    text += ")";
  }
  if (m.compilation_latency_s) text += ", compiled in " + FormatSeconds(*m.compilation_latency_s);
  return text;
}

}  // namespace dynbench::formats
