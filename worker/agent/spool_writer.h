// Writes results to the spool on a thread of its own, so that the next experiment begins while the
// disk works; what arrives meanwhile is one group with one synchronisation of the folder.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/ids.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

// A result as it goes to disk.
struct SpoolFile {
  AttemptId attempt;
  std::string path;
  std::string text;
};

// Makes each file durable: its bytes, its name, and at the end the folder of all of them. A status
// for each; after one that failed (a full disk) the others are still tried. Blocks.
std::vector<absl::Status> WriteSpoolFiles(const std::vector<SpoolFile>& files);

// Belongs to the thread of `loop`.
class SpoolWriter {
 public:
  // Both outlive it; `disk` runs on another thread, which may block.
  SpoolWriter(EventLoop* loop, EventLoop* disk);

  // `done` runs on `loop` once the file is durable or could not be written; not after this object
  // is gone.
  void Write(SpoolFile file, std::function<void(const absl::Status&)> done);
  bool idle() const { return pending_ == 0; }

 private:
  struct Shared;
  EventLoop* const loop_;
  EventLoop* const disk_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  int pending_ = 0;
};

}  // namespace dynbench::worker
