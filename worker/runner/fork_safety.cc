#include "worker/runner/fork_safety.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace dynbench::runner {
namespace {

namespace fs = std::filesystem;

bool IsOfNvml(const std::string& thread) { return thread.starts_with("cuda"); }

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
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", ignored)) {
    const fs::path target = fs::read_symlink(entry.path(), ignored);
    if (!target.empty()) facts.open_files.push_back(target.string());
  }
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
  // CUDA opens it when it is initialised, NVML does not.
  for (const std::string& file : facts.open_files) {
    if (file == "/dev/nvidia-uvm") {
      return "CUDA was initialised by an import; it does not work in a child then";
    }
  }
  if (facts.tensor_operations != 0) {
    return std::to_string(facts.tensor_operations) +
           " tensor operations ran since the imports; a child's first parallel one could hang";
  }
  return "";
}

}  // namespace dynbench::runner
