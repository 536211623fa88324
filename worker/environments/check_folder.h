// Whether a folder on disk still is the environment that its manifest lists. Files that name their
// own place (relocate.h) differ from host to host and are only looked for.
//
// Thread-safe: no state.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/environments/manifest.h"
#include "worker/environments/object_store.h"

namespace dynbench::worker {

// Reads every file. FailedPrecondition names the first that is gone, has other content, or is code
// that came afterwards. Objects that were changed with such a file (they are the same inode) are
// removed.
absl::Status CheckFolder(const Manifest& manifest, const std::string& folder,
                         const ObjectStore& store);

// Reads what decides a measurement: Python and torch's libraries. DataLoss names the first that has
// other content; its object is removed, so that it comes again.
absl::Status CheckCode(const Manifest& manifest, const std::string& folder,
                       const ObjectStore& store);

}  // namespace dynbench::worker
