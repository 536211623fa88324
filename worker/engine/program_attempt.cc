#include "worker/engine/program_attempt.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/formats/upstream_read.h"
#include "common/plan/script_command.h"
#include "nlohmann/json.hpp"
#include "worker/engine/script_result.h"
#include "worker/engine/script_support.h"
#include "worker/host/core_set.h"
#include "worker/host/split.h"

namespace dynbench::worker {
namespace {

namespace fs = std::filesystem;

// A longer line is nobody's report and no console line.
constexpr size_t kLineMaxBytes = 64 << 10;
// Upstream's files of one model have a few kilobytes.
constexpr size_t kFileMaxBytes = 16 << 20;
// Of this user on the whole host. Far above what a benchmark starts, far below what takes a host
// down (the kernel's default of pid_max is 32,768 on small hosts).
constexpr uint64_t kProcessesLimit = 16'384;

// Regular files below `dir`; -1 when it cannot be read.
int64_t CountFiles(const std::string& dir) {
  std::error_code error;
  int64_t count = 0;
  fs::recursive_directory_iterator it(dir, error);
  if (error) return -1;
  for (; it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (error) return -1;
    if (it->is_regular_file(error)) ++count;
  }
  return count;
}

// The beginning of a file that a foreign program wrote: only a plain file, never a pipe or a device
// that it may have put in its place.
std::string TextOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return "";
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileMaxBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace

ProgramAttempt::ProgramAttempt(EventLoop* loop, AttemptSpec spec, AttemptObserver observer,
                               MonotonicTime asked_at, Program program,
                               std::unique_ptr<runner::PathAliases> aliases)
    : Attempt(loop, std::move(spec), std::move(observer), asked_at),
      program_(std::move(program)),
      aliases_(std::move(aliases)),
      cache_files_before_(CountFiles(this->spec().cache_dir)),
      report_([this](plan::Phase phase) { BeginPhase(phase, MonotonicNow().ns); }) {}

nlohmann::json ProgramAttempt::RunMessage() const {
  return {{"type", "run"},
          {"attempt", IdText(spec().id)},
          {"argv", program_.argv},
          {"environment", program_.variables},
          {"work_dir", spec().work_dir},
          {"cores", spec().cores},
          {"memory_limit_bytes", spec().memory_limit_bytes},
          {"processes_limit", kProcessesLimit},
          {"dump_stacks", program_.is_script}};
}

bool ProgramAttempt::MayStart() {
  if (spec().experiment.test != plan::Test::kPerformance || !observer().window) return true;
  if (!window_asked_) {
    window_asked_ = true;
    // May be called from any thread, and after this attempt's end.
    observer().window(DeviceUse::kMeasure,
                      [loop = loop(), alive = alive(), this](int64_t /*flags: the slot's*/) {
                        loop->Post([alive, this] {
                          if (alive.expired()) return;
                          window_granted_ = true;
                          Launch();
                        });
                      });
  }
  return window_granted_;
}

void ProgramAttempt::OnSpawned() { BeginPhase(plan::Phase::kLoad, MonotonicNow().ns); }

void ProgramAttempt::OnOutput(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    line_too_long_ = line_too_long_ || line_.size() + part.size() > kLineMaxBytes;
    if (line_too_long_) {
      line_.clear();
    } else {
      line_ += part;
    }
    if (end == std::string_view::npos) break;
    if (!line_too_long_) ReadLine(line_);
    line_.clear();
    line_too_long_ = false;
    bytes.remove_prefix(end + 1);
  }
  // Upstream ends its console line only with the outcome.
  if (program_.is_script && !loaded_) ReadConsole(line_);
}

void ProgramAttempt::ReadLine(std::string_view line) {
  if (program_.is_script) {
    if (!loaded_) ReadConsole(line);
  } else {
    report_.Read(line);
  }
}

void ProgramAttempt::ReadConsole(std::string_view line) {
  std::vector<std::string> words;
  for (std::string& word : Split(line, ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
    if (words.size() == 3) break;
  }
  if (words.size() < 3 || words[2] != spec().experiment.model) return;
  if (words[1] != "eval" && words[1] != "train") return;
  loaded_ = true;
  BeginPhase(plan::Phase::kCompile, MonotonicNow().ns);
}

plan::Result ProgramAttempt::ScriptResult(const Ending& ending, const std::string& log) const {
  const std::string stem = fs::path(program_.output).replace_extension().string();
  formats::UpstreamFiles files;
  files.csv = TextOf(stem + ".csv");
  files.json = TextOf(stem + ".json");
  files.compilation_metrics = TextOf(stem + "_compilation_metrics.csv");
  files.graph_breaks = TextOf(stem + "_graph_breaks.csv");
  files.stats = TextOf(stem + "_stats.csv");
  const auto reading =
      formats::ReadUpstream(files, spec().experiment.test, spec().experiment.model);
  return ResultOfScript(ending, reading, log, spec().experiment);
}

plan::Result ProgramAttempt::MakeResult(const Ending& ending, std::optional<plan::Result>,
                                        const std::string& log) {
  if (!program_.is_script && !line_.empty()) report_.Read(line_);  // its last, without an end
  plan::Result result = program_.is_script ? ScriptResult(ending, log)
                                           : report_.MakeResult(ending, log, spec().experiment);
  result.cores = FormatCoreSet(spec().cores);
  result.start_proof.cache_files_before = cache_files_before_;
  result.start_proof.proven =
      spec().experiment.start == plan::Start::kCold && cache_files_before_ == 0;
  // The argument vector, so that the row can be repeated by hand.
  result.in_force["argv"] =
      nlohmann::json(program_.argv).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  result.in_force["work_dir"] = spec().work_dir;
  for (const auto& [name, value] : spec().experiment.set_env) {
    const auto it = program_.variables.find(name);
    if (it != program_.variables.end()) result.in_force["env." + name] = it->second;
  }
  if (program_.is_script && program_.argv.size() > 1) {
    for (auto& [name, value] : DescribeScript(program_.argv[1])) result.in_force[name] = value;
  }
  return result;
}

}  // namespace dynbench::worker
