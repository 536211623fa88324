#include "tests/simulation/writer.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace dynbench::simulation {

void SimulatedWriter::Apply(ingest::Change change, ingest::Committed committed) {
  if (process_->dead) return;
  queue_.push_back({std::move(change), std::move(committed), absl::OkStatus()});
  Arm();
}

void SimulatedWriter::Arm() {
  if (armed_ || queue_.empty()) return;
  armed_ = true;
  const double ms = world_->random.In(disk_->commit_ms);
  world_->timeline.After(static_cast<int64_t>(ms * static_cast<double>(kNsPerMs)),
                         [this, alive = std::weak_ptr<bool>(alive_)] {
                           if (!alive.expired()) CommitBatch();
                         });
}

void SimulatedWriter::CommitBatch() {
  if (process_->dead) return;
  if (world_->now() < process_->stopped_until) {
    world_->timeline.At(process_->stopped_until, [this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) CommitBatch();
    });
    return;
  }
  armed_ = false;
  Run(std::min(queue_.size(), ingest::kBatchLimit));
  Arm();
}

void SimulatedWriter::Flush() {
  while (!queue_.empty()) Run(std::min(queue_.size(), ingest::kBatchLimit));
}

void SimulatedWriter::Run(size_t size) {
  std::vector<ingest::Pending> batch;
  for (size_t i = 0; i < size; ++i) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  absl::Status outcome;
  if (world_->now() < disk_->full_until) {
    oracle_->StoreFailed();
    outcome = absl::ResourceExhaustedError("simulated: no space left on the disk");
  } else {
    oracle_->BeginBatch();
    int first_runs = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      ingest::Pending& pending = batch[i];
      pending.change = [this, i, &first_runs,
                        change = std::move(pending.change)](store::Database& db) {
        // One of them failed: everything was taken back and is applied once more.
        if (i == 0 && ++first_runs > 1) oracle_->RestartBatch();
        absl::Status status = change(db);
        oracle_->AfterChange(status);
        return status;
      };
    }
    const ingest::BatchOutcome done =
        ingest::RunBatch(*db_, &batch, std::numeric_limits<int64_t>::max(), [] { return true; });
    outcome = done.commit;
    oracle_->EndBatch(outcome.ok());
  }
  world_->Note(outcome.ok() ? "commit" : "full: nothing is committed", -1, 0,
               static_cast<int64_t>(size));
  for (ingest::Pending& pending : batch) {
    if (process_->dead) return;
    if (pending.committed) pending.committed(outcome.ok() ? pending.status : outcome);
  }
}

}  // namespace dynbench::simulation
