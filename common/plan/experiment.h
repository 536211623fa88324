// An experiment: one planned measurement, with every value that a rule decided already in it, so
// that a worker needs no suite file. Its JSON form (below) is canonical: the store keeps it, the
// protocol carries it and the runner reads it, byte for byte the same text.
//
// Plain data; thread-compatible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/words.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::plan {

// What is done to the model: the compiler and its options.
struct CompileOptions {
  // A name of torch._dynamo.list_backends() ("eager" is dynamo without a compiler behind it), or
  // "nothing": the callable is measured against itself, uncompiled (upstream's --nothing).
  std::string backend = "inductor";
  std::string compile_mode;  // torch.compile(mode=); empty = none
  bool fullgraph = false;    // upstream's --nopython
  bool cudagraphs = false;
  bool freezing = false;
  bool cpp_wrapper = false;
  bool max_autotune = false;
  bool dynamic_shapes = false;
  bool dynamic_batch_only = false;
  bool unbacked_batch_only = false;  // implies dynamic_shapes; the batch is an unbacked symbol
  // Instead of torch.compile: "" | "export" | "aot_inductor" | "nativert" | "torchscript" |
  // "aot_precompile". Inference only; `backend` is then "inductor", and its options count where the
  // path compiles with inductor (aot_inductor, aot_precompile).
  std::string ahead_of_time;
  // torchao scheme: "" | "int8dynamic" | "int8weightonly" | "int4weightonly" | "autoquant" |
  // "noquant" (upstream's --quantization); compiled by inductor, compared with unquantized eager.
  std::string quantization;
  // "key" -> "value" as typed by the user; the runner types them from the current value and refuses
  // an unknown key. `inductor_config` also holds per-model suite rules (emulate_precision_casts).
  std::map<std::string, std::string> inductor_config;
  std::map<std::string, std::string> dynamo_config;
  std::map<std::string, std::string> functorch_config;

  bool operator==(const CompileOptions&) const = default;
};

// Where the model comes from.
struct ModelSource {
  std::string loader;  // "timm", "huggingface", "torchbench" or "path"
  std::string name;    // what the loader is asked for: the suite's name, or the class in the file
  std::string file_sha256;  // loader "path": content address of the model file; else empty
  std::string file_name;    // loader "path": the file's own name, for people; never used as a path
  // What else the loader needs, as the suite's `parameters` say (docs/suites.md lists them by
  // loader): HuggingFace's "class", "config_class", "config" (JSON), "sequence_length", "kind", …
  std::map<std::string, std::string> parameters = {};

  bool operator==(const ModelSource&) const = default;
};

// Accuracy rules of the suite for this model, test and precision (upstream.md 2.5, section 4).
struct AccuracyRules {
  double tolerance = 1e-3;  // atol = rtol
  bool cosine = false;
  bool larger_multiplier_for_small_tensors = false;
  bool eager_not_deterministic = false;  // pass_due_to_skip after the compiled run
  bool non_deterministic = false;        // any of pass / fail_accuracy / differ is recorded as pass
  int compiled_runs = 1;                 // majority decides when greater
  double iou_threshold = 0;              // > 0: bool masks are compared by intersection over union
  bool deterministic_algorithms = true;  // torch.use_deterministic_algorithms
  bool skip_check = false;               // a mismatch is pass_due_to_skip (--skip-accuracy-check)
  std::string large_model;               // not empty: pass_due_to_skip, nothing runs; the reason

  bool operator==(const AccuracyRules&) const = default;
};

struct Experiment {
  std::string suite;
  std::string model;
  Mode mode = Mode::kInference;
  Test test = Test::kPerformance;
  std::string configuration = "default";  // name of the configuration, or "custom" for bare flags
  CompileOptions options;
  Precision precision = Precision::kBf16;            // as asked for
  Precision effective_precision = Precision::kBf16;  // what a suite's rule made of it
  std::string amp_dtype;       // amp: "bfloat16" | "float16"; empty: the device's default
  std::string device = "cpu";  // torch device type
  std::string environment = "default";
  std::string profile = "default";
  Start start = Start::kCold;
  Weights weights = Weights::kAuto;

