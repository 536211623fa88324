#include "coordinator/session/typical_compile.h"

#include <algorithm>
#include <vector>

#include "common/stats/stats.h"

namespace dynbench::session {

TypicalCompile::TypicalCompile(const plan::Suite& suite) {
  std::vector<double> told;
  for (const plan::ModelRules& model : suite.models) {
    if (model.typical_compile_s <= 0) continue;
    of_model_[model.name] = model.typical_compile_s;
    told.push_back(model.typical_compile_s);
  }
  if (told.empty()) return;
  const double median = stats::Median(told);
  for (auto& [model, seconds] : of_model_) seconds /= median;
  longest_ = *std::max_element(told.begin(), told.end()) / median;
}

std::optional<TypicalCompile> TypicalCompile::OfOwnSuite(const plan::Request& request) {
  if (!request.inline_suite) return std::nullopt;
  return TypicalCompile(*request.inline_suite);
}

double TypicalCompile::Of(const std::string& model) const {
  const auto found = of_model_.find(model);
  return found == of_model_.end() ? 0 : found->second;
}

}  // namespace dynbench::session
