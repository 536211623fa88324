#include "common/judge/page_faults.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace dynbench::judge {
namespace {

// Of one minor fault of 4 KiB, zeroing included, on a quick host; two cores of a virtual machine
// took 1.6 to 2.2 µs, and 0.4 to give the page back.
constexpr double kFaultMs = 0.5e-3;
// Of the time of a call, from which on faults may be what hides a change.
constexpr double kShareThatMatters = 0.01;
constexpr size_t kNamed = 3;

int64_t FaultsThatMatter(const std::optional<int64_t>& faults, const std::optional<double>& ms) {
  if (!faults || !ms || *ms <= 0) return 0;
  return static_cast<double>(*faults) * kFaultMs / *ms >= kShareThatMatters ? *faults : 0;
}

int64_t FaultsOf(Metric metric, const plan::Metrics& metrics) {
  const int64_t eager = FaultsThatMatter(metrics.eager_page_faults, metrics.eager_latency_ms);
  const int64_t compiled = FaultsThatMatter(metrics.compiled_page_faults, metrics.abs_latency_ms);
  if (metric == Metric::kEagerLatency) return eager;
  if (metric == Metric::kCompiledLatency) return compiled;
  return metric == Metric::kSpeedup ? std::max(eager, compiled) : 0;
}

int64_t MostFaults(Metric metric, const Pair& pair) {
  int64_t most = 0;
  for (const auto* side : {&pair.base, &pair.fresh}) {
    for (const Process* process : *side) {
      most = std::max(most, FaultsOf(metric, process->row.result->metrics));
    }
  }
  return most;
}

}  // namespace

std::string PageFaultNote(const Pairing& pairing, const std::vector<Judgement>& judgements) {
  std::set<std::pair<int64_t, std::string>, std::greater<>> found;
  std::set<size_t> pairs;
  for (const Judgement& j : judgements) {
    const Pair& pair = pairing.pairs[j.pair];
    if (j.verdict != Verdict::kUnknown || !j.p || pair.experiment.profile != "default") continue;
    const int64_t faults = MostFaults(j.metric, pair);
    if (faults > 0 && pairs.insert(j.pair).second) found.emplace(faults, pair.experiment.model);
  }
  if (found.empty()) return "";
  std::string text = "unknown, and with page faults in each call: ";
  size_t named = 0;
  for (const auto& [faults, model] : found) {
    if (named++ == kNamed) break;
    text += (named > 1 ? ", " : "") + model + " " + std::to_string(faults);
  }
  if (found.size() > kNamed) text += ", " + std::to_string(found.size() - kNamed) + " more";
  return text +
         "; processes of one build differ by what these cost, --profile steady-heap has none";
}

}  // namespace dynbench::judge
