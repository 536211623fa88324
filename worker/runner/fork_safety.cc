#include "worker/runner/fork_safety.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace dynbench::runner {
namespace {

namespace fs = std::filesystem;

bool IsOfNvml(const std::string& thread) { return thread.starts_with("cuda"); }

// Only looks at a library that is loaded already. The names and the code are those of CUDA's driver
// API: before cuInit every call but that one answers CUDA_ERROR_NOT_INITIALIZED. (Open device files
// do not tell: NVML has the same ones open.)
bool CudaInitialised() {
  constexpr int kNotInitialised = 3;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount"));  // NOLINT
  int devices = 0;
  const bool initialised = count != nullptr && count(&devices) != kNotInitialised;
  dlclose(library);
  return initialised;
}

}  // namespace

ForkFacts ReadForkFacts(int64_t tensor_operations) {
  ForkFacts facts;
  facts.tensor_operations = tensor_operations;
  std::error_code ignored;
  const std::string main_thread = std::to_string(getpid());
  for (const auto& entry : fs::directory_iterator("/proc/self/task", ignored)) {
    if (entry.path().filename() == main_thread) continue;
    std::string name;
    std::ifstream in(entry.path() / "comm");
    if (std::getline(in, name)) facts.threads.push_back(name);
  }
  facts.cuda_initialised = CudaInitialised();
  return facts;
}

int ThreadsThatMatter(const ForkFacts& facts) {
  return 1 + static_cast<int>(std::count_if(facts.threads.begin(), facts.threads.end(),
                                            [](const auto& name) { return !IsOfNvml(name); }));
}

std::string WhyNotFork(const ForkFacts& facts) {
  if (const int threads = ThreadsThatMatter(facts); threads != 1) {
    std::string names;
    for (const std::string& name : facts.threads) names += (names.empty() ? "" : ", ") + name;
    return "the process has " + std::to_string(threads) +
           " threads; a fork would lose all but one (beside the main one: " + names + ")";
  }
  if (facts.cuda_initialised) {
    return "CUDA was initialised by an import; it does not work in a child then";
  }
  if (facts.tensor_operations != 0) {
    return std::to_string(facts.tensor_operations) +
           " tensor operations ran since the imports; a child's first parallel one could hang";
  }
  return "";
}

}  // namespace dynbench::runner
