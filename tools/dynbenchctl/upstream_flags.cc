#include "tools/dynbenchctl/upstream_flags.h"

#include <map>

namespace dynbench::cli {
namespace {

constexpr char kLater[] = "comes with a later version of dynbench";

// Flag -> reason. Spellings are upstream's (docs/upstream-differences.md).
const std::map<std::string, std::string, std::less<>>& Reasons() {
  static const auto* const reasons = new std::map<std::string, std::string, std::less<>>{
      // Other experiments than "compile and time or compare".
      {"--aot-precompile", kLater},
      {"--baseline", kLater},
      {"--batch-invariant", kLater},
      {"--compare-backed-unbacked", kLater},
      {"--compare-model-outputs-with", kLater},
      {"--export", kLater},
      {"--export-aot-inductor", kLater},
      {"--export-nativert", kLater},
      {"--export-perfdoctor", kLater},
      {"--export-profiler-trace", kLater},
      {"--find-batch-sizes", kLater},
      {"--hf-inference-mode", kLater},
      {"--minify", kLater},
      {"--optimus", kLater},
      {"--profile-details", kLater},
      {"--profiler-trace-name", kLater},
      {"--profiler_trace_name", kLater},
      {"--profile_dynamo_cache_lookup", kLater},
      {"--prompt-length", kLater},
      {"--quantization", kLater},
      {"--recompile-profiler", kLater},
      {"--recompile_profiler", kLater},
      {"--save-model-outputs-to", kLater},
      {"--snapshot-memory", kLater},
      {"--snapshot_memory", kLater},
      {"--tolerance", kLater},
      {"--torchscript-jit-trace", kLater},
      {"--use-warm-peak-memory", kLater},
      {"--use_warm_peak_memory", kLater},
      // Distributed training.
      {"--ddp", kLater},
      {"--distributed-master-port", kLater},
      {"--fsdp", kLater},
      {"--multiprocess", kLater},
      {"--optimize-ddp-mode", kLater},
      // Model state and shapes.
      {"--amp-dtype", kLater},
      {"--caching-precompile", kLater},
      {"--compiled-autograd", kLater},
      {"--cosine", kLater},
      {"--deterministic", kLater},
      {"--enable-activation-checkpointing", kLater},
      {"--part", kLater},
      {"--propagate-real-tensors", kLater},
      {"--skip-accuracy-check", kLater},
      {"--specialize-int", kLater},
      {"--unbacked-batch-only", kLater},
      {"--use-eval-mode", kLater},
      // Said with another flag here.
      {"--device-index",
       "which device runs what is the scheduler's; give a worker its devices with --share or "
       "--pool"},
      {"--disable-divisible-by-16", "use --inductor-config triton.divisible_by_16=False"},
      {"--disable-persistent-reductions",
       "use --inductor-config triton.persistent_reductions=False"},
      {"--disable-split-reductions", "use --inductor-config split_reductions=False"},
      {"--per_process_memory_fraction", "a slot's memory limit is the worker's"},
      {"--suppress-errors", "use --dynamo-config suppress_errors=True"},
      {"--tag", "use --label"},
      // Always on, so that asking for it has no effect.
      {"--collect-outputs", "has no effect here: gradients are part of every timed training step"},
      {"--dump-raw-metrics", "every sample is stored already: see results JOB --json --samples"},
      {"--explain", "graph and break counts are columns of every result already"},
      {"--generate-aot-autograd-stats", "the counts are columns of every result already"},
      {"--print-compilation-time", "compile seconds are a column of every result already"},
      {"--print-dataframe-summary", "results JOB prints the table"},
      {"--print-memory", "memory is a column of every result already"},
      {"--progress", "progress is shown already; see also watch JOB"},
      {"--retain-output",
       "has no effect here: --output is written once, when the job has finished"},
      {"--stats", "the counters are columns of every result already"},
      {"--timing", "each phase's duration is in results JOB --json already"},
      {"--verbose", "logs JOB MODEL shows everything that was printed"},
      {"-v", "logs JOB MODEL shows everything that was printed"},
      {"--log-graph-breaks", kLater},
      {"--log-operator-inputs", kLater},
      {"--print-graph-breaks", kLater},
      // Roles of upstream's own CI.
      {"--ci", "is a role of upstream's own CI; use --start cold, which is the default here"},
      {"--dashboard", "is a role of upstream's own CI; there is nothing to switch on here"},
      {"--diff-branch",
       "would check out another branch in your tree; compare two environments instead"},
      {"--no-translation-validation",
       "has no effect here: translation validation is off unless --dynamo-config switches it on"},
      // Dead or legacy in upstream itself.
      {"--coverage", "is read by nothing in upstream's scripts"},
      {"--inductor-settings", "is read by nothing in upstream's scripts"},
      {"--log-conv-args", "is read by nothing in upstream's scripts"},
      {"--nvfuser", "is read by nothing in upstream's scripts"},
      {"--skip-fp64-check", "is read by nothing in upstream's scripts"},
      {"--speedup-fx2trt", "is read by nothing in upstream's scripts"},
      {"--speedup-fx2trt-fp16", "is read by nothing in upstream's scripts"},
      {"--nnc", "belongs to a fuser that PyTorch no longer has"},
      {"--nothing", "measures a compiler that does nothing; use --backend eager"},
      {"--overhead", "use --backend eager, whose speedup is the overhead"},
      {"--prims-nvfuser", "belongs to a fuser that PyTorch no longer has"},
      {"--print-aten-ops",
       "prints instead of measuring; use --set-env TORCH_LOGS=aot_graphs and logs"},
      {"--print-fx", "prints instead of measuring; use --set-env TORCH_LOGS=graph_code and logs"},
      {"--speedup-dynamo-ts", "belongs to a backend that PyTorch no longer has; use --backend"},
      {"--trace-on-xla", "XLA devices are not supported"},
      {"--xla", "XLA devices are not supported"},
      {"--xla-tolerance", "XLA devices are not supported"},
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
