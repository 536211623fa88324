#include "worker/environments/manifest.h"

#include <gnu/libc-version.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/object_folder.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr char kSchema[] = "dynbench.manifest/1";

// Relative, and no part of it leads elsewhere.
bool IsInside(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return false;
  for (const auto part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

absl::Status Check(const Manifest& m) {
  std::set<std::string> seen;
  const auto check = [&](const std::string& path) {
    if (IsInside(path) && seen.insert(path).second) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("manifest: \"", path, "\" leaves its folder or is named twice"));
  };
  for (const std::string& path : m.folders) RETURN_IF_ERROR(check(path));
  for (const ManifestFile& file : m.files) {
    RETURN_IF_ERROR(check(file.path));
    if (!IsSha256Hex(file.sha256) || file.size_bytes < 0) {
      return absl::InvalidArgumentError(absl::StrCat("manifest: ", file.path, " has no digest"));
    }
  }
  for (const auto& [path, target] : m.links) RETURN_IF_ERROR(check(path));
  return absl::OkStatus();
}

}  // namespace

Platform ThisPlatform() {
  utsname name{};
  uname(&name);
  return {name.machine, absl::StrCat("glibc ", gnu_get_libc_version()), ""};
}

absl::Status CheckFits(const Platform& platform) {
  const Platform here = ThisPlatform();
  if (platform.arch == here.arch && platform.libc == here.libc) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("it was made for ", platform.arch, " with ",
                                                    platform.libc, "; this host is ", here.arch,
                                                    " with ", here.libc));
}

int64_t Manifest::TotalBytes() const {
  int64_t bytes = 0;
  for (const ManifestFile& file : files) bytes += file.size_bytes;
  return bytes;
}

bool IsLeftOut(std::string_view file_name) { return file_name == "__pycache__"; }

absl::StatusOr<Manifest> ScanFolder(const std::string& folder,
                                    const std::map<std::string, std::string>& known) {
  Manifest manifest;
  manifest.prefix = folder;
  manifest.platform = ThisPlatform();
  std::error_code error;
  auto it = fs::recursive_directory_iterator(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const fs::path& full = it->path();
    std::string path = full.string().substr(folder.size() + 1);
    const fs::file_status status = it->symlink_status();
    if (fs::is_symlink(status)) {
      manifest.links[path] = fs::read_symlink(full, error).string();
    } else if (fs::is_directory(status)) {
      if (IsLeftOut(full.filename().string())) {
        it.disable_recursion_pending();
        continue;
      }
      manifest.folders.push_back(std::move(path));
    } else if (fs::is_regular_file(status)) {
      ManifestFile file;
      file.executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
      file.size_bytes = static_cast<int64_t>(fs::file_size(full, error));
      if (const auto found = known.find(path); found != known.end()) {
        file.sha256 = found->second;
      } else {
        ASSIGN_OR_RETURN(file.sha256, Sha256OfFile(full.string()));
      }
      file.path = std::move(path);
      manifest.files.push_back(std::move(file));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat(full.string(), " is neither file, folder nor link; remove it"));
    }
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  std::sort(manifest.folders.begin(), manifest.folders.end());
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const ManifestFile& a, const ManifestFile& b) { return a.path < b.path; });
  return manifest;
}

std::string ToJson(const Manifest& m) {
  Json files = Json::array();
  for (const ManifestFile& file : m.files) {
    files.push_back(
        Json::array({file.path, file.executable ? "755" : "644", file.size_bytes, file.sha256}));
  }
  return Json{{"schema", kSchema},
              {"id", m.id},
              {"prefix", m.prefix},
              {"interpreter", m.interpreter},
              {"arch", m.platform.arch},
              {"libc", m.platform.libc},
              {"python_version", m.platform.python_version},
              {"folders", m.folders},
              {"files", files},
              {"links", m.links}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Manifest> ManifestFromJson(std::string_view text) {
  Manifest m;
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != kSchema) {
      return absl::InvalidArgumentError("not a manifest of this version");
    }
    m.id = json.at("id");
    m.prefix = json.at("prefix");
    m.interpreter = json.at("interpreter");
    m.platform = {json.at("arch"), json.at("libc"), json.at("python_version")};
    m.folders = json.at("folders").get<std::vector<std::string>>();
    for (const Json& file : json.at("files")) {
      m.files.push_back({file.at(0), file.at(1) == "755", file.at(2), file.at(3)});
    }
    m.links = json.at("links").get<std::map<std::string, std::string>>();
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not a manifest: ", error.what()));
  }
  RETURN_IF_ERROR(Check(m));
  return m;
}

}  // namespace dynbench::worker
