#include "tools/dynbenchctl/flag_rules.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/str_join.h"
#include "common/base/status.h"

namespace dynbench::cli {
namespace {

using Given = std::pair<const char*, bool>;  // flag, whether it was given

std::vector<std::string> Names(std::initializer_list<Given> flags) {
  std::vector<std::string> names;
  for (const auto& [name, given] : flags) {
    if (given) names.push_back(name);
  }
  return names;
}

absl::Status AtMostOne(std::initializer_list<Given> flags, const std::string& advice) {
  const auto names = Names(flags);
  if (names.size() < 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(names, " and ") +
                                    " exclude each other: " + advice);
}

// The first of `flags` that was given has no effect for the reason `why`.
absl::Status NoEffect(bool applies, std::initializer_list<Given> flags, const std::string& why) {
  const auto names = Names(flags);
  if (!applies || names.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(names.front() + " would have no effect: " + why);
}

absl::Status CheckExclusive(const SubmitFlags& f) {
  RETURN_IF_ERROR(AtMostOne({{"--float32", f.float32},
                             {"--bfloat16", f.bfloat16},
                             {"--float16", f.float16},
                             {"--amp", f.amp},
                             {"--precision", f.precision.has_value()}},
                            "a job has one precision; submit one job for each"));
  RETURN_IF_ERROR(AtMostOne(
      {{"--inference", f.inference}, {"--training", f.training}, {"--mode", !f.mode.empty()}},
      "for both modes use --mode inference,training"));
  RETURN_IF_ERROR(AtMostOne(
      {{"--performance", f.performance}, {"--accuracy", f.accuracy}, {"--test", !f.test.empty()}},
      "leave them out for both tests, which is the default"));
  RETURN_IF_ERROR(AtMostOne({{"--cold-start-latency", f.cold_start_latency},
                             {"--warm-start-latency", f.warm_start_latency},
                             {"--start", !f.start.empty()}},
                            "for several starts use --start cold,warm"));
  RETURN_IF_ERROR(AtMostOne({{"--inductor", f.inductor}, {"--backend", f.backend.has_value()}},
                            "--inductor is --backend inductor"));
  return AtMostOne({{"--output", f.output.has_value()}, {"--disable-output", f.disable_output}},
                   "write the file or do not");
}

absl::Status CheckOutput(const SubmitFlags& f) {
  RETURN_IF_ERROR(NoEffect(f.total_partitions.value_or(1) == 1,
                           {{"--partition-policy", f.partition_policy.has_value()}},
                           "it says how --total-partitions N are cut"));
  RETURN_IF_ERROR(NoEffect(f.disable_output,
                           {{"--output-directory", f.output_directory.has_value()}},
                           "--disable-output writes nothing"));
  RETURN_IF_ERROR(NoEffect(
      !f.wait && !f.dry_run,
      {{"--output", f.output.has_value()}, {"--output-directory", f.output_directory.has_value()}},
      "the file is written when the job has finished; add --wait, or use "
      "results JOB --csv later"));
  RETURN_IF_ERROR(
      NoEffect(!f.wait, {{"--wait-timeout", f.wait_timeout_s.has_value()}}, "it limits --wait"));
  if (f.wait_timeout_s && !(*f.wait_timeout_s > 0)) {
    return absl::InvalidArgumentError("--wait-timeout wants seconds above 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFlagRules(const SubmitFlags& flags) {
  RETURN_IF_ERROR(CheckExclusive(flags));
  return CheckOutput(flags);
}

}  // namespace dynbench::cli
