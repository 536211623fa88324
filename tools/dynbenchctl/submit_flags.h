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
  std::optional<std::string> suite;
  bool inference = false, training = false, performance = false, accuracy = false;
  std::vector<std::string> mode, test;
  std::vector<std::string> models, only, filter, exclude, exclude_exact;
  bool no_skip = false, fast = false;

  // With what.
  std::vector<std::string> configuration, environment, start;
  std::optional<std::string> profile, precision, weights;
  bool float16 = false, bfloat16 = false, float32 = false, amp = false;
  std::vector<std::string> device;
  bool cold_start_latency = false, warm_start_latency = false;

  // Compiler.
  std::optional<std::string> backend, inductor_compile_mode;
  bool inductor = false, disable_cudagraphs = false, freezing = false, cpp_wrapper = false;
  bool nopython = false, dynamic_shapes = false, dynamic_batch_only = false;
  std::vector<std::string> inductor_config, dynamo_config, set_env;

  // Measuring.
  std::optional<int> batch_size, repeat, iterations, iterations_per_run, threads;
  std::optional<std::string> batch_size_file;
  std::optional<double> timeout_s;
  bool channels_last = false, randomize_input = false;

  // Splitting.
  std::optional<int> total_partitions, partition_id;
  std::optional<std::string> partition_policy;

  // Afterwards.
  std::optional<std::string> output, output_directory, label;
  std::optional<int> priority;
  bool disable_output = false;
  bool wait = false, dry_run = false;
  std::optional<double> wait_timeout_s;
};

// Adds all flags to `verb` ("submit" or "plan"; the latter has no --wait and no --dry-run). `flags`
// must outlive the parse.
void AddSubmitFlags(CommandTree& tree, CLI::App* verb, SubmitFlags* flags);

}  // namespace dynbench::cli
