// Compare() for Python, as the built-in module dynbench_runner. The only file with torch's Python
// headers: 1.6 GB and 20 s of a compiler would be paid for each further one.
#include <pybind11/embed.h>
#include <torch/csrc/utils/pybind.h>

#include "worker/runner/comparison.h"

namespace py = pybind11;

namespace {

using dynbench::runner::Compare;
using dynbench::runner::Comparison;
using dynbench::runner::ComparisonRules;

// `options` are keyword arguments of torch's same(); one that is missing keeps its default.
ComparisonRules ToRules(const py::dict& options) {
  const auto get = [&](const char* name, auto missing) {
    return options.contains(name) ? options[name].cast<decltype(missing)>() : missing;
  };
  ComparisonRules rules;
  rules.tolerance = get("tol", rules.tolerance);
  rules.cosine = get("cos_similarity", rules.cosine);
  rules.equal_nan = get("equal_nan", rules.equal_nan);
  rules.larger_multiplier_for_small_tensors =
      get("use_larger_multiplier_for_smaller_tensor", false);
  rules.force_max_multiplier = get("force_max_multiplier", rules.force_max_multiplier);
  rules.iou_for_bool = get("use_iou_for_bool", rules.iou_for_bool);
  rules.iou_threshold = get("iou_threshold", rules.iou_threshold);
  return rules;
}

}  // namespace

PYBIND11_EMBEDDED_MODULE(dynbench_runner, module) {
  module.def("compare", [](const at::Tensor& eager, const at::Tensor& result,
                           const at::Tensor& reference, const py::dict& options) {
    const Comparison found = Compare(eager, result, reference, ToRules(options));
    py::dict told;
    told["same"] = found.same;
    told["rule"] = found.rule;
    told["distance"] = found.distance;
    told["rmse_result"] = found.rmse_result;
    told["rmse_eager"] = found.rmse_eager;
    told["cosine"] = found.cosine;
    told["multiplier"] = found.multiplier;
    return told;
  });
}
