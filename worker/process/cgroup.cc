#include "worker/process/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/base/time.h"

namespace dynbench::worker {
namespace {

constexpr char kPrefix[] = "dynbench-";
constexpr int kFirstPauseUs = 50;
constexpr int kLongestPauseUs = 1'000;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::Status WriteValue(const std::string& path, const std::string& value) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return absl::UnavailableError(absl::StrCat(path, ": ", strerror(errno)));
  const ssize_t n = write(fd, value.data(), value.size());
  const int error = errno;
  close(fd);
  if (n < 0) return absl::UnavailableError(absl::StrCat(path, ": ", strerror(error)));
  return absl::OkStatus();
}

std::optional<std::string> OwnFolder() {
  const auto mount = FindCgroup2Mount(ReadAll("/proc/self/mountinfo"));
  if (!mount) return std::nullopt;
  const std::string own = *mount + OwnCgroup2Path(ReadAll("/proc/self/cgroup"));
  return std::filesystem::is_directory(own) ? own : *mount;
}

}  // namespace

std::optional<std::string> FindCgroup2Mount(std::string_view mountinfo) {
  for (const absl::string_view raw :
       absl::StrSplit(absl::string_view(mountinfo.data(), mountinfo.size()), '\n')) {
    // "38 31 0:41 / /sys/fs/cgroup/unified rw,relatime [optional …] - cgroup2 cgroup2 rw"
    const std::vector<std::string> halves = absl::StrSplit(raw, " - ");
    if (halves.size() != 2 || !absl::StartsWith(halves[1], "cgroup2 ")) continue;
    const std::vector<std::string> fields = absl::StrSplit(halves[0], ' ');
    const std::vector<std::string> super = absl::StrSplit(halves[1], ' ');
    if (fields.size() < 6 || super.size() < 3) continue;
    const auto writable = [](const std::string& options) {
      return options == "rw" || absl::StartsWith(options, "rw,");
    };
    if (writable(fields[5]) && writable(super[2])) return fields[4];
  }
  return std::nullopt;
}

std::string OwnCgroup2Path(std::string_view proc_self_cgroup) {
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(proc_self_cgroup.data(), proc_self_cgroup.size()), '\n')) {
    if (!absl::StartsWith(line, "0::")) continue;
    const std::string path(line.substr(3));
    return path == "/" ? "" : path;
  }
  return "";
}

absl::StatusOr<Cgroup> Cgroup::Create(const std::string& name) {
  const auto own = OwnFolder();
  if (!own) return absl::UnavailableError("no writable cgroup2 is mounted");
  const std::string folder = absl::StrCat(*own, "/", kPrefix, name);
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::UnavailableError(absl::StrCat(folder, ": ", strerror(errno)));
  }
  Cgroup group(folder);
  RETURN_IF_ERROR(WriteValue(folder + "/cgroup.freeze", "0"));
  return group;
}

void Cgroup::RemoveLeftovers() {
  const auto own = OwnFolder();
  if (!own) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*own, error)) {
    const std::string name = entry.path().filename();
    if (!absl::StartsWith(name, kPrefix)) continue;
    // "dynbench-PID-…": a group of a living worker is about to be used, even when it is empty.
    int pid = 0;
    const std::vector<std::string> parts = absl::StrSplit(name, '-');
    if (parts.size() < 2 || !absl::SimpleAtoi(parts[1], &pid)) continue;
    if (kill(pid, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

Cgroup::Cgroup(Cgroup&& other) noexcept : folder_(std::move(other.folder_)) {
  other.folder_.clear();
}

Cgroup::~Cgroup() {
  if (!folder_.empty()) rmdir(folder_.c_str());
}

absl::Status Cgroup::Add(pid_t pid) {
  return WriteValue(folder_ + "/cgroup.procs", std::to_string(pid));
}

std::set<pid_t> Cgroup::Members() const {
  std::ifstream in(folder_ + "/cgroup.procs");
  return {std::istream_iterator<pid_t>(in), std::istream_iterator<pid_t>()};
}

absl::Status Cgroup::Freeze() { return WriteValue(folder_ + "/cgroup.freeze", "1"); }

absl::Status Cgroup::AwaitFrozen(int64_t limit_ms) const {
  const MonotonicTime deadline = MonotonicNow() + limit_ms * kNsPerMs;
  // The kernel's own word of it (POLLPRI) comes at most every 10 ms.
  for (int pause_us = kFirstPauseUs; true; pause_us = std::min(2 * pause_us, kLongestPauseUs)) {
    if (absl::StrContains(ReadAll(folder_ + "/cgroup.events"), "frozen 1")) return absl::OkStatus();
    if (MonotonicNow() > deadline) {
      return absl::DeadlineExceededError(absl::StrCat(folder_, " did not freeze"));
    }
    usleep(pause_us);
  }
}

absl::Status Cgroup::Thaw() { return WriteValue(folder_ + "/cgroup.freeze", "0"); }

}  // namespace dynbench::worker
