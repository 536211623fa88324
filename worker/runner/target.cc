#include "worker/runner/target.h"

#include <utility>

#include "worker/runner/artifact.h"
#include "worker/runner/python_embedding.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

class PythonTarget : public Target {
 public:
  PythonTarget(py::object function, py::tuple arguments, py::object before_call)
      : function_(std::move(function)),
        arguments_(std::move(arguments)),
        before_call_(std::move(before_call)) {}

  void Call() override {
    output_ = py::reinterpret_steal<py::object>(
        PyObject_Call(function_.ptr(), arguments_.ptr(), nullptr));
    if (!output_) throw py::error_already_set();
  }
  void Release() override { output_ = py::object(); }
  bool HasBeforeCall() const override { return !before_call_.is_none(); }
  void BeforeCall() override {
    if (HasBeforeCall()) before_call_();
  }

 private:
  py::object function_;
  py::tuple arguments_;
  py::object before_call_;
  py::object output_;
};

class ArtifactTarget : public Target {
 public:
  explicit ArtifactTarget(std::shared_ptr<ArtifactCall> call) : call_(std::move(call)) {}

  void Call() override { call_->Call(); }
  void Release() override { call_->Release(); }

 private:
  std::shared_ptr<ArtifactCall> call_;
};

}  // namespace

std::unique_ptr<Target> MakeTarget(const py::object& function_and_arguments) {
  const auto pair = function_and_arguments.cast<py::tuple>();
  const py::object function = pair[0];
  const py::tuple arguments = pair[1];
  if (!py::getattr(function, "loaded", py::none()).is_none()) {
    return std::make_unique<ArtifactTarget>(
        function.attr("bind")(arguments[1]).cast<std::shared_ptr<ArtifactCall>>());
  }
  py::object before_call = py::none();
  if (pair.size() > 2) before_call = pair[2];
  return std::make_unique<PythonTarget>(function, arguments, before_call);
}

std::unique_ptr<Target> MakeNullTarget() {
  const py::object same = Shim("callables").attr("return_inputs");
  return std::make_unique<PythonTarget>(same, py::make_tuple(py::none(), py::none()), py::none());
}

}  // namespace dynbench::runner
