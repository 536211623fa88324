#include "common/formats/upstream_log.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/formats/upstream_status.h"

namespace dynbench::formats {
namespace {

using plan::Phase;

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
constexpr std::string_view kDump = "(most recent call first)";
constexpr size_t kLineMax = 1'000;
constexpr size_t kExceptionLines = 20;

struct Frame {
  std::string_view file, function;
};

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// `  File "F", line N, in f` of an exception, or without the second comma of a dumped stack.
std::optional<Frame> ParseFrame(std::string_view line) {
  const size_t open = line.find("File \"");
  if (open == std::string_view::npos) return std::nullopt;
  const size_t file = open + 6;
  const size_t close = line.find('"', file);
  const size_t in = line.rfind(" in ");
  if (close == std::string_view::npos || in == std::string_view::npos || in < close) {
    return std::nullopt;
  }
  return Frame{line.substr(file, close - file), line.substr(in + 4)};
}

bool Has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// Upstream's console line has no end of its own: a traceback may begin right behind it.
bool BeginsTraceback(std::string_view line) {
  return line.size() >= kTraceback.size() &&
         line.substr(line.size() - kTraceback.size()) == kTraceback;
}

// The last exception, with those that it was raised from.
struct Stack {
  std::vector<Frame> frames;
  std::string messages;   // of all of them, lower case
  std::string exception;  // the last one's line
  Frame last;             // the innermost frame of the last one
};

bool Links(std::string_view line) {
  return Has(line, "direct cause of the following exception") ||
         Has(line, "another exception occurred");
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Reads one exception that begins at `i` (its "Traceback" line); returns where it ends.
size_t ReadException(const std::vector<std::string_view>& lines, size_t i, Stack* stack) {
  for (++i; i < lines.size() && (lines[i].empty() || lines[i][0] == ' '); ++i) {
    const auto frame = ParseFrame(lines[i]);
    if (!frame) continue;
    stack->frames.push_back(*frame);
    stack->last = *frame;
  }
  if (i >= lines.size()) return i;
  stack->exception = std::string(lines[i].substr(0, kLineMax));
  for (size_t n = 0; n < kExceptionLines && i < lines.size(); ++n, ++i) {
    if (BeginsTraceback(lines[i]) || Links(lines[i])) break;
    stack->messages += Lower(lines[i].substr(0, kLineMax)) + "\n";
  }
  return i;
}

Stack LastException(const std::vector<std::string_view>& lines) {
  size_t begin = lines.size();
  for (size_t i = lines.size(); i-- > 0;) {
    if (BeginsTraceback(lines[i])) {
      begin = i;
      break;
    }
  }
  // Back over those that it was raised from.
  for (size_t i = begin; i-- > 0 && begin < lines.size();) {
    if (lines[i].empty()) continue;
    if (!Links(lines[i])) break;
    size_t earlier = i;
    while (earlier > 0 && !BeginsTraceback(lines[earlier])) --earlier;
    if (!BeginsTraceback(lines[earlier])) break;
    begin = i = earlier;
  }
  Stack stack;
  for (size_t i = begin; i < lines.size();) {
    if (BeginsTraceback(lines[i])) {
      i = ReadException(lines, i, &stack);
    } else if (lines[i].empty() || Links(lines[i])) {
      ++i;
    } else {
      break;
    }
  }
  return stack;
}

// Frames of the stacks that were dumped after the last exception.
std::vector<Frame> DumpedFrames(const std::vector<std::string_view>& lines) {
  std::vector<Frame> frames;
  bool inside = false;
  for (const std::string_view line : lines) {
    if (BeginsTraceback(line)) {
      frames.clear();
      inside = false;
    } else if (Has(line, kDump)) {
      inside = true;
    } else if (inside) {
      if (const auto frame = ParseFrame(line)) frames.push_back(*frame);
    }
  }
  return frames;
}

// The functions of upstream's scripts that tell a phase, first match first, and the compiler's own
// folders between them: a warm-up that is in the compiler compiles, one that is not runs eagerly.
std::optional<Phase> PhaseOf(const std::vector<Frame>& frames) {
  const auto in_function = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(frames.begin(), frames.end(), [&](const Frame& frame) {
      return std::find(names.begin(), names.end(), frame.function) != names.end();
    });
  };
  const auto in_compiler = [&] {
    return std::any_of(frames.begin(), frames.end(), [](const Frame& frame) {
      return Has(frame.file, "/torch/_dynamo/") || Has(frame.file, "/torch/_inductor/") ||
             Has(frame.file, "/torch/_functorch/");
    });
  };
  if (in_function({"load_model", "validate_model", "load_model_from_path"})) return Phase::kLoad;
  if (in_function({"speedup_experiment", "timed", "latency_experiment"})) return Phase::kMeasure;
  if (in_function({"cast_to_fp64"})) return Phase::kReference;
  if (in_compiler()) return Phase::kCompile;
  if (in_function({"warmup", "check_accuracy", "forward_pass", "forward_and_backward_pass"})) {
    return Phase::kEager;
  }
  return std::nullopt;
}

bool AnyOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return Has(text, word); });
}

