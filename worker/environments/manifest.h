// What an environment's folder holds, so that another host can make the same one: each file with
// its digest, each link with its target. Compiled Python (__pycache__) is left out; it is made
// again where it is needed.
//
// Thread-safe: no state but what is passed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench::worker {

// Where such a folder works as it is. All of it must be equal.
struct Platform {
  std::string arch;            // "x86_64"
  std::string libc;            // "glibc 2.36"
  std::string python_version;  // of the base interpreter: "3.11.7"

  bool operator==(const Platform&) const = default;
};

// Of this machine; the version of python is the caller's to fill in.
Platform ThisPlatform();

// FailedPrecondition says how `platform` differs from this machine; the interpreter apart.
absl::Status CheckFits(const Platform& platform);

struct ManifestFile {
  std::string path;  // relative
  bool executable = false;
  int64_t size_bytes = 0;
  std::string sha256;
};

struct Manifest {
  // The environment's id; what the files that name their own place name; the base interpreter.
  std::string id, prefix, interpreter;
  Platform platform;
  std::vector<std::string> folders;          // parents first
  std::vector<ManifestFile> files;           // sorted
  std::map<std::string, std::string> links;  // path -> target

  int64_t TotalBytes() const;
};

// Walks `folder` and hashes every file. `known`: digests by path, of files that are known to be the
// same (their inodes are shared); may be empty. InvalidArgument: something that is neither file,
// folder nor link.
absl::StatusOr<Manifest> ScanFolder(const std::string& folder,
                                    const std::map<std::string, std::string>& known = {});

// JSON; canonical, so its SHA-256 names it.
std::string ToJson(const Manifest& manifest);
// InvalidArgument: not a manifest, or a path that leaves the folder.
absl::StatusOr<Manifest> ManifestFromJson(std::string_view text);

// True for what a manifest leaves out.
bool IsLeftOut(std::string_view file_name);

}  // namespace dynbench::worker
