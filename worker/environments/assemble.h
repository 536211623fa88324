// Makes an environment's folder of a manifest and objects.
//
// Thread-compatible: one at a time in a folder.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/environments/manifest.h"
#include "worker/environments/object_store.h"

namespace dynbench::worker {

// Fills `folder` (made; must be empty) so that it works once it is renamed to `final_folder`: files
// are links of objects, those that name their own place are written anew, and `interpreter` (a
// path) stands in the place of the base interpreter. NotFound: an object is missing.
absl::Status Assemble(const Manifest& manifest, const ObjectStore& store, const std::string& folder,
                      const std::string& final_folder, const std::string& interpreter);

// Rewrites the files of an environment at `folder` that name `from`, so that they name `to`; each
// as a new file. They keep their bits.
absl::Status RelocateFolder(const std::string& folder, const std::string& from,
                            const std::string& to);

// Everything of `folder` that was written so far is on disk afterwards.
absl::Status SyncFileSystemOf(const std::string& folder);

}  // namespace dynbench::worker
