#include "worker/host/preflight.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "worker/host/durable_file.h"
#include "worker/process/process_tree.h"

extern char** environ;

namespace dynbench::worker {
namespace {

constexpr int64_t kDeviceAnswerMs = 120'000;

// Memory, a kernel and a copy back: what every experiment needs. Exit 1 with the reason.
constexpr char kAskDevice[] =
    "import sys, torch\n"
    "try:\n"
    "    ones = torch.ones(1024, device=sys.argv[1])\n"
    "    assert float((ones + ones).sum()) == 2048, 'the device computes wrongly'\n"
    "except Exception as error:\n"
    "    sys.exit(f'{type(error).__name__}: {error}')\n";

std::string ProgramOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

std::string Mib(int64_t bytes) { return absl::StrFormat("%d MiB", bytes >> 20); }

SpawnOptions AskDevice(const PreflightSpec& spec) {
  SpawnOptions options;
  options.argv = {spec.python, "-c", kAskDevice, spec.device};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) {
      options.environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  options.environment["CUDA_VISIBLE_DEVICES"] = spec.device_uuid;
  options.working_dir = "/";
  return options;
}

absl::Status CheckDevice(const PreflightSpec& spec, GpuProbe& gpus) {
  const std::vector<Gpu> all = gpus.List();
  if (std::none_of(all.begin(), all.end(),
                   [&](const Gpu& gpu) { return gpu.uuid == spec.device_uuid; })) {
    return absl::UnavailableError(
        absl::StrCat("the driver does not list ", spec.device_uuid,
                     " any more; look at the kernel's log, then reset it or restart the host"));
  }
  if (spec.python.empty()) return absl::OkStatus();
  const auto ran = RunCommand(AskDevice(spec), kDeviceAnswerMs, 1 << 16, spec.spawn);
  if (!ran.ok()) return ran.status();
  if (spec.ended) spec.ended(ran->pid);
  if (ran->exit.success()) return absl::OkStatus();
  const std::string& said = ran->output;
  return absl::UnavailableError(absl::StrCat(
      "a first small computation fails (exit code ", ran->exit.code, ", signal ", ran->exit.signal,
      "): ", said.substr(said.size() - std::min<size_t>(said.size(), 400))));
}

bool IsBelow(const std::vector<ProcessStat>& all, pid_t pid, pid_t ancestor) {
  for (int depth = 0; pid > 1 && depth < 1000; ++depth) {
    if (pid == ancestor) return true;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ProcessStat& process) { return process.pid == pid; });
    if (found == all.end()) return false;
    pid = found->parent;
  }
  return false;
}

}  // namespace

absl::Status CheckStuck(const std::vector<StuckProcess>& stuck) {
  std::string living;
  for (const StuckProcess& s : stuck) {
    const auto now = ReadProcessStat(s.process.pid);
    if (!now || now->start_ticks != s.process.start_ticks || now->state == 'Z') continue;
    absl::StrAppend(&living, living.empty() ? "" : ", ", "process ", s.process.pid, " (", s.command,
                    "), state ", std::string(1, now->state));
  }
  if (living.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(living,
                   ", of an earlier experiment is still there after KILL. The slot takes "
                   "work again when it is gone; if it does not go (a driver, a network file "
                   "system), restart the host"));
}

absl::Status CheckStateFolder(const std::string& state_dir) {
  const std::string path = state_dir + "/preflight";
  const std::string text = absl::StrCat(MonotonicNow().ns, "\n");
  RETURN_IF_ERROR(WriteFileDurably(path, text));
  ASSIGN_OR_RETURN(const std::string back, ReadWholeFile(path));
  RETURN_IF_ERROR(RemoveFileDurably(path));
  if (back == text) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, " does not hold what was written; check the disk"));
}

absl::Status CheckDeviceMemory(const GpuUse& use, bool device_is_free,
                               const std::function<bool(pid_t)>& ours) {
  std::string holders;
  for (const GpuProcess& process : use.processes) {
    if (process.used_bytes < kForeignProcessBytes) continue;
    const bool left_over = ours(process.pid);
    if (left_over && !device_is_free) continue;
    absl::StrAppend(&holders, holders.empty() ? "" : ", ", "process ", process.pid, " (",
                    ProgramOf(process.pid), left_over ? ", of this worker" : "", ") holds ",
                    Mib(process.used_bytes));
  }
  if (!holders.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat(holders, " of its memory; end it, or keep others off this device"));
  }
  // In a container the driver may not name processes.
  if (device_is_free && use.used_bytes > kIdleDeviceBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(Mib(use.used_bytes),
                     " of its memory are in use and the driver names nobody; "
                     "look for the holder on the host (nvidia-smi)"));
  }
  return absl::OkStatus();
}

bool IsBelowUs(pid_t pid) { return IsBelow(ListProcesses(), pid, getpid()); }

int ForeignProcesses(const GpuUse& use, const std::vector<ProcessStat>& all, pid_t self) {
  int foreign = 0;
  for (const GpuProcess& process : use.processes) {
    const bool known = std::any_of(
        all.begin(), all.end(), [&](const ProcessStat& stat) { return stat.pid == process.pid; });
    if (known && process.used_bytes >= kForeignProcessBytes && !IsBelow(all, process.pid, self)) {
      ++foreign;
    }
  }
  return foreign;
}

PreflightFinding RunPreflight(const PreflightSpec& spec, GpuProbe& gpus) {
  if (auto status = CheckStuck(spec.stuck); !status.ok()) {
    return {"process", std::string(status.message())};
  }
  if (auto status = CheckStateFolder(spec.state_dir); !status.ok()) {
    return {"state", std::string(status.message())};
  }
  if (spec.device_uuid.empty()) return {};
  if (auto status = CheckDevice(spec, gpus); !status.ok()) {
    return {"device", std::string(status.message())};
  }
  if (const std::optional<GpuUse> use = gpus.Use(spec.device_uuid)) {
    const absl::Status status = CheckDeviceMemory(*use, spec.device_is_free, &IsBelowUs);
    if (!status.ok()) return {"device_memory", std::string(status.message())};
  }
  return {};
}

}  // namespace dynbench::worker