  ModelSource source;
  int batch_size = 0;  // 0: the model file decides (loader "path" without --batch-size)
  AccuracyRules accuracy;
  double loss_divisor = 1;
  std::string optimizer = "none";   // training: "none" | "adam" | "sgd"
  std::string model_mode = "eval";  // "train" | "eval": what nn.Module is put into
  bool activation_checkpointing = false;
  bool mark_batch = true;    // false: exempt from dynamic_batch_only and unbacked_batch_only
  int layers = 0;            // > 0: that many hidden layers instead of the model's own
  std::string part;          // torchbench: a part of the model (--part)
  std::string generation;    // language models: "" (one forward) | "generate" | "prefill"
  int prompt_length = 0;     // of generate and prefill; 0: the suite's
  std::string distributed;   // "" | "multiprocess" | "ddp" | "fsdp"
  int world_size = 1;        // processes
  std::string optimize_ddp;  // dynamo's optimize_ddp; empty: its default
  std::vector<std::string> requirements;  // "torch>=2.10": what the environment must have

  std::string engine = "native";  // "native" | "script" | "command"
  // Engines script and command: the argument vector, byte for byte but for the placeholders that
  // the worker fills in (common/plan/script_command.h).
  std::vector<std::string> command;

  int repeat = 30;             // timed pairs
  int iterations = 2;          // model steps of one accuracy run
  int iterations_per_run = 1;  // calls of one sample
  int threads = 0;             // 0: as many as the slot has cores
  int64_t timeout_ms = 2'000'000;
  bool channels_last = false;
  bool randomize_input = false;
  bool deterministic = false;         // determinism set-up in the performance test too
  bool batch_invariant = false;       // accuracy: compiled outputs at smaller batches, bitwise
  std::string save_outputs_to;        // folder on the worker's host; bitwise comparison across
  std::string compare_outputs_with;   // builds (upstream's flags of these names)
  bool minify = false;                // on fail_accuracy: run the minifier, keep its repro
  bool collect_outputs = false;       // keep gradients while timing
  bool warm_peak_memory = false;      // peak of one extra call after warm-up
  bool measure_cache_lookup = false;  // dynamo's cache look-up latency
  bool explain = false;               // dynamo's graphs, breaks and operators, from a further run
  // Diagnostic rerun (`retry --debug`): "trace", "logs", "compile_debug", "profiler",
  // "memory_snapshot", "operator_inputs". Never mixed with timings: no samples are kept.
  std::vector<std::string> diagnostics;
  // Performance: pairs beyond `repeat` until half of the 95 % interval of the speedup is at most
  // this share of it (0: none), for at most so long. More samples of the same thing: not part of
  // the series.
  double target_precision = 0;
  int64_t precision_budget_ms = 0;
  int instances = 1;  // performance: this many pinned copies at once on disjoint cores of the slot
  std::map<std::string, std::string> set_env;  // allow-listed variables for this experiment alone

  int partition = 0;   // index of the partition it was planned into; dynamic: 0
  std::string output;  // name of the CSV that this row goes to, as given; may be empty

  // Of a pair job (common/plan/pairs.h); elsewhere 0 and empty. Not part of the series.
  int pair = 0;      // its pair in the job, from 1
  int round = 0;     // its round in the pair, from 1
  std::string side;  // "base" | "new"
  int zygote = 0;    // which of the environment's zygotes it is forked from

  // Set when the plan itself decides the experiment: outcome kSkipped with its reason.
  std::optional<Outcome> planned_outcome;
  std::string reason;

  bool operator==(const Experiment&) const = default;
};

// The canonical JSON text: keys sorted, no blanks, every field present (when written).
std::string ToJson(const Experiment& experiment);

// Reads the canonical form back; a key that is missing keeps its default (an older version wrote
// it). InvalidArgument names the key that is unknown or of the wrong type.
absl::StatusOr<Experiment> ExperimentFromJson(std::string_view text);

// The public JSON object of design section 15 ({suite, model, mode, test, configuration, precision,
// device, environment, start, batch_size, partition, output, outcome, reason}) and, beyond it,
// profile, options, tolerance (null but for accuracy), weights, repeat, threads,
// effective_precision, optimizer and engine; with another engine than native also command, with a
// target also target_precision and precision_budget_s.
nlohmann::json ToPublicJson(const Experiment& experiment);

// The key of what may be compared over time: everything but the environment, the partition, the
// output, the place in a pair, the plan's outcome, the limits (time, precision and its budget) and
// the words of a script's command. The host's
// part (device model, effective batch, weights, cores) is added by whoever knows it. 16 hexadecimal
// digits of the SHA-256 of the canonical JSON less the fields that have their default.
std::string SeriesKey(const Experiment& experiment);

// Short name for people: "timm/mobilenetv2_100 inference performance bfloat16 default", in a pair
// job with ", round 2 base" behind it.
std::string DisplayName(const Experiment& experiment);

}  // namespace dynbench::plan
