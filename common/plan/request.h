// What a person asked for: the flags of `submit`, before any rule is applied.
//
// It travels to the coordinator as JSON and is kept with the job, so everything that expansion
// needs from the client's disk is in it: a user's suite file is parsed by the client
// (`inline_suite`) and the model files that it names were uploaded before, their content addresses
// being in `model_files`.
//
// Plain data; thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/experiment.h"
#include "common/plan/suite.h"
#include "common/plan/words.h"

namespace dynbench::plan {

// Time for pairs beyond --repeat, as long as other lanes stand still at most.
inline constexpr int64_t kPrecisionBudgetMs = 30'000;
inline constexpr int64_t kPrecisionBudgetMaxMs = 600'000;

struct Request {
  std::string suite;  // name of an installed suite; empty with `inline_suite` or a path model
  std::optional<Suite> inline_suite;       // a user's --suite FILE.yaml, already parsed
  std::vector<Mode> modes;                 // empty: inference
  std::vector<Test> tests;                 // empty: performance and accuracy
  std::vector<std::string> models;         // exact names; skip rules hold
  std::vector<std::string> only;           // exact names or a path model; skip rules are bypassed
  std::vector<ModelSource> path_models;    // --only path:…; the files were uploaded before
  std::vector<std::string> filters;        // regexes joined by "or", case-insensitive search
  std::vector<std::string> excludes;       // likewise
  std::vector<std::string> exclude_exact;  // names
  bool no_skip = false;
  bool fast = false;

  std::vector<std::string> configurations;  // names; empty: "default" unless `options` is set
  std::optional<CompileOptions> options;    // bare compiler flags: configuration "custom"
  std::optional<Precision> precision;       // none: bf16 for inference, amp for training
  std::string device;                       // empty: the accelerator if a worker has one, else cpu
  std::vector<std::string> environments;    // empty: "default"
  std::string profile = "default";
  std::vector<Start> starts;  // empty: cold
  Weights weights = Weights::kAuto;

  int batch_size = 0;                      // 0: the suite's
  std::map<std::string, int> batch_sizes;  // --batch-size-file
  int total_partitions = 1;
  int partition_id = -1;  // -1: all partitions
  PartitionPolicy policy = PartitionPolicy::kDynamic;
  int repeat = 30;
  int iterations = 2;
  int iterations_per_run = 1;
  double target_precision = 0;  // a share; 0: none
  int64_t precision_budget_ms = kPrecisionBudgetMs;
  int threads = 0;
  int64_t timeout_ms = 2'000'000;
  bool channels_last = false;
  bool randomize_input = false;
  std::optional<double> tolerance;  // overrides the suite's, accuracy only
  bool cosine = false;              // accuracy by cosine similarity
  std::string amp_dtype;            // "" | "bfloat16" | "float16"
  std::string optimizer;  // "" (the suite's on accelerators, none on CPUs) | adam | sgd | none
  bool use_eval_mode = false;
  bool activation_checkpointing = false;
  int layers = 0;
  std::string part;
  std::string generation;  // "" (the suite's) | "generate" | "prefill" | "forward"
  int prompt_length = 0;
  std::string distributed;  // "" | "multiprocess" | "ddp" | "fsdp"
  int world_size = 0;       // 0: 2 when distributed
  std::string optimize_ddp;
  std::string engine = "native";
  std::string scripts;  // engine script: the folder of upstream's scripts, on the workers
  std::vector<std::string> command;  // engine command: the program and its arguments
  bool deterministic = false;
  bool batch_invariant = false;
  bool skip_accuracy_check = false;
  std::string save_outputs_to;
  std::string compare_outputs_with;
  bool minify = false;
  bool collect_outputs = false;
  bool warm_peak_memory = false;
  bool measure_cache_lookup = false;
  bool explain = false;
  std::vector<std::string> diagnostics;
  int instances = 1;
  std::map<std::string, std::string> set_env;
  std::string output;

  // `inline_suite` with the loader "path": each model's `file`, as the suite spells it, to the
  // SHA-256 under which its bytes were uploaded.
  std::map<std::string, std::string> model_files;

  // The options that were typed, by their long name without dashes ("repeat", "weights",
  // "disable-cudagraphs", …). Only needed where a value may equal the default: an option that is
  // given and has no effect is an error, a default that has none is not.
  std::set<std::string> given;

  // A pair job (common/plan/pairs.h): the environments of its two sides; empty: it is none.
  std::string base, fresh;
  int rounds_min = 3, rounds_max = 12;
  int64_t budget_s = 0;   // slot time that its rounds may take; 0: no limit
  int64_t pair_seed = 0;  // of the order in which the sides of each round are measured

  std::string label;  // free text of the submitter
  std::string user;
  int priority = 0;
  // Where it may run and how long it may wait: common/plan/needs.h.
  std::vector<std::string> require;  // "pool=a100", "torch>=2.13"
  int64_t deadline_unix_ms = 0;      // 0: none
  // Seconds that experiments wait for a worker that could run them to become known at all; -1: the
  // coordinator's, 0: none.
  int64_t unplaceable_grace_s = -1;
};

// Upstream's meaning of bare compiler flags: cudagraphs are on for inductor unless disabled
// (`--backend=inductor` alone). For Request::options; other flags are then set on the result.
CompileOptions UpstreamOptions(const std::string& backend, bool disable_cudagraphs);

// JSON both ways, for the store, `retry` and `repro`. FromJson names the key that is wrong.
std::string ToJson(const Request& request);
absl::StatusOr<Request> RequestFromJson(std::string_view text);

}  // namespace dynbench::plan
