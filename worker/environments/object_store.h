// A worker's objects: the content of environments' files, once on disk however many environments
// have it. Files of environments are hard links of objects, so an object that only the store has is
// of no environment. Objects are read-only: an environment is never changed through a link.
//
// Thread-safe: no state.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/object_folder.h"
#include "worker/environments/manifest.h"

namespace dynbench::worker {

// The size of a file of which only the digest is known.
inline constexpr int64_t kAnySize = -1;

class ObjectStore {
 public:
  explicit ObjectStore(const std::string& environments_dir)
      : folder_(environments_dir + "/objects") {}

  const ObjectFolder& folder() const { return folder_; }
  // Where a file with such bits is, or will be.
  static const char* Variant(bool executable) { return executable ? ".x" : ""; }
  bool Has(const std::string& sha256) const;
  // Of the size that the file has. One of another size is damaged; it is removed, so that it comes
  // again.
  bool HasWhole(const ManifestFile& file) const;
  // Reads it. DataLoss: its content is another one than its name says; it is removed.
  absl::Status Verify(const std::string& sha256) const;

  // The file at `path` becomes the object, or a link of the one that there is. Files that are not
  // ours (`ours` false) are left as they are: a link where the file system allows, else a copy,
  // which is there whole or not at all.
  absl::Status Adopt(const std::string& path, const ManifestFile& file, bool ours) const;

  // Makes `path` a link of the object. NotFound: there is none.
  absl::Status LinkTo(const ManifestFile& file, const std::string& path) const;

  // Removes what is of no environment, but what is in `kept`: objects of files that an environment
  // had to write anew for its place, which other hosts may need. One that is also a file of an
  // environment that was registered by hand takes no space and stays until that file goes. Not
  // beside an installation.
  struct Swept {
    int64_t objects = 0, bytes = 0;
  };
  Swept Sweep(bool dry_run, const std::set<std::string>& kept = {}) const;

 private:
  std::string PathOf(const ManifestFile& file, bool executable) const {
    return folder_.PathOf(file.sha256, Variant(executable));
  }
  absl::Status TakeIn(const std::string& path, const ManifestFile& file) const;
  absl::Status CopyIn(const std::string& path, const ManifestFile& file) const;

  const ObjectFolder folder_;
};

// A hard link, or a copy where there can be none (another file system, too many links).
absl::Status LinkOrCopy(const std::string& from, const std::string& to);

}  // namespace dynbench::worker
