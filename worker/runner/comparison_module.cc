// Compare() for Python, as the built-in module dynbench_runner. The only file with torch's Python
// headers: 1.6 GB and 20 s of a compiler would be paid for each further one.
#include <pybind11/embed.h>
#include <torch/csrc/utils/pybind.h>

#include "worker/runner/comparison.h"

namespace py = pybind11;

PYBIND11_EMBEDDED_MODULE(dynbench_runner, module) {
  using dynbench::runner::Compare;
  using dynbench::runner::Comparison;
  using dynbench::runner::ComparisonRules;
  module.def("compare", [](const at::Tensor& eager, const at::Tensor& result,
                           const at::Tensor& reference, double tolerance, bool cosine,
                           bool equal_nan, bool larger_multiplier, bool force_max_multiplier) {
    const Comparison found = Compare(
        eager, result, reference,
        ComparisonRules{tolerance, cosine, equal_nan, larger_multiplier, force_max_multiplier});
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
