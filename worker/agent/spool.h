// Results on disk until the coordinator has acknowledged them: what is in the spool survives kill
// -9 and a power cut.
//
// One file for each attempt, "EXPERIMENT.LEASE.result" (proto/dynbench/spool_file.h). Files that do
// not check are set aside in torn/, never deleted.
//
// Thread-compatible.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "dynbench/v1/session.pb.h"
#include "worker/agent/spool_writer.h"

namespace dynbench::worker {

class Spool {
 public:
  // Loads what an earlier process left.
  static absl::StatusOr<Spool> Open(const std::string& folder);

  // Durable when OK. On an error (a full disk) the result is still held in memory and sent; Retry
  // writes it later. The same attempt twice keeps the first.
  absl::Status Put(const v1::AttemptFinished& finished);
  // The same in steps, for who writes beside it (SpoolWriter): held in memory and named in
  // Attempts, but in Results, so as a thing to send, only after Written. Nothing: known already.
  std::optional<SpoolFile> Hold(const v1::AttemptFinished& finished);
  void Written(const AttemptId& attempt, const absl::Status& written);
  // Tries again to write what could not be written. OK when everything is on disk.
  absl::Status Retry();
  // Acknowledged: forgotten, on disk too (but not durably: what comes back is sent and acknowledged
  // again).
  void Remove(const AttemptId& attempt);

  bool Contains(const AttemptId& attempt) const { return entries_.count(attempt) > 0; }
  int size() const { return static_cast<int>(entries_.size()); }
  bool all_durable() const { return not_written_ == 0; }
  std::vector<AttemptId> Attempts() const;
  // In order of their attempts, without those that are being written. Pointers are good until the
  // entry is removed.
  std::vector<const v1::AttemptFinished*> Results() const;
  int torn() const { return torn_; }

 private:
  struct Entry {
    v1::AttemptFinished finished;
    bool durable = false;
    bool writing = false;  // between Hold and Written
  };

  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(const AttemptId& attempt) const;
  void Load(const std::string& path);
  SpoolFile FileOf(const AttemptId& attempt, const Entry& entry) const;
  absl::Status Write(const AttemptId& attempt, Entry& entry);

  std::string folder_;
  std::map<AttemptId, Entry> entries_;
  int not_written_ = 0;
  int torn_ = 0;
};

}  // namespace dynbench::worker
