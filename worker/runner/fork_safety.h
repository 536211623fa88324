// Whether this process may fork: a fork keeps one thread, and neither OpenMP nor a device's driver
// survives it once they were used. Reading is separate from deciding, so that the rules can be
// tested without a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dynbench::runner {

struct ForkFacts {
  std::vector<std::string> threads = {};  // names of the threads beside the main one
  bool cuda_initialised = false;          // cuInit was called in this process
  int64_t tensor_operations = 0;          // since the imports
};

// Reads /proc of this process, and asks CUDA's driver library, when one is loaded, for its state.
ForkFacts ReadForkFacts(int64_t tensor_operations);

// Threads that a fork would lose to somebody's harm, the main one counted. NVML keeps one that only
// waits for the driver's events; it starts when an import asks how many GPUs there are, cannot be
// ended (nvmlShutdown leaves it), and its loss does no harm: NVML and CUDA work in a child (tried
// with driver 580 and CUDA 13).
int ThreadsThatMatter(const ForkFacts& facts);

// The reason for people, with what a fork would break; empty when the process may fork.
std::string WhyNotFork(const ForkFacts& facts);

}  // namespace dynbench::runner
