// What the dispatcher tells whoever counts (coordinator/web/metrics.h). Called on the dispatcher's
// thread; implementations are quick and thread-safe.
#pragma once

#include <cstdint>

#include "common/plan/words.h"

namespace dynbench::session {

class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  // A result that counts was committed.
  virtual void ResultCounted(plan::Outcome) {}
  // From the scheduler's decision to the lease on its way to the worker, the commit included.
  virtual void LeaseSent(int64_t /*latency_ns*/) {}
  // From a result's arrival to its commit.
  virtual void ResultCommitted(int64_t /*latency_ns*/) {}
};

}  // namespace dynbench::session
