#include "worker/runner/comparison.h"

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>

namespace dynbench::runner {
namespace {

bool AllClose(const at::Tensor& a, const at::Tensor& b, double tolerance, bool equal_nan) {
  return at::allclose(a, b, tolerance, tolerance, equal_nan);
}

double Rmse(const at::Tensor& reference, const at::Tensor& tensor) {
  return at::sqrt(at::mean(at::square(reference - tensor))).item<double>();
}

double LargestDifference(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) return 0;
  return at::max(at::abs(a.to(at::kDouble) - b.to(at::kDouble))).item<double>();
}

double CosineSimilarity(const at::Tensor& a, const at::Tensor& b) {
  return at::cosine_similarity(a.flatten().to(at::kFloat), b.flatten().to(at::kFloat), 0, 1e-6)
      .item<double>();
}

at::Tensor Dense(const at::Tensor& t) { return t.layout() == at::kStrided ? t : t.to_dense(); }

// Integer and bool tensors have no mean; their difference does not need one. What cannot be
// measured (shapes that do not broadcast) stays 0: the verdict does not depend on it.
void Measure(const at::Tensor& eager, const at::Tensor& result, const at::Tensor& reference,
             Comparison* found) {
  if (eager.numel() != result.numel() || eager.is_complex() || result.is_complex()) return;
  try {
    found->distance = LargestDifference(eager, result);
    const at::Tensor exact = Dense(reference).to(at::kDouble);
    found->rmse_result = Rmse(exact, result.to(at::kDouble));
    found->rmse_eager = Rmse(exact, eager.to(at::kDouble));
    found->cosine = CosineSimilarity(eager, result);
  } catch (const c10::Error&) {
    return;
  }
}

// How many times eager's own error a result's error may be: more where noise dominates.
double Multiplier(const at::Tensor& eager, const at::Tensor& result, const at::Tensor& reference,
                  const ComparisonRules& rules) {
  if (rules.force_max_multiplier) return 10;
  if (rules.larger_multiplier_for_small_tensors && reference.numel() <= 10) return 10;
  if (rules.larger_multiplier_for_small_tensors && reference.numel() <= 500) return 8;
  const bool one_by_one = eager.dim() == 4 && eager.size(-1) == 1 && eager.size(-2) == 1;
  if (reference.numel() < 1000 || one_by_one || rules.tolerance >= 0.02) return 3;
  const bool half = result.scalar_type() == at::kHalf || result.scalar_type() == at::kBFloat16;
  return half ? 3 : 2;
}

// The float64 rules, for a result that is not close to eager.
void DecideByReference(const at::Tensor& eager, const at::Tensor& result,
                       const at::Tensor& reference, const ComparisonRules& rules,
                       Comparison* found) {
  constexpr double kLooseTolerance = 4e-2;
  const auto has_nan = [](const at::Tensor& t) { return t.isnan().any().item<bool>(); };
  if (!has_nan(reference) && !has_nan(result) && has_nan(eager) &&
      AllClose(reference.to(result.scalar_type()), result, kLooseTolerance, rules.equal_nan)) {
    found->same = true;
    found->rule = "better_than_eager";
    return;
  }
  if (eager.is_complex() || result.is_complex()) {
    throw std::runtime_error("complex errors have no order");
  }
  const double eager_error = Rmse(reference, eager);
  const double result_error = Rmse(reference, result);
  found->multiplier = Multiplier(eager, result, reference, rules);
  found->rule = "rmse";
  found->same = result_error <= found->multiplier * eager_error + rules.tolerance / 10;
  if (!found->same && rules.equal_nan && std::isnan(eager_error) && std::isnan(result_error)) {
    found->same = true;
    found->rule = "nan";
  }
}

void DecideBool(const at::Tensor& eager, const at::Tensor& result, const ComparisonRules& rules,
                Comparison* found) {
  if (!rules.iou_for_bool) {
    found->rule = "bool";
    found->same =
        AllClose(eager.to(at::kByte), result.to(at::kByte), rules.tolerance, rules.equal_nan);
    return;
  }
  found->rule = "iou";
  const at::Tensor both = at::bitwise_and(eager, result).sum().to(at::kFloat);
  const at::Tensor any = at::bitwise_or(eager, result).sum().to(at::kFloat);
  found->same = any.item<double>() == 0 || at::div(both, any).item<double>() >= rules.iou_threshold;
}

void Decide(const at::Tensor& eager, const at::Tensor& result, const at::Tensor& reference,
            const ComparisonRules& rules, Comparison* found) {
  if (eager.scalar_type() != result.scalar_type()) {
    found->rule = "dtype";
    return;
  }
  if (eager.scalar_type() == at::kBool) {
    DecideBool(eager, result, rules, found);
    return;
  }
  if (rules.cosine) {
    found->rule = "tolerance";
    found->same = AllClose(eager.flatten().to(at::kFloat), result.flatten().to(at::kFloat),
                           rules.tolerance, true);
    if (found->same) return;
    found->rule = "cosine";
    found->same = CosineSimilarity(eager, result) >= 0.99;
    return;
  }
  found->same = AllClose(eager, result, rules.tolerance, rules.equal_nan);
  found->rule = found->same && at::equal(eager, result) ? "equal" : "tolerance";
  if (!found->same && reference.scalar_type() == at::kDouble) {
    DecideByReference(eager, result, reference, rules, found);
  }
}

}  // namespace

Comparison Compare(const at::Tensor& eager, const at::Tensor& result, const at::Tensor& reference,
                   const ComparisonRules& rules) {
  const c10::InferenceMode no_gradients;
  Comparison found;
  if (eager.is_sparse() && !result.is_sparse()) {
    found.rule = "layout";
    return found;
  }
  // The reference stays as it is: same() compares with a sparse one only where an operator can.
  const at::Tensor dense_eager = eager.is_sparse() ? eager.to_dense() : eager;
  const at::Tensor dense_result = eager.is_sparse() ? result.to_dense() : result;
  Decide(dense_eager, dense_result, reference, rules, &found);
  Measure(dense_eager, Dense(dense_result), reference, &found);
  return found;
}

}  // namespace dynbench::runner