Cause CauseOf(const Stack& stack) {
  if (stack.exception.empty()) return Cause::kNone;
  const std::string& text = stack.messages;
  if (AnyOf(text, {"no space left on device", "disk quota exceeded"})) return Cause::kNoSpace;
  if (AnyOf(text, {"out of memory", "outofmemoryerror", "can't allocate memory",
                   "cannot allocate memory", "not enough memory"})) {
    return Cause::kOutOfMemory;
  }
  if (AnyOf(text, {"no cuda gpus are available", "device unavailable", "uncorrectable ecc",
                   "device is lost", "gpu is lost", "driver shutting down", "fallen off the bus",
                   "cuda driver initialization failed"})) {
    return Cause::kDeviceLost;
  }
  if (Has(text, "the launch timed out and was terminated")) return Cause::kGpuHang;
  if (AnyOf(text, {"429 client error", "too many requests", "http error 429", "httperror",
                   "maxretryerror", "urlopen error", "couldn't connect to", "connectionerror",
                   "connection aborted", "read timed out", "localentrynotfounderror",
                   "offlinemodeisenabled"})) {
    return Cause::kDownload;
  }
  return Cause::kOther;
}

bool IsScript(std::string_view file) {
  const std::string_view name = file.substr(file.find_last_of('/') + 1);
  return name == "common.py" || name == "timm_models.py" || name == "huggingface.py" ||
         name == "torchbench.py";
}

// The console line is "DEVICE MODE MODEL", then upstream's word or the speedup.
void ReadConsole(const std::vector<std::string_view>& lines, std::string_view model,
                 LogFinding* finding) {
  for (const std::string_view line : lines) {
    const std::vector<std::string> words = absl::StrSplit(
        absl::string_view(line.data(), line.size()), absl::ByAnyChar(" \t"), absl::SkipEmpty());
    const bool ours =
        words.size() >= 3 && (words[1] == "eval" || words[1] == "train") && words[2] == model;
    if (ours) finding->phase = Phase::kCompile;  // it has loaded; what followed is not told
    const std::string word = ours && words.size() > 3 ? words[3]
                             : words.size() == 1      ? words[0]
                                                      : std::string();
    if (MeaningOfStatus(word)) finding->status = word;
  }
}

}  // namespace

LogFinding ReadUpstreamLog(std::string_view log, std::string_view model) {
  const std::vector<std::string_view> lines = Lines(log);
  LogFinding finding;
  ReadConsole(lines, model, &finding);
  finding.console_phase = finding.phase;
  const Stack stack = LastException(lines);
  const std::vector<Frame> dumped = DumpedFrames(lines);
  finding.exception = stack.exception;
  finding.cause = CauseOf(stack);
  finding.script_skew = stack.exception.rfind("KeyError", 0) == 0 && IsScript(stack.last.file);
  const auto phase = PhaseOf(dumped.empty() ? stack.frames : dumped);
  if (phase) {
    finding.phase = *phase;
    finding.from_stack = true;
    finding.from_dump = !dumped.empty();
  }
  return finding;
}

}  // namespace dynbench::formats
