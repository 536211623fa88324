// The phases of one attempt: announced when they begin, timed, listed at the end.
//
// Times are CLOCK_MONOTONIC nanoseconds. Spans in which the worker froze this process are in the
// durations: only the worker knows them and takes them out. Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace dynbench::runner {

int64_t NowNs();

class Phases {
 public:
  using Send = std::function<void(const nlohmann::json&)>;

  // `send` takes the message of each phase that begins.
  explicit Phases(Send send);

  // Ends the phase before and begins `phase` (a word of plan::Phase).
  void Begin(const std::string& phase);

  const std::string& current() const { return current_; }

  // Ends the current phase; [{"phase", "duration_ns", "frozen_ns": 0}] in order.
  nlohmann::json Finish();

  // Stretches within phases whose wall time a metric is made of, so that the worker can take frozen
  // time out of that metric too. Names are in worker/runner/PROTOCOL.md.
  void AddSpan(const std::string& name, int64_t begin_ns, int64_t end_ns);
  const nlohmann::json& spans() const { return spans_; }

  // A stretch in which this process stood still for others (stopped by the worker, or waiting for a
  // window), and how much of [begin, end] was such. Stretches may overlap.
  void AddFrozen(int64_t begin_ns, int64_t end_ns) { frozen_.emplace_back(begin_ns, end_ns); }
  int64_t FrozenWithin(int64_t begin_ns, int64_t end_ns) const;

 private:
  void End();

  Send send_;
  std::string current_;
  int64_t begin_ns_ = 0;
  nlohmann::json ended_ = nlohmann::json::array();
  nlohmann::json spans_ = nlohmann::json::object();
  std::vector<std::pair<int64_t, int64_t>> frozen_;
};

}  // namespace dynbench::runner
