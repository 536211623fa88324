// What an environment that is here already has in common with one that is to be installed need not
// be sent.
//
// Thread-safe: no state.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "worker/environments/manifest.h"
#include "worker/environments/object_store.h"
#include "worker/host/environment.h"

namespace dynbench::worker {

// A file of `from` that has the path and size of one of `manifest` is hashed, and becomes an object
// if it is the same one. How many did. ResourceExhausted: the disk is full.
absl::StatusOr<int64_t> TakeFiles(const Manifest& manifest, const Environment& from,
                                  const ObjectStore& store, const std::atomic<bool>& stopping);

// The folder of a virtual environment.
std::string PrefixOf(const Environment& environment);

}  // namespace dynbench::worker
