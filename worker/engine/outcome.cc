#include "worker/engine/outcome.h"

#include <signal.h>
#include <string.h>

#include <cctype>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "worker/host/split.h"

namespace dynbench::worker {
namespace {

constexpr size_t kDetailCapBytes = 64 << 10;  // as common/plan/result.h says

// What a person thinks of when reading the signal.
std::string SignalHint(int signal, int64_t max_rss_bytes) {
  switch (signal) {
    case SIGSEGV:
      return " (invalid memory access)";
    case SIGABRT:
      return " (abort; an assertion or an uncaught C++ exception)";
    case SIGBUS:
      return " (bus error; often a full /dev/shm or disk under a mapped file)";
    case SIGILL:
      return " (instruction that this CPU lacks)";
    case SIGKILL:
      return max_rss_bytes > 0
                 ? absl::StrFormat(" (peak memory %.1f GiB; often the out-of-memory killer)",
                                   static_cast<double>(max_rss_bytes) / (1 << 30))
                 : " (often the out-of-memory killer)";
    default:
      return "";
  }
}

std::string Seconds(int64_t ms) {
  return ms % 1000 == 0 ? absl::StrCat(ms / 1000, " s") : absl::StrFormat("%.1f s", ms / 1000.0);
}

std::string CrashText(const Ending& ending) {
  const std::string phase(plan::ToString(ending.phase));
  if (ending.exit.signal != 0) {
    return absl::StrCat("killed by ", SignalName(ending.exit.signal),
                        SignalHint(ending.exit.signal, ending.max_rss_bytes), " in phase ", phase);
  }
  return absl::StrCat("exited with code ", ending.exit.code, " before a result, in phase ", phase);
}

// What became of the rest of the tree.
void NoteOthers(const Ending& ending, plan::Result* result) {
  if (ending.descendants_killed > 0) {
    result->notes.push_back(
        absl::StrCat("processes left behind and killed: ", ending.descendants_killed));
  }
  for (const StuckProcess& stuck : ending.stuck) {
    result->notes.push_back(absl::StrCat("process ", stuck.process.pid, " (", stuck.command,
                                         ") did not end after KILL; its slot is closed until it is "
                                         "gone"));
  }
}

std::string Utf8(const std::string& text) {
  const std::string json =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(json).get<std::string>();
}

}  // namespace

void MakeValidUtf8(plan::Result* r) {
  for (std::string* text : {&r->status, &r->error, &r->detail, &r->weights, &r->accuracy_rule,
                            &r->accuracy_function_hash, &r->compiler_report}) {
    *text = Utf8(*text);
  }
  for (std::string& note : r->notes) note = Utf8(note);
  for (std::string& artifact : r->artifacts) artifact = Utf8(artifact);
  std::map<std::string, std::string> in_force;
  for (const auto& [name, value] : r->in_force) in_force[Utf8(name)] = Utf8(value);
  r->in_force = std::move(in_force);
}

void BlameForMissingDevice(plan::Result* r) {
  const bool hang = r->status == "gpu_hang";
  if (r->status != "device_lost" && !hang) return;
  r->outcome = plan::Outcome::kFailed;
  r->blame = plan::BlameFor(r->phase);
  const bool eager = r->phase == plan::Phase::kEager || r->phase == plan::Phase::kReference;
  r->status = r->phase == plan::Phase::kLoad ? "eager_fail_to_run"
              : eager                        ? "eager_1st_run_fail"
                                             : "fail_to_run";
  if (hang && r->exit_signal != 0) r->status = "crash";
  r->notes.push_back("it asks for a device that this slot does not have");
}

std::string LogTail(std::string_view log) {
  if (log.size() > kDetailCapBytes) {
    log.remove_prefix(log.size() - kDetailCapBytes);
    const size_t line = log.find('\n');
    if (line != std::string_view::npos) log.remove_prefix(line + 1);
  }
  return std::string(log);
}

std::string SignalName(int signal) {
  // sigabbrev_np is newer than some C libraries that we build on.
  static constexpr struct {
    int number;
    const char* name;
  } kNames[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
  for (const auto& known : kNames) {
    if (known.number == signal) return known.name;
  }
  return absl::StrCat("signal ", signal);
}

std::string GpuHangLine(std::string_view log) {
  for (std::string line : Split(log, '\n')) {
    const size_t begin = line.find("HW Exception by GPU node");
    if (begin == std::string::npos) continue;
    line.erase(0, begin);
    if (line.find("GPU Hang") != std::string::npos) return line.substr(0, 1'000);
  }
  return "";
}

std::string LastExceptionLine(std::string_view log) {
  static constexpr std::string_view kStart = "Traceback (most recent call last):";
  const size_t start = log.rfind(kStart);
  if (start == std::string_view::npos) return "";
  std::string_view rest = log.substr(start + kStart.size());
  if (!rest.empty() && rest[0] == '\n') rest.remove_prefix(1);
  // Frames are indented; the first line that is not names the exception.
  for (const std::string& line : Split(rest, '\n')) {
    if (line.empty() || isspace(static_cast<unsigned char>(line[0])) || line[0] == '[') continue;
    return line.substr(0, 1'000);
  }
  return "";
}

plan::Result ResultWithoutReport(const Ending& ending, std::string_view log) {
  plan::Result result;
  result.phase = ending.phase;
  result.exit_code = ending.exit.code;
  result.exit_signal = ending.exit.signal;
  result.detail = LogTail(log);
  if (ending.cancelled) {
    result.outcome = plan::Outcome::kCancelled;
    result.status = "cancelled";
    result.blame = plan::Blame::kNone;
    result.error = ending.cancel_reason;
    return result;
  }
  result.outcome = plan::Outcome::kFailed;
  result.blame = plan::BlameFor(ending.phase);
  const std::string exception = LastExceptionLine(log);
  // The runtime aborts the process; one that only prints such words has not had its device hang.
  const std::string hang =
      ending.exit.signal == SIGABRT || ending.timed_out ? GpuHangLine(log) : "";
  if (!hang.empty()) {
    result.outcome = plan::Outcome::kLost;
    result.status = "gpu_hang";
    result.blame = plan::Blame::kInfrastructure;
    result.error = hang;
    result.notes.push_back(ending.timed_out ? "it did not end and was killed" : CrashText(ending));
  } else if (ending.timed_out) {
    result.status = "timeout";
    result.error = absl::StrCat(
        "timed out after ", Seconds(ending.limit_ms), " in phase ",
        std::string(plan::ToString(ending.phase)),
        ending.whole_timeout ? " (the experiment's limit, --timeout)" : " (the phase's own limit)");
  } else {
    result.status = "crash";
    result.error = CrashText(ending);
    // An exit after an exception: the exception is the useful line.
    if (!exception.empty()) {
      if (ending.exit.signal == 0) {
        result.notes.push_back(result.error);
        result.error = exception;
      } else {
        absl::StrAppend(&result.error, "; last exception: ", exception);
      }
    }
  }
  NoteOthers(ending, &result);
  return result;
}

std::string PhaseLimitText(const Ending& ending, const std::string& origin, int64_t timeout_ms) {
  return absl::StrCat("phase ", std::string(plan::ToString(ending.phase)), " took longer than ",
                      Seconds(ending.limit_ms), origin.empty() ? "" : ", ", origin,
                      "; it runs again with the experiment's limit of ", Seconds(timeout_ms),
                      " alone (--timeout)");
}

void AddEnding(const Ending& ending, plan::Result* result) {
  result->exit_code = ending.exit.code;
  result->exit_signal = ending.exit.signal;
  if (ending.timed_out) {
    result->notes.push_back("did not end after its result and was killed");
  } else if (ending.exit.signal != 0) {
    result->notes.push_back(
        absl::StrCat("killed by ", SignalName(ending.exit.signal), " after its result"));
  } else if (ending.exit.code != 0) {
    result->notes.push_back(
        absl::StrCat("exited with code ", ending.exit.code, " after its result"));
  }
  NoteOthers(ending, result);
}

}  // namespace dynbench::worker
