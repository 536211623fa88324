// Artefacts for Python, as the built-in module dynbench_artifacts.
#include <pybind11/embed.h>
#include <torch/csrc/autograd/python_variable.h>

#include <stdexcept>

#include "worker/runner/artifact.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

Tensors FromList(const py::list& list) {
  Tensors tensors;
  tensors.reserve(list.size());
  for (const py::handle item : list) {
    if (!THPVariable_Check(item.ptr())) throw std::invalid_argument("not a list of tensors");
    tensors.push_back(THPVariable_Unpack(item.ptr()));
  }
  return tensors;
}

py::list ToList(const Tensors& tensors) {
  py::list list;
  for (const at::Tensor& tensor : tensors) {
    list.append(py::reinterpret_steal<py::object>(THPVariable_Wrap(tensor)));
  }
  return list;
}

}  // namespace
}  // namespace dynbench::runner

PYBIND11_EMBEDDED_MODULE(dynbench_artifacts, module) {
  namespace runner = dynbench::runner;
  py::class_<runner::ArtifactCall, std::shared_ptr<runner::ArtifactCall>>(module, "ArtifactCall");
  py::class_<runner::Artifact, std::shared_ptr<runner::Artifact>>(module, "Artifact")
      .def_property_readonly("runs", &runner::Artifact::runs)
      .def("run",
           [](runner::Artifact& artifact, const py::list& inputs) {
             return runner::ToList(artifact.Run(runner::FromList(inputs)));
           })
      .def("bind", [](const std::shared_ptr<runner::Artifact>& artifact, const py::list& inputs) {
        return std::make_shared<runner::ArtifactCall>(artifact, runner::FromList(inputs));
      });
  module.def("load_aot_inductor", &runner::LoadAotInductor);
  module.def("load_torchscript", &runner::LoadTorchScript);
  module.def("has_nativert", &runner::HasNativeRt);
  module.def("load_nativert", &runner::LoadNativeRt);
}
