#include "worker/host/knobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

constexpr char kCpufreq[] = "/sys/devices/system/cpu/cpufreq";
constexpr char kGovernor[] = "governor/";
constexpr char kGpuClocks[] = "gpu-clocks/";

absl::Status Missing(const std::string& what, const std::string& path) {
  return absl::FailedPreconditionError(absl::StrCat(what, ": this host does not have it (", path,
                                                    " is missing: a virtual machine, or a driver ",
                                                    "without it); leave it out of --tune"));
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string ReadLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

// "always [madvise] never" -> "madvise"; a line without brackets is the value.
std::string Chosen(const std::string& line) {
  const size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return line;
  return line.substr(open + 1, close - open - 1);
}

// Whether a policy has one of `cpus`; one that does not say is meant.
bool HasOneOf(const std::vector<int>& cpus, const std::string& related_cpus) {
  std::istringstream words(related_cpus);
  int cpu = 0;
  bool any = false;
  while (words >> cpu) {
    any = true;
    if (std::find(cpus.begin(), cpus.end(), cpu) != cpus.end()) return true;
  }
  return !any;
}

absl::Status WriteError(const std::string& path, const std::string& value, int error) {
  const std::string text =
      absl::StrCat("'", value, "' cannot be written to ", path, " (", std::strerror(error), ")");
  if (error == EACCES || error == EPERM || error == EROFS) {
    return absl::PermissionDeniedError(
        absl::StrCat(text, "; run the worker as a user who may, let an administrator set it once, ",
                     "or leave it out of --tune"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(text, "; give a value that this host knows, or leave it out of --tune"));
}

// One write, as the kernel's files want it.
absl::Status WriteValue(const std::string& path, const std::string& value) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
  if (file.get() < 0) return WriteError(path, value, errno);
  const std::string line = value + "\n";
  const ssize_t written = write(file.get(), line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return absl::OkStatus();
  return WriteError(path, value, written < 0 ? errno : EIO);
}

}  // namespace

HostKnobs::HostKnobs(std::string root, std::vector<int> cpus, std::vector<std::string> gpus,
                     GpuClocks* clocks)
    : root_(std::move(root)), cpus_(std::move(cpus)), gpus_(std::move(gpus)), clocks_(clocks) {}

absl::StatusOr<std::vector<std::string>> HostKnobs::Places(const std::string& knob) {
  if (knob == "governor") return GovernorPlaces();
  if (knob != "gpu-clocks") {
    ASSIGN_OR_RETURN(const File file, FileOf(knob));
    return std::vector<std::string>{knob};
  }
  if (gpus_.empty()) {
    return absl::FailedPreconditionError(
        "gpu-clocks: this worker has no GPU; leave it out of --tune");
  }
  std::vector<std::string> places;
  for (const std::string& uuid : gpus_) places.push_back(kGpuClocks + uuid);
  return places;
}

absl::StatusOr<std::vector<std::string>> HostKnobs::GovernorPlaces() const {
  std::vector<std::string> places;
  std::error_code ignored;
  for (const auto& policy : std::filesystem::directory_iterator(root_ + kCpufreq, ignored)) {
    const std::string folder = policy.path();
    if (!Exists(folder + "/scaling_governor")) continue;
    if (!HasOneOf(cpus_, ReadLine(folder + "/related_cpus"))) continue;
    places.push_back(kGovernor + policy.path().filename().string());
  }
  if (places.empty()) return Missing("governor", root_ + kCpufreq + "/policy*/scaling_governor");
  std::sort(places.begin(), places.end());
  return places;
}

absl::StatusOr<HostKnobs::File> HostKnobs::FileOf(const std::string& place) const {
  static const std::map<std::string, std::string> kSwitch = {{"off", "0"}, {"on", "1"}};
  static const std::map<std::string, std::string> kReversed = {{"off", "1"}, {"on", "0"}};
  File file;
  if (place == "turbo") {
    // Drivers spell it in two ways, one of them the other way round.
    file = {absl::StrCat(root_, kCpufreq, "/boost"), kSwitch};
    const std::string pstate = root_ + "/sys/devices/system/cpu/intel_pstate/no_turbo";
    if (!Exists(file.path) && Exists(pstate)) file = {pstate, kReversed};
  } else if (place == "numa-balancing") {
    file = {root_ + "/proc/sys/kernel/numa_balancing", kSwitch};
  } else if (place == "huge-pages") {
    file = {root_ + "/sys/kernel/mm/transparent_hugepage/enabled"};
  } else if (const std::string policy(absl::StripPrefix(place, kGovernor));
             policy.size() < place.size() && absl::StartsWith(policy, "policy") &&
             !absl::StrContains(policy, "/")) {
    file = {absl::StrCat(root_, kCpufreq, "/", policy, "/scaling_governor")};
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("'", place, "' is no setting that this version can change"));
  }
  if (!Exists(file.path)) return Missing(place, file.path);
  return file;
}

absl::StatusOr<std::optional<std::string>> HostKnobs::Read(const std::string& place) {
  if (absl::StartsWith(place, kGpuClocks)) return std::nullopt;
  ASSIGN_OR_RETURN(const File file, FileOf(place));
  const std::string value = Chosen(ReadLine(file.path));
  for (const auto& [ours, kernels] : file.words) {
    if (value == kernels) return ours;
  }
  // Balancing knows a second way of being on (tiered memory), which is kept as it is.
  return value;
}

absl::Status HostKnobs::Write(const std::string& place, const std::string& value) {
  if (absl::StartsWith(place, kGpuClocks)) {
    return WriteClocks(std::string(absl::StripPrefix(place, kGpuClocks)), value);
  }
  ASSIGN_OR_RETURN(const File file, FileOf(place));
  const auto word = file.words.find(value);
  return WriteValue(file.path, word == file.words.end() ? value : word->second);
}

absl::Status HostKnobs::WriteClocks(const std::string& uuid, const std::string& value) {
  if (value == kUnlocked) return clocks_->Reset(uuid);
  if (value == "max") {
    ASSIGN_OR_RETURN(const int mhz, clocks_->MaxMhz(uuid));
    return clocks_->Lock(uuid, mhz, mhz);
  }
  const std::vector<std::string> ends = absl::StrSplit(value, '-');
  int low = 0, high = 0;
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &low) ||
      !absl::SimpleAtoi(ends.back(), &high)) {
    return absl::InvalidArgumentError(absl::StrCat("'", value, "' names no clocks of a GPU"));
  }
  return clocks_->Lock(uuid, low, high);
}

}  // namespace dynbench::worker
