#include "worker/environments/collect.h"

#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

// What is there and nobody's.
std::vector<std::string> Leftovers(const std::string& environments_dir) {
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
        absl::StartsWith(name, ".making-")) {
      left.push_back(entry.path().string());
    }
  }
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
  collected.folders = Leftovers(environments_dir);
  for (const std::string& folder : collected.folders) {
    std::error_code error;
    if (!dry_run) fs::remove_all(folder, error);
    if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  }
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
