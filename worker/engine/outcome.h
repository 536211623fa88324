// What an attempt amounts to when its process ended in some way other than with a result of its
// own. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/plan/result.h"
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
};

// The result of an attempt that sent none: `timeout`, `crash` or cancelled, with phase, blame and
// the one useful line. An exit is a crash whatever its code: 0 before a result is one as well.
plan::Result ResultWithoutReport(const Ending& ending, std::string_view log);

// Puts what is known of the end beside the child's own result: exit code, signal, notes.
void AddEnding(const Ending& ending, plan::Result* result);

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
