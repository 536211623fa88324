// The store's writer in simulated time: batches as the real one makes them (coordinator/ingest,
// RunBatch), committed some simulated milliseconds after they were handed in. A commit may fail
// (full disk); what was not committed when the process dies is lost. Thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "common/store/store.h"
#include "coordinator/ingest/batch.h"
#include "tests/simulation/event_loop.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

struct Disk {
  Range commit_ms{1, 8};
  MonotonicTime full_until;
};

class SimulatedWriter final : public ingest::Writer {
 public:
  // All outlive it. The oracle looks at each change before it is committed.
  SimulatedWriter(World* world, std::shared_ptr<Process> process, const Disk* disk,
                  store::Database* db, Oracle* oracle)
      : world_(world), process_(std::move(process)), disk_(disk), db_(db), oracle_(oracle) {}

  void Apply(ingest::Change change, ingest::Committed committed) override;
  // Commits all that was handed in, as a process that ends in order does.
  void Flush();

 private:
  void Arm();
  void CommitBatch();
  void Run(size_t size);

  World* const world_;
  const std::shared_ptr<Process> process_;
  const Disk* const disk_;
  store::Database* const db_;
  Oracle* const oracle_;
  std::deque<ingest::Pending> queue_;
  bool armed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dynbench::simulation
