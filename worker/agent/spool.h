// Results on disk until the coordinator has acknowledged them: what is in the spool survives kill
// -9 and a power cut.
//
// One file for each attempt, "EXPERIMENT.LEASE.result" (proto/dynbench/spool_file.h). Files that do
// not check are set aside in torn/, never deleted.
//
// Thread-compatible.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "dynbench/v1/session.pb.h"

namespace dynbench::worker {

class Spool {
 public:
  // Loads what an earlier process left.
  static absl::StatusOr<Spool> Open(const std::string& folder);

  // Durable when OK. On an error (a full disk) the result is still held in memory and sent; Retry
  // writes it later. The same attempt twice keeps the first.
  absl::Status Put(const v1::AttemptFinished& finished);
  // Tries again to write what could not be written. OK when everything is on disk.
  absl::Status Retry();
  // Acknowledged: forgotten, on disk too.
  void Remove(const AttemptId& attempt);

  bool Contains(const AttemptId& attempt) const { return entries_.count(attempt) > 0; }
  int size() const { return static_cast<int>(entries_.size()); }
  bool all_durable() const { return not_written_ == 0; }
  std::vector<AttemptId> Attempts() const;
  // In order of their attempts. Pointers are good until the entry is removed.
  std::vector<const v1::AttemptFinished*> Results() const;
  int torn() const { return torn_; }

 private:
  struct Entry {
    v1::AttemptFinished finished;
    bool durable = false;
  };

  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const AttemptId& attempt) const;
  void Load(const std::string& path);
  absl::Status Write(const AttemptId& attempt, Entry& entry);

  std::string folder_;
  std::map<AttemptId, Entry> entries_;
  int not_written_ = 0;
  int torn_ = 0;
};

}  // namespace dynbench::worker
