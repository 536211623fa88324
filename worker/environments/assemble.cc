#include "worker/environments/assemble.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/durable_file.h"
#include "common/base/status.h"
#include "worker/environments/relocate.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLongestText = 1 << 20;

absl::Status WriteNew(const std::string& path, const std::string& text, mode_t mode) {
  const std::string beside = absl::StrCat(path, ".dynbench-new");
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || chmod(beside.c_str(), mode) != 0 || rename(beside.c_str(), path.c_str()) != 0) {
    return FileError(path);
  }
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// pyvenv.cfg with another base interpreter.
std::string WithInterpreter(const std::string& text, const std::string& interpreter) {
  std::string result;
  for (const auto line : absl::StrSplit(text, '\n')) {
    if (line.empty()) continue;
    if (absl::StartsWith(line, "home = ")) {
      absl::StrAppend(&result, "home = ", FolderOf(interpreter), "\n");
    } else if (absl::StartsWith(line, "executable = ")) {
      absl::StrAppend(&result, "executable = ", interpreter, "\n");
    } else if (!absl::StartsWith(line, "command = ")) {
      absl::StrAppend(&result, line, "\n");
    }
  }
  return result;
}

absl::Status MakeLink(const std::string& target, const std::string& path) {
  if (symlink(target.c_str(), path.c_str()) != 0) return FileError(path);
  return absl::OkStatus();
}

}  // namespace

absl::Status Assemble(const Manifest& manifest, const ObjectStore& store, const std::string& folder,
                      const std::string& final_folder, const std::string& interpreter) {
  RETURN_IF_ERROR(MakePrivateFolder(folder));
  for (const std::string& path : manifest.folders) {
    const std::string full = absl::StrCat(folder, "/", path);
    if (mkdir(full.c_str(), 0755) != 0) return FileError(full);
  }
  for (const ManifestFile& file : manifest.files) {
    RETURN_IF_ERROR(store.LinkTo(file, absl::StrCat(folder, "/", file.path)));
  }
  RETURN_IF_ERROR(RelocateFolder(folder, manifest.prefix, final_folder));
  const std::string config = folder + "/pyvenv.cfg";
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(config));
  RETURN_IF_ERROR(WriteNew(config, WithInterpreter(text, interpreter), 0644));
  // Last, so that nothing is ever written through one.
  for (const auto& [path, target] : manifest.links) {
    const bool python = absl::StartsWith(path, "bin/python") && !target.empty() && target[0] == '/';
    RETURN_IF_ERROR(MakeLink(python ? interpreter : target, absl::StrCat(folder, "/", path)));
  }
  return absl::OkStatus();
}

absl::Status RelocateFolder(const std::string& folder, const std::string& from,
                            const std::string& to) {
  if (from == to) return absl::OkStatus();
  std::error_code error;
  auto it = fs::recursive_directory_iterator(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const fs::file_status status = it->symlink_status();
    if (!fs::is_regular_file(status)) continue;
    const std::string full = it->path().string();
    if (!MayNameItsPlace(full.substr(folder.size() + 1))) continue;
    std::error_code none;
    if (static_cast<int64_t>(it->file_size(none)) > kLongestText) continue;
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(full));
    if (text.find(from) == std::string::npos) continue;
    const bool executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    RETURN_IF_ERROR(WriteNew(full, Relocate(text, from, to), executable ? 0755 : 0644));
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  return absl::OkStatus();
}

absl::Status SyncFileSystemOf(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return FileError(folder);
  const int failed = syncfs(fd);
  close(fd);
  return failed == 0 ? absl::OkStatus() : FileError(folder);
}

}  // namespace dynbench::worker
