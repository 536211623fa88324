#include "common/judge/flips.h"

#include <algorithm>

namespace dynbench::judge {

std::string Steadiness::Text() const {
  return "flips " + std::to_string(flips) + "/" + std::to_string(nights);
}

Steadiness SteadinessOf(const std::vector<const store::HistoryRow*>& rows, size_t nights) {
  Steadiness steadiness;
  size_t turns = 0;
  for (size_t i = rows.size() - std::min(rows.size(), nights); i < rows.size(); ++i) {
    const auto& result = rows[i]->row.result;
    if (!result) continue;
    const char outcome = result->outcome == plan::Outcome::kPassed ? '+' : 'x';
    if (!steadiness.outcomes.empty() && steadiness.outcomes.back() != outcome) ++turns;
    steadiness.outcomes += outcome;
    if (outcome == 'x') steadiness.failures.insert(result->status);
  }
  steadiness.nights = steadiness.outcomes.size();
  steadiness.flips = (turns + 1) / 2;
  return steadiness;
}

bool MayBeChance(std::string_view status) {
  return status == "fail_accuracy" || status == "eager_two_runs_differ" ||
         status == "eager_variation" || status == "not_bitwise_equivalent" ||
         status.substr(0, 24) == "fail_batch_invariance_at";
}

}  // namespace dynbench::judge
