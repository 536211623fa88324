#include "worker/runner/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "worker/runner/cores.h"

namespace dynbench::runner {
namespace {

constexpr int kBits = CHAR_BIT * sizeof(unsigned long);

// 7 of "node7"; -1 of anything else.
int NodeNumber(const std::string& name) {
  if (name.rfind("node", 0) != 0 || name.size() < 5 || name.size() > 8) return -1;
  if (!std::all_of(name.begin() + 4, name.end(),
                   [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return -1;
  }
  return std::stoi(name.substr(4));
}

}  // namespace

std::vector<int> NodesOf(const std::vector<int>& cores, const std::string& cpu_folder) {
  std::set<int> nodes;
  for (const int core : cores) {
    std::error_code error;
    std::filesystem::directory_iterator entry(cpu_folder + "/cpu" + std::to_string(core), error);
    for (const std::filesystem::directory_iterator end; !error && entry != end;
         entry.increment(error)) {
      const int node = NodeNumber(entry->path().filename().string());
      if (node >= 0) nodes.insert(node);
    }
  }
  return {nodes.begin(), nodes.end()};
}

void BindMemory(const std::vector<int>& nodes) {
  if (nodes.empty()) return;
  std::vector<unsigned long> mask(static_cast<size_t>(nodes.back()) / kBits + 1);
  for (const int node : nodes) mask[static_cast<size_t>(node) / kBits] |= 1UL << (node % kBits);
  // The kernel looks at one bit less than it is told of.
  if (syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), mask.size() * kBits + 1) != 0) {
    throw std::runtime_error("memory of the NUMA nodes " + FormatCores(nodes) +
                             " cannot be asked for: " + strerror(errno));
  }
}

bool MemoryIsLocal() {
  const char* said = getenv("DYNBENCH_NUMA");
  return said != nullptr && strcmp(said, "local") == 0;
}

}  // namespace dynbench::runner
