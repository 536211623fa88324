// Artefacts that were compiled ahead of time, loaded and run from C++: AOTInductor packages,
// TorchScript files, NativeRT packages. Tensors in, tensors out (shims/ahead_of_time.py, FlatStep).
//
// Each kind lives in a file of its own, the only one with the headers of its library. Thread-
// compatible; what fails throws what the library throws (c10::Error, std::runtime_error).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dynbench::runner {

using Tensors = std::vector<at::Tensor>;

class Artifact {
 public:
  virtual ~Artifact() = default;

  Tensors Run(const Tensors& inputs) {
    ++runs_;
    return RunOnce(inputs);
  }
  // How often it was run, which is proof that it was.
  int64_t runs() const { return runs_; }

 private:
  virtual Tensors RunOnce(const Tensors& inputs) = 0;

  int64_t runs_ = 0;
};

// An artefact with its inputs; holds the output of the last call. The tensors are read at each
// call, so a change in place of their contents is seen.
class ArtifactCall {
 public:
  ArtifactCall(std::shared_ptr<Artifact> artifact, Tensors inputs)
      : artifact_(std::move(artifact)), inputs_(std::move(inputs)) {}

  void Call() { output_ = artifact_->Run(inputs_); }
  void Release() { output_.clear(); }

 private:
  std::shared_ptr<Artifact> artifact_;
  Tensors inputs_;
  Tensors output_;
};

// A package of torch._inductor.aoti_compile_and_package. `device_index` -1: the CPU.
std::shared_ptr<Artifact> LoadAotInductor(const std::string& path, int device_index);

// A file of torch.jit.save, on the device that it was traced on.
std::shared_ptr<Artifact> LoadTorchScript(const std::string& path);

// Whether this build of torch holds NativeRT; some carry only its header.
bool HasNativeRt();
// The exported program `name` of a package of torch.export. Needs HasNativeRt().
std::shared_ptr<Artifact> LoadNativeRt(const std::string& path, const std::string& name);

}  // namespace dynbench::runner
