#include "worker/host/alias_sweep.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "dynbench-";
constexpr size_t kNameSize = sizeof kPrefix - 1 + 6;  // as mkdtemp makes them

bool IsOwn(const fs::path& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

// The links of a folder of aliases of this state folder; empty for any other folder.
std::vector<fs::path> LinksOf(const fs::path& folder, const std::string& state_dir) {
  std::vector<fs::path> links;
  bool ours = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_symlink(error)) return {};
    const std::string target = fs::read_symlink(entry.path(), error).string();
    ours = ours || absl::StartsWith(target, state_dir + "/");
    links.push_back(entry.path());
  }
  if (!ours) links.clear();
  return links;
}

}  // namespace

int SweepPathAliases(const std::string& tmp_dir, const std::string& state_dir) {
  int swept = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(tmp_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != kNameSize || !absl::StartsWith(name, kPrefix) || !IsOwn(entry.path())) {
      continue;
    }
    const std::vector<fs::path> links = LinksOf(entry.path(), state_dir);
    for (const fs::path& link : links) unlink(link.c_str());
    if (!links.empty() && rmdir(entry.path().c_str()) == 0) ++swept;
  }
  return swept;
}

}  // namespace dynbench::worker
