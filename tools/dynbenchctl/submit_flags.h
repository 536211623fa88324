// The flags of `submit` and `plan` as they were typed. An unset optional, an empty list or a false
// switch is a flag that was not given. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/dynbenchctl/command_tree.h"

namespace dynbench::cli {

struct SubmitFlags {
  // What.
  std::optional<std::string> suite, preset;
  bool inference = false, training = false;
  bool performance = false, accuracy = false, tolerance = false, find_batch_sizes = false;
  std::vector<std::string> mode, test;
  std::vector<std::string> models, only, filter, exclude, exclude_exact;
  bool no_skip = false, fast = false;

  // With what.
  std::vector<std::string> configuration, environment, start;
  std::optional<std::string> profile, precision, weights, amp_dtype;
  bool float16 = false, bfloat16 = false, float32 = false, amp = false;
  std::vector<std::string> device, set_env;
  bool cold_start_latency = false, warm_start_latency = false;

  // Compiler.
  std::optional<std::string> backend, inductor_compile_mode, quantization;
  bool inductor = false, nothing = false;
  bool export_program = false, export_aot_inductor = false, export_nativert = false;
  bool torchscript_jit_trace = false, aot_precompile = false;
  bool disable_cudagraphs = false, freezing = false, cpp_wrapper = false, max_autotune = false;
  bool nopython = false, dynamic_shapes = false, dynamic_batch_only = false;
  bool unbacked_batch_only = false, compare_backed_unbacked = false;
  bool disable_split_reductions = false, disable_persistent_reductions = false;
  bool disable_divisible_by_16 = false, compiled_autograd = false, caching_precompile = false;
  bool suppress_errors = false, specialize_int = false, propagate_real_tensors = false;
  std::vector<std::string> inductor_config, dynamo_config, functorch_config;

  // The model and its step.
  std::optional<std::string> optimizer, part, generation;
  std::optional<int> layers, prompt_length;
  bool use_eval_mode = false, activation_checkpointing = false, channels_last = false;
  bool multiprocess = false, ddp = false, fsdp = false;
  std::optional<int> world_size;
  std::optional<std::string> optimize_ddp_mode;

  // Measuring.
  std::optional<int> batch_size, repeat, iterations, iterations_per_run, threads, instances;
  std::optional<std::string> batch_size_file, target_precision, precision_budget;
  std::optional<double> timeout_s;
  bool randomize_input = false, collect_outputs = false, deterministic = false;
  bool warm_peak_memory = false, cache_lookup = false;

  // Judging.
  std::optional<double> accuracy_tolerance;
  bool cosine = false, skip_accuracy_check = false, batch_invariant = false, minify = false;
  bool no_translation_validation = false;
  std::optional<std::string> save_outputs_to, compare_outputs_with;

  // Looking inside.
  bool explain = false, print_graph_breaks = false, log_graph_breaks = false;
  bool profiler_trace = false, snapshot_memory = false, log_operator_inputs = false;
  // Upstream's switches for what every run does here; accepted with a note.
  bool stats = false, timing = false, progress = false, verbose = false, print_memory = false;
  bool print_compilation_time = false, print_dataframe_summary = false;

  // Splitting.
  std::optional<int> total_partitions, partition_id;
  std::optional<std::string> partition_policy;

  // Who runs it.
  std::optional<std::string> engine, scripts;
  std::vector<std::string> command;  // what follows "--"

  // Pairs.
  std::optional<std::string> base, fresh, budget, rounds;
  std::optional<int64_t> seed;

  // Afterwards.
  std::optional<std::string> output, output_directory, label, tag, baseline;
  std::optional<int> priority;
  std::vector<std::string> require;
  std::optional<std::string> deadline, unplaceable_grace;
  bool fail_unplaceable = false;
  // Of plan alone.
  bool simulate = false;
  std::optional<int64_t> job;
  std::optional<int> extra_slots;
  bool disable_output = false, dump_raw_metrics = false, aot_autograd_stats = false;
  bool wait = false, dry_run = false;
  std::optional<double> wait_timeout_s;
};

// Adds all flags to `verb` ("submit" or "plan"; the latter has no --wait and no --dry-run). `flags`
// must outlive the parse.
void AddSubmitFlags(CommandTree& tree, CLI::App* verb, SubmitFlags* flags);

}  // namespace dynbench::cli
