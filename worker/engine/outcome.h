// What an attempt amounts to when its process ended in some way other than with a result of its
// own. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/result.h"
#include "worker/process/process_tree.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {

// Facts about an ended process tree.
struct Ending {
  plan::Phase phase = plan::Phase::kPrepare;  // last begun
  ExitStatus exit;
  bool timed_out = false;
  bool whole_timeout = true;  // false: the phase's own limit
  int64_t limit_ms = 0;       // the one that was passed
  bool cancelled = false;
  std::string cancel_reason;
  int64_t max_rss_bytes = 0;
  int descendants_killed = 0;
  std::vector<StuckProcess> stuck = {};  // that KILL did not reach
};

// The result of an attempt that sent none: `timeout`, `crash`, `gpu_hang` or cancelled, with phase,
// blame and the one useful line. An exit is a crash whatever its code: 0 before a result is one as
// well.
plan::Result ResultWithoutReport(const Ending& ending, std::string_view log);

// Why an attempt was ended at a phase's limit: "phase compile took longer than 112 s, 4 times …".
std::string PhaseLimitText(const Ending& ending, const std::string& origin, int64_t timeout_ms);

// Puts what is known of the end beside the child's own result: exit code, signal, notes.
void AddEnding(const Ending& ending, plan::Result* result);

// "device_lost" or "gpu_hang" on a slot that has no device to lose ("No CUDA GPUs are available" on
// a CPU) is the model's, or whoever's phase it is: no other host would do better.
void BlameForMissingDevice(plan::Result* result);

// The line by which a GPU's runtime says that the device hangs, in what a process printed; empty
// when there is none. ROCm prints "HW Exception by GPU node-1 (Agent handle: …) reason :GPU Hang"
// and aborts (ROCR-Runtime, hsa-runtime/core/runtime/runtime.cpp). Its "Memory access fault by GPU
// node" is a bad kernel's, not the device's, and is no hang.
std::string GpuHangLine(std::string_view log);

// The last line of the last Python traceback in `log` ("ValueError: no model"); empty when there is
// none.
std::string LastExceptionLine(std::string_view log);

// Replaces bytes that are no UTF-8 by U+FFFD in every text of the result: a message with such a
// text could not be sent.
void MakeValidUtf8(plan::Result* result);

// The end of a log, as `detail` takes it: capped, cut at a line.
std::string LogTail(std::string_view log);

// "SIGSEGV"; "signal 40" for one without a name.
std::string SignalName(int signal);

}  // namespace dynbench::worker
