// Drops old evidence once an hour (common/store/retention.h), a small step at a time through the
// writer, so that what matters never waits for it.
#pragma once

#include <cstdint>
#include <thread>

#include "common/base/mutex.h"
#include "common/base/time.h"
#include "common/store/retention.h"
#include "coordinator/ingest/ingest.h"

namespace dynbench::ingest {

// How long things are kept; 0: for ever.
struct RetentionOptions {
  int64_t samples_ms = 0;
  int64_t logs_ms = 0;
  int64_t activity_ms = 0;
  int64_t every_ms = 3'600'000;
  int64_t pause_ms = 20;  // between two steps
};

class RetentionKeeper {
 public:
  // `ingest` outlives this object. Without anything to drop there is no thread.
  RetentionKeeper(RetentionOptions options, Ingest* ingest);
  ~RetentionKeeper();  // after the step under way
  RetentionKeeper(const RetentionKeeper&) = delete;
  RetentionKeeper& operator=(const RetentionKeeper&) = delete;

 private:
  void Run();
  void Pass();
  // False: stopped.
  bool Wait(int64_t ms) EXCLUDES(mu_);

  const RetentionOptions options_;
  Ingest* const ingest_;
  Mutex mu_;
  CondVar stop_;
  bool stopping_ GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace dynbench::ingest
