#include "worker/environments/collect.h"

#include <cerrno>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/durable_file.h"
#include "common/base/status.h"
#include "worker/environments/object_store.h"
#include "worker/environments/places.h"
#include "worker/host/environment.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

bool IsFolderName(const std::string& name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

constexpr char kUnfinished[] = ".making-";

// Under another name first: what a kill leaves of it is then seen to be no environment.
absl::Status RemoveFolder(const std::string& folder) {
  const fs::path path = folder;
  std::error_code error;
  fs::path leaving = path;
  if (IsFolderName(path.filename().string())) {
    leaving.replace_filename(absl::StrCat(kUnfinished, path.filename().string(), "-removed"));
    fs::remove_all(leaving, error);
    if (!error) fs::rename(path, leaving, error);
  }
  if (!error) fs::remove_all(leaving, error);
  if (!error) return absl::OkStatus();
  errno = error.value();
  return FileError(folder);
}

// What is there and nobody's: folders, and manifests with them.
std::vector<std::string> Leftovers(const std::string& environments_dir, bool manifests) {
  std::set<std::string> kept;
  for (const auto& [name, environment] : LoadEnvironments(environments_dir, nullptr)) {
    if (environment.id.empty()) continue;
    kept.insert(FolderOfEnvironment(environments_dir, environment.id));
    kept.insert(ManifestPath(environments_dir, environment.id));
  }
  std::vector<std::string> left;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(environments_dir, error)) {
    const std::string name = entry.path().filename().string();
    if ((IsFolderName(name) && kept.count(entry.path().string()) == 0) ||
        absl::StartsWith(name, kUnfinished)) {
      left.push_back(entry.path().string());
    }
  }
  if (!manifests) return left;
  for (const auto& entry : fs::directory_iterator(environments_dir + "/manifests", error)) {
    if (kept.count(entry.path().string()) == 0) left.push_back(entry.path().string());
  }
  return left;
}

// What the manifests of registered environments name.
std::set<std::string> ObjectsOfRegistered(const std::string& environments_dir) {
  std::set<std::string> kept;
  for (const auto& [name, environment] : LoadEnvironments(environments_dir, nullptr)) {
    if (environment.id.empty()) continue;
    const auto manifest = LoadManifest(environments_dir, environment.id);
    if (!manifest.ok()) continue;  // derived without a fleet: it has none
    for (const ManifestFile& file : manifest->files) kept.insert(file.sha256);
  }
  return kept;
}

}  // namespace

absl::StatusOr<Collected> CollectEnvironments(const std::string& environments_dir, bool dry_run) {
  ASSIGN_OR_RETURN(const UniqueFd lock, LockEnvironments(environments_dir, nullptr));
  // A record that cannot be read may name a folder: nothing is removed beside one.
  std::vector<std::string> problems;
  LoadEnvironments(environments_dir, &problems);
  if (!problems.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("nothing is removed while a record cannot be read: ", problems.front()));
  }
  Collected collected;
  ASSIGN_OR_RETURN(const UniqueFd alone, StopReceiving(environments_dir));
  collected.receiving = !alone;
  collected.folders = Leftovers(environments_dir, /*manifests=*/!collected.receiving);
  for (const std::string& folder : collected.folders) {
    if (!dry_run) RETURN_IF_ERROR(RemoveFolder(folder));
  }
  if (collected.receiving) return collected;
  const ObjectStore::Swept swept =
      ObjectStore(environments_dir).Sweep(dry_run, ObjectsOfRegistered(environments_dir));
  collected.objects = swept.objects;
  collected.object_bytes = swept.bytes;
  return collected;
}

absl::Status ForgetMade(const std::string& environments_dir, const std::string& id) {
  ASSIGN_OR_RETURN(const UniqueFd lock, LockEnvironments(environments_dir, nullptr));
  for (const auto& [name, environment] : LoadEnvironments(environments_dir, nullptr)) {
    if (environment.id == id) RETURN_IF_ERROR(RemoveEnvironment(environments_dir, name));
  }
  return absl::OkStatus();
}

}  // namespace dynbench::worker
