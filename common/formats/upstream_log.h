// What the output of one of upstream's scripts tells about its end: where it was, and what raised.
// Only stacks and the lines of the last exception count: a model may print any word it likes. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/plan/words.h"

namespace dynbench::formats {

enum class Cause {
  kNone,  // no exception
  kOther,
  kOutOfMemory,
  kDeviceLost,
  kGpuHang,
  kNoSpace,
  kDownload,  // the network or a hub refused ("429 Client Error")
};

struct LogFinding {
  Cause cause = Cause::kNone;
  // Where it was, from the frames of the last stack (an exception's, or one that was dumped before
  // a kill); without one from how far the console line of the model came.
  plan::Phase phase = plan::Phase::kLoad;
  bool from_stack = false;  // an exception's or a dumped one
  bool from_dump = false;
  plan::Phase console_phase = plan::Phase::kLoad;  // from the console line alone
  std::string exception;  // the last exception's line; empty when there is none
  std::string status;     // upstream's word on the console ("eager_fail_to_run"); may be empty
  // The scripts' own lookup of a key failed: their files may be of different versions.
  bool script_skew = false;
};

LogFinding ReadUpstreamLog(std::string_view log, std::string_view model);

}  // namespace dynbench::formats
