// What a program of the command engine tells about itself (docs/engines.md): lines that begin with
// "dynbench:", one JSON object each, among whatever else it writes.
//
//   dynbench: {"metric": "abs_latency_ms", "value": 1.25}
//   dynbench: {"sample": "compiled", "ns": 1250000}      ("eager" | "compiled"; or a list)
//   dynbench: {"phase": "measure"}
//   dynbench: {"status": "pass"}                         ("error", "blame" and "phase" optional)
//   dynbench: {"batch_size": 8}
//   dynbench: {"fact": "driver", "value": "550.54"}
//   dynbench: {"note": "warmed up twice"}
//
// A line that cannot be taken (no JSON, an unknown metric or key, a value of the wrong type, one
// beyond the bounds) fails the experiment: a number that was misspelt must not pass for one that
// was never measured. Pure; thread-compatible.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/plan/experiment.h"
#include "common/plan/result.h"
#include "nlohmann/json_fwd.hpp"
#include "worker/engine/outcome.h"

namespace dynbench::worker {

class CommandReport {
 public:
  // `phase` hears of each phase that the program begins.
  explicit CommandReport(std::function<void(plan::Phase)> phase = nullptr)
      : phase_(std::move(phase)) {}

  // One line without its end; lines that are not ours are passed over.
  void Read(std::string_view line);

  // The result: passed when it said so, or when it ended with 0 and measured something.
  plan::Result MakeResult(const Ending& ending, std::string_view log,
                          const plan::Experiment& experiment) const;

 private:
  void Take(const nlohmann::json& message);
  void TakeMetric(const nlohmann::json& message);
  void TakeSamples(const nlohmann::json& message);
  void TakeStatus(const nlohmann::json& message);
  void Refuse(const std::string& why);
  bool Measured() const;

  std::function<void(plan::Phase)> phase_;
  plan::Result told_;
  std::optional<plan::Outcome> outcome_;  // once a status was told
  std::optional<plan::Phase> told_phase_;
  std::string refused_;  // the first refusal
  int refusals_ = 0;
};

}  // namespace dynbench::worker
