#include "worker/agent/artifacts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

struct File {
  int64_t size_bytes;
  std::string path;
  auto operator<=>(const File&) const = default;
};

// Ascending by size. What is no regular file is removed.
std::vector<File> RegularFiles(const std::string& folder) {
  std::error_code error;
  std::vector<File> files;
  std::vector<fs::path> others;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const fs::file_status status = entry.symlink_status(error);
    if (fs::is_regular_file(status)) {
      files.push_back({static_cast<int64_t>(entry.file_size(error)), entry.path()});
    } else if (!fs::is_directory(status)) {
      others.push_back(entry.path());
    }
  }
  for (const fs::path& other : others) fs::remove(other, error);
  std::sort(files.begin(), files.end());
  return files;
}

int64_t SizeOf(const std::string& folder) {
  int64_t sum = 0;
  for (const File& file : RegularFiles(folder)) sum += file.size_bytes;
  return sum;
}

// Within the state folder a rename is enough, and as cheap for a large cache as for nothing.
void Move(const std::string& from, const std::string& to, std::vector<std::string>* notes) {
  std::error_code error;
  if (fs::is_symlink(from, error) || !fs::is_directory(from, error)) return;
  fs::rename(from, to, error);
  if (error) notes->push_back(absl::StrCat("artifacts not kept: ", error.message()));
}

std::string Mebibytes(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

KeptArtifacts Artifacts::Take(const AttemptId& attempt, const WorkFolder& work, bool with_cache) {
  KeptArtifacts kept;
  const std::string target =
      absl::StrCat(folder_, "/", attempt.experiment.value, ".", attempt.lease.value);
  std::error_code error;
  fs::remove_all(target, error);  // of an earlier try of the same attempt
  if (const absl::Status made = MakePrivateFolder(target); !made.ok()) {
    kept.notes.push_back(absl::StrCat("artifacts not kept: ", std::string(made.message())));
    return kept;
  }
  Move(FolderOfChild(work), target + "/run", &kept.notes);
  if (with_cache) Move(work.cache_dir, target + "/cache", &kept.notes);
  int64_t sum = 0, left_out = 0, left_out_bytes = 0;
  for (const File& file : RegularFiles(target)) {
    if (sum + file.size_bytes > attempt_cap_bytes_) {
      ++left_out;
      left_out_bytes += file.size_bytes;
      fs::remove(file.path, error);
      continue;
    }
    sum += file.size_bytes;
    kept.files.push_back(file.path);
  }
  std::sort(kept.files.begin(), kept.files.end());
  if (left_out > 0) {
    kept.notes.push_back(absl::StrCat("artifacts: ", left_out, " files (",
                                      Mebibytes(left_out_bytes), ") beyond the cap of ",
                                      Mebibytes(attempt_cap_bytes_), " were not kept"));
  }
  if (kept.files.empty()) fs::remove_all(target, error);
  RemoveOldest(target);
  return kept;
}

void Artifacts::RemoveOldest(const std::string& spared) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, std::string>> folders;
  int64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    sum += SizeOf(entry.path());
    folders.emplace_back(fs::last_write_time(entry.path(), error), entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const auto& [time, folder] : folders) {
    if (sum <= cap_bytes_) return;
    if (folder == spared) continue;
    sum -= SizeOf(folder);
    fs::remove_all(folder, error);
    spdlog::info("{}: removed, all artifacts together are above the cap", folder);
  }
}

}  // namespace dynbench::worker
