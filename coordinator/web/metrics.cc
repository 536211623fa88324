#include "coordinator/web/metrics.h"

#include <prometheus/text_serializer.h>

namespace dynbench::web {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

// Seconds; the design's targets (2 ms, 50 ms) are bounds, so that they can be read off.
const prometheus::Histogram::BucketBoundaries kLatencyBuckets = {
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1, 5};

prometheus::Gauge& Gauge(prometheus::Registry& registry, const char* name, const char* help,
                         const std::map<std::string, std::string>& labels = {}) {
  return BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Counter& Counter(prometheus::Registry& registry, const char* name, const char* help) {
  return BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

}  // namespace

Metrics::Metrics()
    : registry_(std::make_shared<prometheus::Registry>()),
      gauges_(BuildGauge()
                  .Name("dynbench_experiments")
                  .Help("Unfinished experiments, by state")
                  .Register(*registry_)),
      results_(BuildCounter()
                   .Name("dynbench_results_total")
                   .Help("Results that count, by outcome, since the coordinator started")
                   .Register(*registry_)),
      jobs_open_(Gauge(*registry_, "dynbench_jobs_open", "Jobs that are not finished")),
      waiting_(gauges_.Add({{"state", "waiting"}})),
      running_(gauges_.Add({{"state", "running"}})),
      workers_(Gauge(*registry_, "dynbench_workers_connected", "Workers with a live stream")),
      slots_busy_(Gauge(*registry_, "dynbench_slots", "Slots of connected workers, by state",
                        {{"state", "busy"}})),
      slots_idle_(Gauge(*registry_, "dynbench_slots", "Slots of connected workers, by state",
                        {{"state", "idle"}})),
      ingest_changes_(Counter(*registry_, "dynbench_ingest_changes_total",
                              "Changes of the store that were acknowledged")),
      ingest_batches_(Counter(*registry_, "dynbench_ingest_batches_total",
                              "Transactions committed; changes / batches is the mean batch")),
      ingest_failed_(Counter(*registry_, "dynbench_ingest_failed_commits_total",
                             "Transactions that could not be committed")),
      assignment_s_(BuildHistogram()
                        .Name("dynbench_assignment_seconds")
                        .Help("From the decision to lease to the lease on its way, commit included")
                        .Register(*registry_)
                        .Add({}, kLatencyBuckets)),
      commit_s_(BuildHistogram()
                    .Name("dynbench_result_commit_seconds")
                    .Help("From the arrival of a result to its acknowledgement")
                    .Register(*registry_)
                    .Add({}, kLatencyBuckets)) {
  for (const auto outcome :
       {plan::Outcome::kPassed, plan::Outcome::kFailed, plan::Outcome::kSkipped,
        plan::Outcome::kLost, plan::Outcome::kCancelled}) {
    results_.Add({{"outcome", std::string(ToString(outcome))}});  // 0 from the start
  }
}

void Metrics::ResultCounted(plan::Outcome outcome) {
  results_.Add({{"outcome", std::string(ToString(outcome))}}).Increment();
}

void Metrics::LeaseSent(int64_t latency_ns) { assignment_s_.Observe(Seconds(latency_ns)); }

void Metrics::ResultCommitted(int64_t latency_ns) { commit_s_.Observe(Seconds(latency_ns)); }

void Metrics::RaiseTo(prometheus::Counter& counter, int64_t value) {
  const double missing = static_cast<double>(value) - counter.Value();
  if (missing > 0) counter.Increment(missing);
}

std::string Metrics::Scrape(const session::Totals& totals, const session::FleetView& fleet,
                            const ingest::Counters& ingest) {
  MutexLock lock(mu_);
  jobs_open_.Set(static_cast<double>(totals.open_jobs));
  waiting_.Set(static_cast<double>(totals.waiting));
  running_.Set(static_cast<double>(totals.running));
  workers_.Set(static_cast<double>(fleet.workers.size()));
  slots_busy_.Set(fleet.busy_slots);
  slots_idle_.Set(fleet.slots - fleet.busy_slots);
  RaiseTo(ingest_changes_, ingest.changes);
  RaiseTo(ingest_batches_, ingest.batches);
  RaiseTo(ingest_failed_, ingest.failed_commits);
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

}  // namespace dynbench::web
