// Method: the whole list of upstream's options; each must either be taken by submit or be refused
// with a reason, and none both, so that no dashboard command is ever swallowed silently.
#include "tools/dynbenchctl/upstream_flags.h"

#include <gtest/gtest.h>

#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {
namespace {

// Upstream's parser, all spellings (docs/upstream-differences.md).
constexpr const char* kUpstream[] = {"--accuracy",
                                     "--amp",
                                     "--amp-dtype",
                                     "--aot-precompile",
                                     "--backend",
                                     "--baseline",
                                     "--batch-invariant",
                                     "--batch-size",
                                     "--batch-size-file",
                                     "--batch_size",
                                     "--bfloat16",
                                     "--caching-precompile",
                                     "--channels-last",
                                     "--ci",
                                     "--cold-start-latency",
                                     "--cold_start_latency",
                                     "--collect-outputs",
                                     "--compare-backed-unbacked",
                                     "--compare-model-outputs-with",
                                     "--compiled-autograd",
                                     "--cosine",
                                     "--coverage",
                                     "--dashboard",
                                     "--ddp",
                                     "--deterministic",
                                     "--device",
                                     "--device-index",
                                     "--devices",
                                     "--diff-branch",
                                     "--disable-cudagraphs",
                                     "--disable-divisible-by-16",
                                     "--disable-output",
                                     "--disable-persistent-reductions",
                                     "--disable-split-reductions",
                                     "--distributed-master-port",
                                     "--dump-raw-metrics",
                                     "--dynamic-batch-only",
                                     "--dynamic-shapes",
                                     "--enable-activation-checkpointing",
                                     "--exclude",
                                     "--exclude-exact",
                                     "--explain",
                                     "--export",
                                     "--export-aot-inductor",
                                     "--export-nativert",
                                     "--export-perfdoctor",
                                     "--export-profiler-trace",
                                     "--fast",
                                     "--filter",
                                     "--find-batch-sizes",
                                     "--float16",
                                     "--float32",
                                     "--freezing",
                                     "--fsdp",
                                     "--generate-aot-autograd-stats",
                                     "--hf-inference-mode",
                                     "--inductor",
                                     "--inductor-compile-mode",
                                     "--inductor-config",
                                     "--inductor-settings",
                                     "--inference",
                                     "--iterations",
                                     "--iterations-per-run",
                                     "--log-conv-args",
                                     "--log-graph-breaks",
                                     "--log-operator-inputs",
                                     "--minify",
                                     "--multiprocess",
                                     "--nnc",
                                     "--no-skip",
                                     "--no-translation-validation",
                                     "--nopython",
                                     "--nothing",
                                     "--nvfuser",
                                     "--only",
                                     "--optimize-ddp-mode",
                                     "--optimus",
                                     "--output",
                                     "--output-directory",
                                     "--overhead",
                                     "--part",
                                     "--partition-id",
                                     "--per_process_memory_fraction",
                                     "--performance",
                                     "--prims-nvfuser",
                                     "--print-aten-ops",
                                     "--print-compilation-time",
                                     "--print-dataframe-summary",
                                     "--print-fx",
                                     "--print-graph-breaks",
                                     "--print-memory",
                                     "--profile-details",
                                     "--profile_dynamo_cache_lookup",
                                     "--profiler-trace-name",
                                     "--profiler_trace_name",
                                     "--progress",
                                     "--prompt-length",
                                     "--propagate-real-tensors",
                                     "--quantization",
                                     "--quiet",
                                     "--randomize-input",
                                     "--recompile-profiler",
                                     "--recompile_profiler",
                                     "--repeat",
                                     "--retain-output",
                                     "--save-model-outputs-to",
                                     "--skip-accuracy-check",
                                     "--skip-fp64-check",
                                     "--snapshot-memory",
                                     "--snapshot_memory",
                                     "--specialize-int",
                                     "--speedup-dynamo-ts",
                                     "--speedup-fx2trt",
                                     "--speedup-fx2trt-fp16",
                                     "--stats",
                                     "--suppress-errors",
                                     "--tag",
                                     "--threads",
                                     "--timeout",
                                     "--timing",
                                     "--tolerance",
                                     "--torchscript-jit-trace",
                                     "--total-partitions",
                                     "--trace-on-xla",
                                     "--training",
                                     "--unbacked-batch-only",
                                     "--use-eval-mode",
                                     "--use-warm-peak-memory",
                                     "--use_warm_peak_memory",
                                     "--verbose",
                                     "--warm-start-latency",
                                     "--warm_start_latency",
                                     "--xla",
                                     "--xla-tolerance",
                                     "-c",
                                     "-d",
                                     "-f",
                                     "-k",
                                     "-n",
                                     "-q",
                                     "-t",
                                     "-v",
                                     "-x"};

class UpstreamFlags : public ::testing::Test {
 protected:
  UpstreamFlags() {
    verb_ = tree_.AddVerb("submit", "", [](Context&) { return ExitCode::kDone; });
    AddSubmitFlags(tree_, verb_, &flags_);
  }
  bool Taken(const std::string& flag) {
    return verb_->get_option_no_throw(flag) != nullptr ||
           tree_.root().get_option_no_throw(flag) != nullptr;
  }

  CommandTree tree_;
  SubmitFlags flags_;
  CLI::App* verb_;
};

TEST_F(UpstreamFlags, EachIsTakenOrRefusedWithAReason) {
  for (const char* flag : kUpstream) {
    EXPECT_NE(Taken(flag), WhyRefused(flag).has_value()) << flag;
  }
}

TEST_F(UpstreamFlags, NothingIsBothTakenAndRefused) {
  for (const std::string& flag : RefusedFlags()) {
    EXPECT_FALSE(Taken(flag)) << flag;
    EXPECT_EQ(WhyRefused(flag)->rfind(flag + ": ", 0), 0U) << flag;
  }
}

}  // namespace
}  // namespace dynbench::cli
