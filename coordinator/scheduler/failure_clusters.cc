#include "coordinator/scheduler/failure_clusters.h"

namespace dynbench::scheduler {
namespace {

// Signatures kept. A signature that is not normal enough must not fill the memory.
constexpr size_t kClusters = 1'000;

}  // namespace

FailureClusters::Cluster& FailureClusters::Recent(const std::string& signature, MonotonicTime now) {
  const auto old = [&](const MonotonicTime& at) { return now - at > window_ns_; };
  if (clusters_.size() >= kClusters && clusters_.count(signature) == 0) clusters_.clear();
  Cluster& cluster = clusters_[signature];
  std::erase_if(cluster.workers, [&](const auto& entry) { return old(entry.second.last); });
  if (cluster.reported_at && old(*cluster.reported_at)) cluster.reported_at.reset();
  return cluster;
}

FailureClusters::Verdict FailureClusters::Failed(const SlotId& slot, const std::string& signature,
                                                 MonotonicTime now) {
  Streak& streak = streaks_[slot];
  if (streak.signature != signature || now - streak.last > window_ns_) streak = {signature, 0, now};
  ++streak.length;
  streak.last = now;
  Cluster& cluster = Recent(signature, now);
  Seen& seen = cluster.workers[slot.worker];
  ++seen.failures;
  seen.last = now;

  Verdict verdict;
  verdict.workers = static_cast<int>(cluster.workers.size());
  if (verdict.workers > 1) {
    for (const auto& [worker, on_it] : cluster.workers) verdict.failures += on_it.failures;
    verdict.report = verdict.failures >= limit_ && !cluster.reported_at;
    if (verdict.report) cluster.reported_at = now;
    return verdict;
  }
  verdict.failures = streak.length;
  if (streak.length >= limit_) {
    verdict.stop_slot = true;
    streaks_.erase(slot);
  }
  return verdict;
}

}  // namespace dynbench::scheduler
