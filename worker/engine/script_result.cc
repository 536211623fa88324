#include "worker/engine/script_result.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/formats/upstream_log.h"
#include "common/formats/upstream_status.h"

namespace dynbench::worker {
namespace {

using formats::Cause;
using formats::LogFinding;
using plan::Blame;
using plan::Outcome;
using plan::Phase;

// The words that the native engine has for what no model can be blamed for.
const char* InfrastructureWord(Cause cause) {
  switch (cause) {
    case Cause::kDeviceLost:
      return "device_lost";
    case Cause::kGpuHang:
      return "gpu_hang";
    case Cause::kNoSpace:
      return "no_space";
    case Cause::kDownload:
      return "download_failed";
    default:
      return nullptr;
  }
}

bool IsEager(Phase phase) { return phase == Phase::kEager || phase == Phase::kReference; }

// What upstream would have said in its accuracy test, for a failure that left no word.
std::string WordFor(const LogFinding& finding) {
  const bool oom = finding.cause == Cause::kOutOfMemory;
  if (finding.phase == Phase::kLoad) return "eager_fail_to_run";
  if (IsEager(finding.phase)) return oom ? "eager_1st_run_OOM" : "eager_1st_run_fail";
  return oom ? "OOM" : "fail_to_run";
}

// Whether the word says that something raised. A comparison that failed, or an exception that was
// logged and survived, is not the network's fault.
bool Raised(const std::string& word) {
  return word == "eager_fail_to_run" || word == "model_fail_to_load" ||
         word == "eager_1st_run_fail" || word == "eager_2nd_run_fail" ||
         word.rfind("fail_to_run", 0) == 0;
}

void Lose(const char* word, plan::Result* result) {
  if (result->status != word && !result->status.empty()) {
    result->notes.push_back(absl::StrCat("upstream's word for it: ", result->status));
  }
  result->outcome = Outcome::kLost;
  result->status = word;
  result->blame = Blame::kInfrastructure;
}

// A failure row: its word, or what the log says where the row has none.
void Fail(const LogFinding& finding, std::string word, plan::Result* result) {
  if (word.empty()) word = finding.status;
  const auto meaning = formats::MeaningOfStatus(word);
  result->outcome = Outcome::kFailed;
  if (!word.empty()) {
    result->status = word;
    result->phase = meaning ? meaning->phase : finding.phase;
    result->blame = meaning ? meaning->blame : plan::BlameFor(finding.phase);
    if (meaning) result->outcome = meaning->outcome;
    // One word of upstream's stands for the eager runs and for the reference.
    if (result->phase == Phase::kEager && finding.phase == Phase::kReference) {
      result->phase = Phase::kReference;
    }
    if (!meaning) result->notes.push_back("not one of the status words that dynbench knows");
  } else {
    result->status = WordFor(finding);
    result->phase = finding.phase;
    result->blame = plan::BlameFor(finding.phase);
  }
  result->error = finding.exception.empty()
                      ? absl::StrCat("upstream's script reports ", result->status)
                      : finding.exception;
  const char* lost = InfrastructureWord(finding.cause);
  if (lost != nullptr && Raised(result->status)) Lose(lost, result);
}

void TakeRow(const formats::UpstreamRow& row, const LogFinding& finding, std::string_view log,
             plan::Result* result) {
  result->batch_size = row.batch_size;
  result->metrics = row.metrics;
  result->accuracy_rule = row.accuracy_rule;
  for (const auto& [column, cell] : row.other) result->in_force["upstream." + column] = cell;
  const auto meaning = formats::MeaningOfStatus(row.status);
  if (row.status == "measured" || (meaning && meaning->outcome == Outcome::kPassed)) {
    result->outcome = Outcome::kPassed;
    result->status = row.status;
    result->phase = Phase::kReport;
    result->blame = Blame::kNone;
    return;
  }
  Fail(finding, row.status, result);
  result->detail = LogTail(log);
}

plan::Result WithoutRow(Ending ending, const LogFinding& finding, std::string_view log) {
  // An exception that was logged before did not send the signal.
  const bool told = finding.from_dump || (finding.from_stack && ending.exit.signal == 0);
  ending.phase = told ? finding.phase : finding.console_phase;
  plan::Result result = ResultWithoutReport(ending, log);
  if (ending.cancelled) return result;
  if (!told && ending.phase != Phase::kLoad) {
    result.notes.emplace_back(
        "upstream's scripts do not say what they do after loading; without a stack it is taken to "
        "be compiling");
  }
  if (ending.timed_out || ending.exit.signal != 0) return result;
  if (finding.cause == Cause::kOutOfMemory) result.status = WordFor(finding);
  if (const char* lost = InfrastructureWord(finding.cause)) Lose(lost, &result);
  return result;
}

}  // namespace

plan::Result ResultOfScript(const Ending& ending, const formats::UpstreamReading& reading,
                            std::string_view log, const plan::Experiment& experiment) {
  const LogFinding finding = formats::ReadUpstreamLog(log, experiment.model);
  plan::Result result;
  if (reading.row && !ending.cancelled) {
    TakeRow(*reading.row, finding, log, &result);
    AddEnding(ending, &result);
  } else {
    result = WithoutRow(ending, finding, log);
  }
  result.compiler_report = reading.compiler_report;
  result.notes.insert(result.notes.end(), reading.notes.begin(), reading.notes.end());
  if (result.outcome == Outcome::kFailed && finding.script_skew) {
    result.notes.emplace_back(
        "a KeyError of the scripts themselves: they and their configuration files may be of "
        "different versions (see scripts.commit)");
  }
  return result;
}

}  // namespace dynbench::worker
