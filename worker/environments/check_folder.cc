#include "worker/environments/check_folder.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/object_folder.h"
#include "common/base/status.h"
#include "worker/environments/relocate.h"

namespace dynbench::worker {
namespace {

// What Python would import.
bool IsImported(const std::string& path) {
  return absl::EndsWith(path, ".py") || absl::EndsWith(path, ".so") || absl::EndsWith(path, ".pth");
}

bool DecidesMeasurement(const std::string& path) {
  return absl::EndsWith(path, ".py") || absl::StrContains(path, "/torch/lib/");
}

// The base interpreter is the host's own.
bool IsInterpreter(const std::string& path) { return absl::StartsWith(path, "bin/python"); }

}  // namespace

absl::Status CheckFolder(const Manifest& manifest, const std::string& folder,
                         const ObjectStore& store) {
  ASSIGN_OR_RETURN(const Manifest now, ScanFolder(folder));
  std::map<std::string, const ManifestFile*> there;
  for (const ManifestFile& file : now.files) there[file.path] = &file;
  absl::Status status;
  const auto differs = [&](const std::string& path, const char* how) {
    if (status.ok()) status = absl::FailedPreconditionError(absl::StrCat(path, " ", how));
  };
  for (const ManifestFile& file : manifest.files) {
    const auto found = there.find(file.path);
    if (found == there.end()) {
      differs(file.path, "is gone");
      continue;
    }
    if (!MayNameItsPlace(file.path) &&
        (found->second->sha256 != file.sha256 || found->second->executable != file.executable)) {
      differs(file.path, "is another file than was made");
      if (file.size_bytes > 0) store.Verify(file.sha256).IgnoreError();
    }
    there.erase(found);
  }
  for (const auto& [path, unused] : there) {
    if (IsImported(path)) differs(path, "came afterwards");
  }
  for (const auto& [path, target] : manifest.links) {
    const auto found = now.links.find(path);
    if (found == now.links.end()) {
      differs(path, "is gone");
    } else if (found->second != target && !IsInterpreter(path)) {
      differs(path, "leads elsewhere than was made");
    }
  }
  return status;
}

absl::Status CheckCode(const Manifest& manifest, const std::string& folder,
                       const ObjectStore& store) {
  absl::Status status;
  for (const ManifestFile& file : manifest.files) {
    if (file.size_bytes == 0 || !DecidesMeasurement(file.path) || MayNameItsPlace(file.path)) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(absl::StrCat(folder, "/", file.path)));
    if (digest == file.sha256) continue;
    // Of all of them, so that one more try is enough.
    const absl::Status damaged = store.Verify(file.sha256);
    if (status.ok() && !damaged.ok()) status = Annotate(damaged, file.path);
    if (status.ok()) status = absl::DataLossError(absl::StrCat(file.path, " changed; ask again"));
  }
  return status;
}

}  // namespace dynbench::worker
