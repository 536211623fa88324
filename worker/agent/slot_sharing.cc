#include "worker/agent/slot_sharing.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/window_flags.h"

namespace dynbench::worker {
namespace {

bool IsOn(const std::string& value) {
  const std::string word = absl::AsciiStrToLower(value);
  return !word.empty() && word != "0" && word != "false" && word != "none" && word != "no" &&
         word != "off";
}

bool Searches(const std::string& option) {
  const std::string name = absl::AsciiStrToLower(option);
  return absl::StrContains(name, "max_autotune") || absl::StrContains(name, "coordinate_descent");
}

// nvml.h, nvmlClocksEventReasons: what slows a device that is at work.
constexpr struct {
  int64_t bit;
  const char* name;
} kSlowing[] = {{0x04, "software power cap"},
                {0x08, "hardware slowdown"},
                {0x20, "software thermal"},
                {0x40, "hardware thermal"},
                {0x80, "hardware power brake"}};

}  // namespace

bool OwnsSlot(const plan::Experiment& experiment) {
  if (experiment.options.max_autotune || experiment.world_size > 1) return true;
  if (absl::StrContains(experiment.options.compile_mode, "max-autotune")) return true;
  for (const auto* options : {&experiment.options.inductor_config, &experiment.set_env}) {
    for (const auto& [name, value] : *options) {
      if (Searches(name) && IsOn(value)) return true;
    }
  }
  return false;
}

bool LanesShareCores(const std::vector<std::vector<int>>& lane_cores, int lanes) {
  if (lanes <= 1) return false;
  std::set<int> seen;
  for (const std::vector<int>& cores : lane_cores) {
    for (const int core : cores) {
      if (!seen.insert(core).second) return true;
    }
  }
  return lane_cores.empty();
}

bool RanOutOfMemory(const plan::Result& result) {
  if (result.outcome != plan::Outcome::kFailed) return false;
  return absl::StrContains(result.status, "OOM") ||
         absl::StrContains(absl::AsciiStrToLower(result.error), "out of memory");
}

bool InfrastructureFailed(const plan::Result& result) {
  return result.outcome == plan::Outcome::kLost;
}

bool DeviceFailed(const plan::Result& result) {
  return InfrastructureFailed(result) && plan::BlamesDevice(result.status);
}

int64_t FlagsOf(const GpuState& state) {
  int64_t flags = 0;
  for (const auto& [bit, name] : kSlowing) {
    if ((state.throttle_reasons & bit) != 0) flags |= kDeviceThrottled;
  }
  if (state.foreign_processes.value_or(0) > 0) flags |= kForeignOnDevice;
  return flags;
}

void AddDeviceState(const std::optional<GpuState>& state, plan::Result* result) {
  if (!state) return;
  result->metrics.device_clock_mhz = state->clock_mhz;
  result->metrics.device_throttle_reasons = state->throttle_reasons;
  result->metrics.device_foreign_processes = state->foreign_processes;
  AddWindowFlags(FlagsOf(*state), result);
  std::vector<std::string> slowing;
  for (const auto& [bit, name] : kSlowing) {
    if ((state->throttle_reasons & bit) != 0) slowing.emplace_back(name);
  }
  if (slowing.empty()) return;
  result->notes.push_back(
      absl::StrCat("the device was throttled in the window: ", absl::StrJoin(slowing, ", ")));
}

void AddWindowFlags(int64_t flags, plan::Result* result) {
  if (flags == 0) return;
  result->metrics.window_flags = result->metrics.window_flags.value_or(0) | flags;
  if ((flags & kUnfrozenLane) != 0) {
    result->notes.push_back("another lane of the slot was not frozen during the window");
  }
}

}  // namespace dynbench::worker
