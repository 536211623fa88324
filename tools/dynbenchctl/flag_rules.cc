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

absl::Status CheckWhat(const SubmitFlags& f) {
  RETURN_IF_ERROR(AtMostOne({{"--float32", f.float32},
                             {"--bfloat16", f.bfloat16},
                             {"--float16", f.float16},
                             {"--amp", f.amp},
                             {"--precision", f.precision.has_value()}},
                            "a job has one precision; submit one job for each"));
  RETURN_IF_ERROR(AtMostOne(
      {{"--inference", f.inference}, {"--training", f.training}, {"--mode", !f.mode.empty()}},
      "for both modes use --mode inference,training"));
  RETURN_IF_ERROR(AtMostOne({{"--performance", f.performance},
                             {"--accuracy", f.accuracy},
                             {"--tolerance", f.tolerance},
                             {"--test", !f.test.empty()}},
                            "leave them out for performance and accuracy, which is the default, or "
                            "use --test with commas"));
  RETURN_IF_ERROR(AtMostOne({{"--find-batch-sizes", f.find_batch_sizes},
                             {"--tolerance", f.tolerance},
                             {"--test", !f.test.empty()}},
                            "finding batch sizes is a test of its own"));
  RETURN_IF_ERROR(AtMostOne({{"--cold-start-latency", f.cold_start_latency},
                             {"--warm-start-latency", f.warm_start_latency},
                             {"--start", !f.start.empty()}},
                            "for several starts use --start cold,warm"));
  return NoEffect(f.precision.value_or("") != "amp" && !f.amp &&
                      (f.precision || f.float32 || f.bfloat16 || f.float16),
                  {{"--amp-dtype", f.amp_dtype.has_value()}}, "it is for --amp");
}

// Upstream's "experiment" group: what is compared with eager.
absl::Status CheckCompiler(const SubmitFlags& f) {
  RETURN_IF_ERROR(AtMostOne({{"--inductor", f.inductor},
                             {"--backend", f.backend.has_value()},
                             {"--nothing", f.nothing},
                             {"--quantization", f.quantization.has_value()},
                             {"--export", f.export_program},
                             {"--export-aot-inductor", f.export_aot_inductor},
                             {"--export-nativert", f.export_nativert},
                             {"--torchscript-jit-trace", f.torchscript_jit_trace},
                             {"--aot-precompile", f.aot_precompile},
                             {"--find-batch-sizes", f.find_batch_sizes}},
                            "each says what is compared with eager; submit one job for each"));
  RETURN_IF_ERROR(AtMostOne({{"--dynamic-batch-only", f.dynamic_batch_only},
                             {"--unbacked-batch-only", f.unbacked_batch_only},
                             {"--compare-backed-unbacked", f.compare_backed_unbacked}},
                            "--compare-backed-unbacked submits both"));
  return NoEffect(f.accuracy, {{"--suppress-errors", f.suppress_errors}},
                  "the accuracy test switches it off, as upstream's does");
}

absl::Status CheckModel(const SubmitFlags& f) {
  RETURN_IF_ERROR(AtMostOne({{"--ddp", f.ddp}, {"--fsdp", f.fsdp}}, "a model has one wrapper"));
  return NoEffect(f.generation.value_or("") == "forward",
                  {{"--prompt-length", f.prompt_length.has_value()}},
                  "one forward pass has no prompt");
}

absl::Status CheckEngine(const SubmitFlags& f) {
  const std::string engine = f.engine.value_or("native");
  if (engine == "script" && !f.scripts) {
    return absl::InvalidArgumentError(
        "--engine script needs --scripts DIR: the folder of upstream's scripts on the workers");
  }
  if (engine == "command" && f.command.empty()) {
    return absl::InvalidArgumentError(
        "--engine command needs the program and its arguments after --, e.g. --engine command -- "
        "./mybench {output}");
  }
  if (engine != "command" && !f.command.empty()) {
    return absl::InvalidArgumentError("'" + f.command.front() +
                                      "' follows --: a program needs --engine command");
  }
  return NoEffect(engine != "script", {{"--scripts", f.scripts.has_value()}},
                  "it is for --engine script");
}

absl::Status CheckOutput(const SubmitFlags& f) {
  RETURN_IF_ERROR(
      AtMostOne({{"--output", f.output.has_value()}, {"--disable-output", f.disable_output}},
                "write the file or do not"));
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
      "results JOB --output later"));
  RETURN_IF_ERROR(NoEffect(!f.output && !f.output_directory,
                           {{"--baseline", f.baseline.has_value()},
                            {"--dump-raw-metrics", f.dump_raw_metrics},
                            {"--generate-aot-autograd-stats", f.aot_autograd_stats}},
                           "it is written beside --output"));
  RETURN_IF_ERROR(
      NoEffect(f.accuracy || f.tolerance || f.find_batch_sizes,
               {{"--baseline", f.baseline.has_value()}, {"--dump-raw-metrics", f.dump_raw_metrics}},
               "it is for the performance test"));
  RETURN_IF_ERROR(
      NoEffect(!f.wait, {{"--wait-timeout", f.wait_timeout_s.has_value()}}, "it limits --wait"));
  if (f.wait_timeout_s && !(*f.wait_timeout_s > 0)) {
    return absl::InvalidArgumentError("--wait-timeout wants seconds above 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFlagRules(const SubmitFlags& flags) {
  RETURN_IF_ERROR(CheckWhat(flags));
  RETURN_IF_ERROR(CheckCompiler(flags));
  RETURN_IF_ERROR(CheckModel(flags));
  RETURN_IF_ERROR(CheckEngine(flags));
  return CheckOutput(flags);
}

}  // namespace dynbench::cli
