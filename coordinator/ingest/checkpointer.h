// Copies the write-ahead log into the database beside the writer, on a thread and a connection of
// its own: 32 MB of log are 50 to 100 ms of work, in which no lease would leave. Private to
// coordinator/ingest.
//
// SQLite begins a log again from its start only when all of it has been copied, which never is so
// while somebody appends. So the writer asks for passes until little is left, and copies that rest
// itself between two commits.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "common/base/mutex.h"

struct sqlite3;

namespace dynbench::ingest {

class Checkpointer {
 public:
  explicit Checkpointer(std::string path);
  ~Checkpointer();  // waits for the pass that runs
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Begins a pass, unless one runs.
  void Begin() EXCLUDES(mu_);
  bool busy() const EXCLUDES(mu_);
  // What the last pass left in the log, in bytes; -1: there was none, or it failed.
  int64_t left_bytes() const EXCLUDES(mu_);

 private:
  void Run() EXCLUDES(mu_);
  int64_t Pass();

  const std::string path_;
  sqlite3* handle_ = nullptr;  // the thread's
  mutable Mutex mu_;
  CondVar wake_;
  bool wanted_ GUARDED_BY(mu_) = false;
  bool stopping_ GUARDED_BY(mu_) = false;
  int64_t left_bytes_ GUARDED_BY(mu_) = -1;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace dynbench::ingest
