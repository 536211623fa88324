#include "tools/dynbenchctl/upstream_flags.h"

#include <map>

namespace dynbench::cli {
namespace {

// Flag -> reason. Spellings are upstream's (docs/upstream-differences.md).
const std::map<std::string, std::string, std::less<>>& Reasons() {
  static const auto* const reasons = new std::map<std::string, std::string, std::less<>>{
      // Said differently here.
      {"--device-index",
       "which device runs what is the scheduler's; give a worker its devices with --share or "
       "--pool"},
      {"--diff-branch",
       "would check out another branch in your tree; make an environment of each branch and use "
       "--environment base,new"},
      {"--distributed-master-port", "each group of processes takes a free port of its own"},
      {"--export-perfdoctor",
       "hands its trace to a tool that is not public; use --export-profiler-trace"},
      {"--optimus",
       "its passes are two dictionaries of inductor's (pre_grad_fusion_options, "
       "post_grad_fusion_options) and kernels that PyTorch does not bring; set them in an "
       "environment of your own and use --backend inductor"},
      {"--overhead",
       "use --backend eager: dynamo without a compiler behind it, whose speedup is the overhead"},
      {"--per_process_memory_fraction",
       "how much of a device a slot may use is the worker's; for the allocator alone write "
       "PYTORCH_CUDA_ALLOC_CONF into a launch profile"},
      {"--print-aten-ops",
       "prints instead of measuring; use --explain, or retry JOB --debug=logs and logs JOB MODEL"},
      {"--print-fx",
       "prints instead of measuring; use --explain, or retry JOB --debug=logs and logs JOB MODEL"},
      {"--profile-details",
       "the trace of --export-profiler-trace has the operators' shapes; for memory use "
       "--snapshot-memory"},
      {"--profiler-trace-name",
       "traces are kept with their experiment under a name of their own; results JOB --json lists "
       "them"},
      {"--profiler_trace_name",
       "traces are kept with their experiment under a name of their own; results JOB --json lists "
       "them"},
      {"--recompile-profiler",
       "recompiles are counted in every result, with the reason of each; see explain JOB MODEL"},
      {"--recompile_profiler",
       "recompiles are counted in every result, with the reason of each; see explain JOB MODEL"},
      {"--retain-output",
       "would append to a file; --output writes it whole, once, when the job has finished: name "
       "another file to keep the old one"},
      {"--speedup-dynamo-ts", "use --backend ts, or --torchscript-jit-trace without dynamo"},
      {"--_print-latency-ms", "milliseconds of both sides are in every result"},
      // Roles of upstream's own CI: each of their rules has a flag of its own.
      {"--ci",
       "is a role of upstream's own CI; its fresh cache is --start cold, the default here, its "
       "optimizers are --optimizer, its batch sizes --batch-size-file"},
      {"--dashboard",
       "is a role of upstream's own CI; with --performance it is --use-warm-peak-memory"},
      // Dead or legacy in upstream itself.
      {"--coverage", "is read by nothing in upstream's scripts; use --explain"},
      {"--inductor-settings", "is read by nothing in upstream's scripts; use --inductor-config"},
      {"--log-conv-args", "is read by nothing in upstream's scripts; use --log-operator-inputs"},
      {"--nnc", "belongs to a fuser that PyTorch no longer has; use --backend inductor"},
      {"--nvfuser", "is read by nothing in upstream's scripts; use --backend inductor"},
      {"--prims-nvfuser", "belongs to a fuser that PyTorch no longer has; use --backend inductor"},
      {"--skip-fp64-check",
       "is read by nothing in upstream's scripts; --cosine judges without the fp64 reference"},
      {"--speedup-fx2trt", "is read by nothing in upstream's scripts; use --backend tensorrt"},
      {"--speedup-fx2trt-fp16",
       "is read by nothing in upstream's scripts; use --backend tensorrt --float16"},
      {"--trace-on-xla", "XLA devices are not supported; use --backend openxla"},
      {"--xla", "XLA devices are not supported; use --backend openxla"},
      {"--xla-tolerance", "XLA devices are not supported; use --accuracy-tolerance"},
  };
  return *reasons;
}

}  // namespace

std::optional<std::string> WhyRefused(std::string_view flag) {
  const auto found = Reasons().find(flag);
  if (found == Reasons().end()) return std::nullopt;
  return found->first + ": " + found->second;
}

std::vector<std::string> RefusedFlags() {
  std::vector<std::string> flags;
  for (const auto& [flag, reason] : Reasons()) flags.push_back(flag);
  return flags;
}

}  // namespace dynbench::cli
