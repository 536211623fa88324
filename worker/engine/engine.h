// The interface through which a slot drives an experiment, whatever runs it: native (the runner),
// script (upstream's scripts) and command (any program).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/plan/experiment.h"
#include "common/plan/result.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {

// Everything an attempt is given. Folders exist, are empty unless said otherwise, mode 0700, and
// belong to the attempt alone.
struct AttemptSpec {
  AttemptId id;
  plan::Experiment experiment;
  std::string experiment_json;     // verbatim, as planned
  std::string work_dir;            // current folder of the child
  std::string cache_dir;           // inductor and triton caches; holds the prepared cache for kWarm
  std::string model_file;          // loader "path": the local copy; else empty
  std::vector<int> cores;          // what this attempt may use, from its first call on
  int lanes = 1;                   // attempts that may run beside it, itself counted
  std::string device_uuid;         // GPUs
  int64_t memory_limit_bytes = 0;  // private memory of each process; 0: not limited
  int log_cap_bytes = 1 << 20;
  int device_index = -1;                // GPUs: what torch calls it
  std::string precompiled_headers_dir;  // per environment, outside of every attempt
  bool prepare = false;                 // only fill the cache: everything up to `ready`
  // Learned, beside the experiment's total timeout_ms; each with where it came from, for people.
  std::map<plan::Phase, int64_t> phase_limits_ms;
  std::map<plan::Phase, std::string> phase_limit_origins;
  bool cores_shared = false;  // with other lanes of the slot
  // Performance: windows that the samples are spread over, for those of another attempt to be taken
  // in between.
  int window_blocks = 1;
};

// What the host tells of the device of a window while it lasts.
struct WindowState {
  std::optional<double> device_clock_mhz;
  std::optional<int64_t> device_throttle_reasons;  // as in plan::Metrics
  std::optional<int64_t> device_foreign_processes;
  int64_t flags = 0;  // common/base/window_flags.h
};

// What an attempt wants the device for.
enum class DeviceUse {
  kMeasure,    // samples: every other attempt of the slot stands still
  kBenchmark,  // the compiler compares kernels: those that are off the device go on
  kReturn,     // it was off the device and wants to use it again, beside the others
};

// Called from the engine's thread, in order; Finished is the last call of an attempt and comes only
// when nothing of its process tree is left.
struct AttemptObserver {
  std::function<void(plan::Phase)> phase;
  // Bytes of stdout and stderr as they come; `offset` counts what was written so far.
  std::function<void(int64_t offset, std::string_view bytes)> log;
  // Asks for the device's window; `granted` is called once the device is this attempt's alone, with
  // what is wrong all the same (kUnfrozenLane): who can begin again may ask again. A return needs
  // no `window_done`: it is over when it is granted.
  std::function<void(DeviceUse use, std::function<void(int64_t flags)> granted)> window;
  std::function<void()> window_done;
  // In its window: how is the device? Unset: nobody can tell.
  std::function<void(std::function<void(const WindowState&)> answer)> look = nullptr;
  std::function<void(plan::Result result, std::string log)> finished;
  // Before the last call: processes of its tree that KILL did not reach. The slot's cores and
  // device are theirs until they are gone.
  std::function<void(std::vector<StuckProcess>)> stuck;
  // Instead of `finished`, when no result could come of it through no fault of its own (the zygote
  // does not start, the lane is gone): somebody may try again.
  std::function<void(std::string reason)> returned;
  // Instead of `finished`, when it was ended at the limit of a phase: the experiment is to run
  // again without. Unset: that is a result, `timeout`.
  std::function<void(std::string reason, std::string log)> phase_limit;
  // From now on it computes on its own cores only, but in windows, until it asks to return.
  std::function<void()> off_device;
  // After `done` of a Freeze: it was forked only then, and could not be stopped.
  std::function<void()> runs_on = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Starts an attempt; returns at once.
  virtual void Start(AttemptSpec spec, AttemptObserver observer) = 0;
  // TERM, grace, KILL of the whole tree; `finished` follows with outcome kCancelled.
  virtual void Cancel(const AttemptId& attempt, const std::string& reason) = 0;
  // Stops every process of these attempts, for another one's window; `done` (on an engine's
  // thread) says whether all stand still. What is being ended when it comes has no grace any more.
  // Freeze and Thaw of one caller take effect in its order. Time spent frozen counts for no timeout
  // and is taken out of the phases. Attempts that are not running are passed over.
  virtual void Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) = 0;
  virtual void Thaw(std::vector<AttemptId> attempts) = 0;
};

}  // namespace dynbench::worker
