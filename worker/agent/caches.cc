#include "worker/agent/caches.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

// The folder's own time says when a cache was used last.
void Touch(const std::string& dir) { utimensat(AT_FDCWD, dir.c_str(), nullptr, 0); }

int64_t SizeBytes(const std::string& dir) {
  std::error_code error;
  int64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir, error)) {
    if (entry.is_regular_file(error)) sum += static_cast<int64_t>(entry.file_size(error));
  }
  return sum;
}

void RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) spdlog::warn("{} cannot be removed: {}", path, error.message());
}

// Renamed first: a removal that is cut short leaves no half cache under the key.
void RemoveWhole(const std::string& path) {
  std::error_code error;
  const std::string doomed = path + ".removed";
  fs::rename(path, doomed, error);
  RemoveAll(error ? path : doomed);
}

}  // namespace

Caches::Caches(std::string store_dir, std::string shared_dir, int64_t cap_bytes)
    : store_dir_(std::move(store_dir)), shared_dir_(std::move(shared_dir)), cap_bytes_(cap_bytes) {
  // A copy or a removal that was cut short.
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(store_dir_, error)) {
    if (absl::StrContains(entry.path().filename().string(), ".")) RemoveAll(entry.path());
  }
}

std::string Caches::Key(const plan::Experiment& experiment, const Environment& environment,
                        const plan::LaunchProfile& profile, int cores) {
  plan::Experiment any_start = experiment;
  any_start.start = plan::Start::kCold;
  const nlohmann::json host = {
      {"torch", environment.hash},
      {"runner", fs::path(environment.runner_dir).filename().string()},
      {"variables", profile.environment},
      {"preload", profile.preload},
      {"numa", profile.numa},
      {"instances", profile.instances},
      {"cores", cores},
  };
  return absl::StrCat(plan::SeriesKey(any_start), "-", Sha256Hex(host.dump()).substr(0, 16));
}

absl::Status Caches::MakeCold(const std::string& dir) {
  if (mkdir(dir.c_str(), 0700) == 0) return absl::OkStatus();
  const std::string text = absl::StrCat(dir, ": ", strerror(errno));
  return errno == EEXIST ? absl::AlreadyExistsError(text) : absl::UnavailableError(text);
}

bool Caches::Has(const std::string& key) const {
  return access((store_dir_ + "/" + key).c_str(), F_OK) == 0;
}

absl::Status Caches::CopyTo(const std::string& key, const std::string& dir) {
  MutexLock lock(mu_);
  const std::string from = store_dir_ + "/" + key;
  RETURN_IF_ERROR(MakeCold(dir));
  std::error_code error;
  fs::copy(from, dir, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) {
    RemoveAll(dir);
    return absl::UnavailableError(absl::StrCat("copy of ", from, ": ", error.message()));
  }
  chmod(dir.c_str(), 0700);
  Touch(from);
  return absl::OkStatus();
}

void Caches::Adopt(const std::string& dir, const std::string& key) {
  std::error_code error;
  if (fs::is_empty(dir, error) || error) return;  // the compiler did nothing: no preparation
  {
    MutexLock lock(mu_);
    const std::string to = store_dir_ + "/" + key;
    absl::Status made = MakePrivateFolder(store_dir_);
    if (Has(key)) {
      Touch(to);
      return;
    }
    if (made.ok()) fs::rename(dir, to, error);
    if (!made.ok() || error) {
      spdlog::warn("{} could not become a prepared cache: {}", dir, error.message());
      return;
    }
    Touch(to);
  }
  Trim();
}

void Caches::Discard(const std::string& key) {
  MutexLock lock(mu_);
  RemoveWhole(store_dir_ + "/" + key);
}

void Caches::Trim() {
  MutexLock lock(mu_);
  struct Stored {
    fs::file_time_type used;
    std::string path;
    int64_t size;
  };
  std::error_code error;
  std::vector<Stored> all;
  int64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(store_dir_, error)) {
    const int64_t size = SizeBytes(entry.path());
    all.push_back({fs::last_write_time(entry.path(), error), entry.path(), size});
    sum += size;
  }
  std::sort(all.begin(), all.end(),
            [](const Stored& a, const Stored& b) { return a.used < b.used; });
  for (const Stored& stored : all) {
    if (sum <= cap_bytes_) return;
    RemoveWhole(stored.path);
    sum -= stored.size;
  }
}

absl::StatusOr<std::string> Caches::Shared(JobId job, int slot) {
  MutexLock lock(mu_);
  const std::string dir = absl::StrCat(shared_dir_, "/", slot, "/", job.value);
  RETURN_IF_ERROR(MakePrivateFolder(dir));
  return dir;
}

void Caches::DropShared(int slot, const std::set<JobId>& except) {
  MutexLock lock(mu_);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(absl::StrCat(shared_dir_, "/", slot), error)) {
    const bool kept = std::any_of(except.begin(), except.end(), [&](const JobId& job) {
      return entry.path().filename() == std::to_string(job.value);
    });
    if (!kept) RemoveAll(entry.path());
  }
}

}  // namespace dynbench::worker
