// A run of many LoadWorkers on one thread: connects them, beats for them, lets results go as fast
// as the coordinator takes them or at a rate, and tells in JSON lines what happened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "tests/bench/load/load_worker.h"

namespace dynbench::load {

struct Settings {
  std::string coordinator;  // host:port
  int workers = 1000;
  int connections = 16;  // TCP connections that they share; 0: one for each worker
  double rate = 0;       // results per second; 0: as they are acknowledged; < 0: none
  int samples = 30;      // a side
  bool starts = false;   // AttemptStarted before each result
  int64_t results = 0;   // ends after this many acknowledgements; 0: not
  double seconds = 0;    // ends this long after all were connected; 0: not
  int64_t beat_interval_ms = 5000;
};

// Lines on stdout: {"event": "connected", "workers", "seconds"} each time that all of them are, and
// {"event": "summary", …} at the end. Ends by `results`, `seconds`, or the end of stdin.
class Run {
 public:
  explicit Run(const Settings& settings);
  void Go();

 private:
  void Drive(MonotonicTime now);
  void Redial(MonotonicTime now);
  void Release(MonotonicTime now);
  void BeatSome(MonotonicTime now);
  void WatchConnections(MonotonicTime now);
  void WatchRate(MonotonicTime now);
  bool Ended(MonotonicTime now);
  void StopAll();
  void PrintSummary() const;

  const Settings settings_;
  Shared shared_;
  std::vector<std::unique_ptr<v1::WorkerSession::Stub>> stubs_;
  std::vector<std::unique_ptr<LoadWorker>> workers_;
  MonotonicTime begun_;
  MonotonicTime driven_;        // the last Drive
  MonotonicTime connected_at_;  // all of them, for the first time
  MonotonicTime disconnected_at_;
  MonotonicTime first_result_, last_acknowledged_;
  MonotonicTime second_began_;
  int64_t second_acknowledged_ = 0;  // when the second began
  std::vector<double> per_second_;
  int64_t seen_acknowledged_ = 0;
  bool all_connected_ = false;
  double allowance_ = 0;  // of the rate
  double beats_due_ = 0;
  size_t next_to_beat_ = 0;
};

}  // namespace dynbench::load
