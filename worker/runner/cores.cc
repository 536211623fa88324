#include "worker/runner/cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace dynbench::runner {
namespace {

// Large enough for any kernel's mask (8192 CPUs).
class Mask {
 public:
  Mask() : set_(CPU_ALLOC(kCpus)) { CPU_ZERO_S(size(), set_); }
  explicit Mask(const std::vector<int>& cores) : Mask() {
    for (const int core : cores) CPU_SET_S(core, size(), set_);
  }
  ~Mask() { CPU_FREE(set_); }
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;

  cpu_set_t* get() const { return set_; }
  static size_t size() { return CPU_ALLOC_SIZE(kCpus); }
  bool operator==(const Mask& other) const { return CPU_EQUAL_S(size(), set_, other.set_) != 0; }
  std::vector<int> Cores() const {
    std::vector<int> cores;
    for (int i = 0; i < kCpus; ++i) {
      if (CPU_ISSET_S(i, size(), set_)) cores.push_back(i);
    }
    return cores;
  }

 private:
  static constexpr int kCpus = 8192;
  cpu_set_t* set_;
};

std::vector<int> Threads() {
  std::vector<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.push_back(std::stoi(entry.path().filename().string()));
  }
  return threads;
}

}  // namespace

void SetAffinity(const std::vector<int>& cores) {
  const Mask mask(cores);
  for (const int thread : Threads()) {
    // A thread that ended meanwhile (ESRCH) needs no mask.
    if (sched_setaffinity(thread, Mask::size(), mask.get()) != 0 && errno != ESRCH) {
      throw std::runtime_error("cores " + FormatCores(cores) +
                               " cannot be used: " + strerror(errno));
    }
  }
}

std::vector<std::string> ThreadsElsewhere(const std::vector<int>& cores) {
  const Mask wanted(cores);
  std::vector<std::string> elsewhere;
  for (const int thread : Threads()) {
    const Mask mask;
    if (sched_getaffinity(thread, Mask::size(), mask.get()) != 0 || mask == wanted) continue;
    elsewhere.push_back("thread " + std::to_string(thread) + " may use cores " +
                        FormatCores(mask.Cores()));
  }
  return elsewhere;
}

std::vector<int> AllowedCores() {
  const Mask mask;
  if (sched_getaffinity(0, Mask::size(), mask.get()) != 0) return {};
  return mask.Cores();
}

std::string FormatCores(std::vector<int> cores) {
  std::sort(cores.begin(), cores.end());
  std::string text;
  for (size_t i = 0; i < cores.size();) {
    size_t end = i;
    while (end + 1 < cores.size() && cores[end + 1] <= cores[end] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cores[i]);
    if (cores[end] != cores[i]) text += '-' + std::to_string(cores[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace dynbench::runner
