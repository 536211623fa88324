#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "worker/runner/artifact.h"

namespace dynbench::runner {
namespace {

class TorchScriptArtifact : public Artifact {
 public:
  explicit TorchScriptArtifact(const std::string& path) : module_(torch::jit::load(path)) {
    module_.eval();
  }

 private:
  Tensors RunOnce(const Tensors& inputs) override {
    const c10::IValue output =
        module_.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
    // A traced step returns a tuple, of one as of many.
    Tensors tensors;
    for (const c10::IValue& element : output.toTupleRef().elements()) {
      tensors.push_back(element.toTensor());
    }
    return tensors;
  }

  torch::jit::Module module_;
};

}  // namespace

std::shared_ptr<Artifact> LoadTorchScript(const std::string& path) {
  return std::make_shared<TorchScriptArtifact>(path);
}

}  // namespace dynbench::runner
