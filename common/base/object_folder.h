// A folder of files that are named by their SHA-256: FOLDER/ab/abcd…. A file is there whole or not
// at all, but for a power cut: files are not synced one by one (gigabytes of small ones), so
// whoever must not be wrong looks at the size or the digest. Several processes may use one folder.
//
// Thread-safe: no state. Errors name the path and what the system said (FileError's codes).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dynbench {

// SHA-256 of a file, read through a mapping. NotFound when there is none.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

class ObjectFolder {
 public:
  explicit ObjectFolder(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  // `sha256` must be a digest. `variant` is appended to the file's name: another inode with the
  // same content.
  std::string PathOf(std::string_view sha256, std::string_view variant = "") const;
  // An empty file is none: nothing empty is kept here, and a power cut leaves files empty.
  bool Has(std::string_view sha256, std::string_view variant = "") const;
  // The folder that holds PathOf, made.
  absl::Status MakeFolderOf(std::string_view sha256) const;

  // Stores bytes; a file that is there already is left.
  absl::Status Put(std::string_view sha256, std::string_view bytes) const;

  // Every file: digest, variant, path.
  struct Object {
    std::string sha256, variant, path;
  };
  void ForEach(const std::function<void(const Object&)>& visit) const;
  // Files of writers that were killed, older than `age_s`.
  void SweepUnfinished(int64_t age_s) const;

 private:
  const std::string folder_;
};

// Writes one object in pieces, then checks it. What is not finished is removed by the destructor.
class ObjectWriter {
 public:
  // InvalidArgument: `sha256` is no digest.
  static absl::StatusOr<std::unique_ptr<ObjectWriter>> Begin(const ObjectFolder& folder,
                                                             const std::string& sha256,
                                                             const std::string& variant = "",
                                                             unsigned mode = 0444);
  ~ObjectWriter();
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  absl::Status Add(std::string_view bytes);
  // DataLoss when the bytes are other ones than those that the digest names.
  absl::Status Finish();

 private:
  struct Parts;
  explicit ObjectWriter(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace dynbench
