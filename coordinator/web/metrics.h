// Figures for Prometheus. Counters and histograms are fed as things happen; gauges are set when
// somebody scrapes. Thread-safe. docs/protocol.md lists the names.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "coordinator/ingest/ingest.h"
#include "coordinator/session/dispatcher.h"

namespace dynbench::web {

class Metrics : public session::SessionObserver {
 public:
  Metrics();

  void ResultCounted(plan::Outcome outcome) override;
  void LeaseSent(int64_t latency_ns) override;
  void ResultCommitted(int64_t latency_ns) override;

  // The exposition text, with gauges from these facts.
  std::string Scrape(const session::Totals& totals, const session::FleetView& fleet,
                     const ingest::Counters& ingest) EXCLUDES(mu_);

 private:
  // Raises a counter that somebody else counts to `value`.
  static void RaiseTo(prometheus::Counter& counter, int64_t value);

  Mutex mu_;  // one scrape at a time
  std::shared_ptr<prometheus::Registry> registry_;
  prometheus::Family<prometheus::Gauge>& gauges_;
  prometheus::Family<prometheus::Counter>& results_;
  prometheus::Gauge& jobs_open_;
  prometheus::Gauge& waiting_;
  prometheus::Gauge& running_;
  prometheus::Gauge& workers_;
  prometheus::Gauge& slots_busy_;
  prometheus::Gauge& slots_idle_;
  prometheus::Counter& ingest_changes_;
  prometheus::Counter& ingest_batches_;
  prometheus::Counter& ingest_failed_;
  prometheus::Histogram& assignment_s_;
  prometheus::Histogram& commit_s_;
};

}  // namespace dynbench::web
