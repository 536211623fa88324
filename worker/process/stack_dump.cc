#include "worker/process/stack_dump.h"

#include <signal.h>
#include <time.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "worker/process/process_tree.h"

namespace dynbench::worker {
namespace {

// How long stacks may take to be written before the processes are told to end.
constexpr timespec kStackDump{0, 150'000'000};

bool Handles(pid_t pid, int signal) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.compare(0, 7, "SigCgt:") != 0) continue;
    const uint64_t caught = std::stoull(line.substr(7), nullptr, 16);
    return (caught >> (signal - 1)) & 1;
  }
  return false;
}

}  // namespace

int DumpStacks(pid_t root) {
  int asked = 0;
  for (const ProcessStat& process : Descendants(root)) {
    if (process.state == 'T' || process.state == 't' || !Handles(process.pid, SIGUSR1)) continue;
    asked += SignalProcess(process, SIGUSR1) ? 1 : 0;
  }
  if (asked > 0) nanosleep(&kStackDump, nullptr);
  return asked;
}

}  // namespace dynbench::worker
