// How far a compiled output is from the eager one, and which rule of torch's same() decides on it.
//
// The status of a row comes from the environment's own same(); this is the explanation beside it,
// and the tests hold the two together. Rules as of torch 2.14 (docs/upstream-differences.md).
#pragma once

#include <string>

namespace at {
class Tensor;
}

namespace dynbench::runner {

struct ComparisonRules {
  double tolerance = 1e-4;  // atol = rtol
  bool cosine = false;
  bool equal_nan = false;
  bool larger_multiplier_for_small_tensors = false;
  bool force_max_multiplier = false;
  // Bool tensors by intersection over union, at least the threshold; else as integers.
  bool iou_for_bool = false;
  double iou_threshold = 0.99;
};

struct Comparison {
  bool same = false;
  // What decided: "equal", "tolerance", "rmse", "cosine", "bool", "iou", "better_than_eager",
  // "nan", "dtype", "layout".
  std::string rule;
  double distance = 0;     // largest absolute difference to eager
  double rmse_result = 0;  // to the reference; to eager where there is none
  double rmse_eager = 0;   // of eager to the reference
  double cosine = 0;       // similarity to eager
  double multiplier = 0;   // of the rmse rule; 0 when it was not asked
};

// `reference` is a float64 tensor, or `eager` again when there is none. Throws std::exception where
// same() raises: shapes that do not broadcast, types without a comparison.
Comparison Compare(const at::Tensor& eager, const at::Tensor& result, const at::Tensor& reference,
                   const ComparisonRules& rules);

}  // namespace dynbench::runner
