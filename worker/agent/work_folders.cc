#include "worker/agent/work_folders.h"

#include <algorithm>
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
  std::error_code error;
  if (fs::exists(work.root, error)) RemoveAll(work.root);
  RETURN_IF_ERROR(MakePrivateFolder(work.run_dir));
  return work;
}

void WorkFolders::Remove(const WorkFolder& work) { RemoveAll(work.root); }

void WorkFolders::Keep(const WorkFolder& work, const std::string& log, const std::string& note) {
  std::error_code error;
  RemoveAll(work.cache_dir);
  RemoveAll(work.root + "/prepare");
  std::ofstream(work.root + "/log", std::ios::binary) << log;
  std::ofstream(work.root + "/" + kKeptMark) << note << "\n";
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
  RemoveOldest();
  return swept;
}

void WorkFolders::RemoveOldest() {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, std::string>> kept;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const auto time = fs::last_write_time(entry.path() / kKeptMark, error);
    if (!error) kept.emplace_back(time, entry.path());
  }
  if (kept.size() <= static_cast<size_t>(keep_)) return;
  std::sort(kept.begin(), kept.end());
  for (size_t i = 0; i < kept.size() - keep_; ++i) RemoveAll(kept[i].second);
}

}  // namespace dynbench::worker
