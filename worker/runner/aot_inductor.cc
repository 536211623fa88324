#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "worker/runner/artifact.h"

namespace dynbench::runner {
namespace {

class AotInductorArtifact : public Artifact {
 public:
  AotInductorArtifact(const std::string& path, int device_index)
      : loader_(path, "model", /*run_single_threaded=*/false, /*num_runners=*/1,
                static_cast<c10::DeviceIndex>(device_index)) {}

 private:
  Tensors RunOnce(const Tensors& inputs) override { return loader_.run(inputs); }

  torch::inductor::AOTIModelPackageLoader loader_;
};

}  // namespace

std::shared_ptr<Artifact> LoadAotInductor(const std::string& path, int device_index) {
  return std::make_shared<AotInductorArtifact>(path, device_index);
}

}  // namespace dynbench::runner
