// A build of torch may have the header and no code behind it, so every symbol is a weak one: the
// runner links against any build, and asks whether they are there.
#include <stdexcept>

#include "worker/runner/artifact.h"

#if __has_include(<torch/nativert/ModelRunnerHandle.h>)

#include <torch/nativert/ModelRunnerHandle.h>

// The symbols that this file needs, once more as something whose address can be taken. A weak
// declaration makes every reference of this file to the symbol a weak one.
extern "C" {
__attribute__((weak)) void DynbenchNativeRtConstructor(void) __asm__(
    "_ZN5torch8nativert17ModelRunnerHandleC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
    "ES9_");
__attribute__((weak)) void DynbenchNativeRtDestructor(void) __asm__(
    "_ZN5torch8nativert17ModelRunnerHandleD1Ev");
__attribute__((weak)) void DynbenchNativeRtRun(void) __asm__(
    "_ZN5torch8nativert17ModelRunnerHandle27runWithFlatInputsAndOutputsESt6vectorIN3c106IValueESaI"
    "S4_EE");
}

namespace dynbench::runner {
namespace {

class NativeRtArtifact : public Artifact {
 public:
  NativeRtArtifact(const std::string& path, const std::string& name) : runner_(path, name) {}

 private:
  Tensors RunOnce(const Tensors& inputs) override {
    std::vector<c10::IValue> outputs =
        runner_.runWithFlatInputsAndOutputs(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
    Tensors tensors;
    tensors.reserve(outputs.size());
    for (c10::IValue& output : outputs) tensors.push_back(std::move(output).toTensor());
    return tensors;
  }

  torch::nativert::ModelRunnerHandle runner_;
};

}  // namespace

bool HasNativeRt() {
  return &DynbenchNativeRtConstructor != nullptr && &DynbenchNativeRtDestructor != nullptr &&
         &DynbenchNativeRtRun != nullptr;
}

std::shared_ptr<Artifact> LoadNativeRt(const std::string& path, const std::string& name) {
  if (!HasNativeRt()) throw std::runtime_error("this build of torch holds no NativeRT");
  return std::make_shared<NativeRtArtifact>(path, name);
}

}  // namespace dynbench::runner

#else

namespace dynbench::runner {

bool HasNativeRt() { return false; }

std::shared_ptr<Artifact> LoadNativeRt(const std::string& path, const std::string&) {
  throw std::runtime_error("this build of torch holds no NativeRT to load " + path);
}

}  // namespace dynbench::runner

#endif
