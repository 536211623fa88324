// One attempt inside its child: options, phases, result.
//
// The parts of a test (performance.cc, accuracy.cc) share AttemptRun; attempt.cc owns it, catches
// what they throw and sends the result. Single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "pybind11/pybind11.h"
#include "worker/process/line_channel.h"
#include "worker/runner/device.h"
#include "worker/runner/failures.h"
#include "worker/runner/phases.h"

namespace dynbench::runner {

// The `run` message of worker/runner/PROTOCOL.md.
struct Attempt {
  std::string id;
  nlohmann::json experiment;
  std::string work_dir;
  std::string cache_dir;
  std::string model_file;
  std::string temporary_dir;  // within work_dir; becomes TMPDIR
  std::string headers_dir;    // precompiled C++ headers of this environment
  std::vector<int> cores;     // ascending; empty: as the lane
  int device_index = -1;      // of an accelerator; -1: torch's first
  int lanes = 1;              // of the slot: others may compile beside this one
  bool copy = false;          // one of several that measure in one window, side by side
  bool cores_shared = false;  // other lanes of the slot run on them too
  bool prepare = false;       // only fill the cache: load, compile, no samples
  int64_t memory_limit_bytes = 0;
  int window_blocks = 1;  // performance: windows that its pairs are spread over
};

// Throws std::invalid_argument naming the field that is missing or wrong.
Attempt ParseAttempt(const nlohmann::json& run);

// What windows took of one attempt.
struct WindowUse {
  int64_t waited_ns = 0;
  int64_t autotuning_ns = 0;
  int64_t autotunings = 0;
};

struct AttemptRun {
  const Attempt& attempt;
  worker::LineChannel& control;
  Device device;
  Phases phases;
  pybind11::object experiment;  // as a Python dict
  pybind11::object loaded;      // dynbench_shims.loading.Loaded
  nlohmann::json result;        // grows
  SideInForce side = SideInForce::kNone;
  int64_t headers_before = 0;  // precompiled headers, before compiling
  WindowUse windows = {};

  void Note(const std::string& text) { result["notes"].push_back(text); }
  nlohmann::json& metrics() { return result["metrics"]; }
};

// The tests, from the phase after `load` to the one before `report`.
void RunPerformance(AttemptRun& run);
void RunAccuracy(AttemptRun& run);
void RunTolerance(AttemptRun& run);
// Loads by itself, once for each size.
void SearchBatchSize(AttemptRun& run);

// Whether the accuracy test is decided before anything is loaded (a model on the list of large
// ones); the result then says so.
bool PassOverWithoutARun(AttemptRun& run);

// Whether a diagnostic rerun records something while the model runs: nothing of it may be timed.
bool Instrumented(const AttemptRun& run);

// After compiling: dynamo's counters, the compiler's report, proof of the cache.
void ReportCompiler(AttemptRun& run);

// Metrics and spans of what was compiled ahead of time (export_s, package_s, load_s); false when
// nothing was. Again when frozen spans are known.
bool ReportArtifact(AttemptRun& run);

// Runs the attempt and sends its result over `control`. Returns the exit status of the child; an
// exit that the model's code asked for is returned without a result.
int RunAttempt(const Attempt& attempt, worker::LineChannel& control);

}  // namespace dynbench::runner
