#include "worker/agent/work_folders.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

// Says that nobody works here any more; only such folders are ever counted and removed as old.
constexpr char kKeptMark[] = "kept.txt";

void RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) spdlog::warn("{} cannot be removed: {}", path, error.message());
}

}  // namespace

absl::StatusOr<WorkFolder> WorkFolders::Make(const AttemptId& attempt) {
  WorkFolder work;
  work.root = absl::StrCat(folder_, "/", attempt.experiment.value, ".", attempt.lease.value);
  work.run_dir = work.root + "/run";
  work.cache_dir = work.root + "/cache";
  // Mostly there is nothing in the way, so nobody looks first.
  if (mkdir(work.root.c_str(), 0700) != 0) {
    if (errno == EEXIST) RemoveAll(work.root);
    return MakeWhole(work);
  }
  if (mkdir(work.run_dir.c_str(), 0700) != 0) return FileError(work.run_dir);
  return work;
}

absl::StatusOr<WorkFolder> WorkFolders::MakeWhole(const WorkFolder& work) {
  RETURN_IF_ERROR(MakePrivateFolder(work.run_dir));
  return work;
}

void WorkFolders::Remove(const WorkFolder& work) { RemoveAll(work.root); }

void WorkFolders::Empty(const WorkFolder& work) { RemoveAll(work.run_dir); }

void WorkFolders::Keep(const WorkFolder& work, const std::string& experiment_json,
                       const std::string& log, const std::string& note) {
  // Mostly empty or not there.
  if (rmdir(work.cache_dir.c_str()) != 0 && errno != ENOENT) RemoveAll(work.cache_dir);
  const std::string prepare = work.root + "/prepare";
  if (rmdir(prepare.c_str()) != 0 && errno != ENOENT) RemoveAll(prepare);
  std::ofstream(work.root + "/experiment.json", std::ios::binary) << experiment_json;
  if (!log.empty()) std::ofstream(work.root + "/log", std::ios::binary) << log;
  std::ofstream(work.root + "/" + kKeptMark) << note << "\n";
  if (!listed_) ListKept();
  const auto known = std::find(kept_.begin(), kept_.end(), work.root);
  if (known != kept_.end()) kept_.erase(known);
  kept_.push_back(work.root);
  RemoveOldest();
}

int WorkFolders::SweepLeftovers() {
  std::error_code error;
  int swept = 0;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (fs::exists(entry.path() / kKeptMark, error)) continue;
    RemoveAll(entry.path() / "cache");
    RemoveAll(entry.path() / "prepare");
    std::ofstream(entry.path() / kKeptMark) << "left by a worker that was killed\n";
    ++swept;
  }
  ListKept();
  RemoveOldest();
  return swept;
}

void WorkFolders::ListKept() {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, std::string>> kept;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const auto time = fs::last_write_time(entry.path() / kKeptMark, error);
    if (!error) kept.emplace_back(time, entry.path());
  }
  std::sort(kept.begin(), kept.end());
  kept_.clear();
  for (auto& [time, path] : kept) kept_.push_back(std::move(path));
  listed_ = true;
}

void WorkFolders::RemoveOldest() {
  while (kept_.size() > static_cast<size_t>(keep_)) {
    RemoveAll(kept_.front());
    kept_.pop_front();
  }
}

}  // namespace dynbench::worker
