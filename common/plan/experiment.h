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
  std::string backend = "inductor";  // a torch.compile backend, or "eager" for no compiler
  std::string compile_mode;          // torch.compile(mode=); empty = none
  bool fullgraph = false;            // upstream's --nopython
  bool cudagraphs = false;
  bool freezing = false;
  bool cpp_wrapper = false;
  bool max_autotune = false;
  bool dynamic_shapes = false;
  bool dynamic_batch_only = false;
  // "key" -> "value" as typed by the user; the runner types them from the current value and refuses
  // an unknown key. `inductor_config` also holds per-model suite rules (emulate_precision_casts).
  std::map<std::string, std::string> inductor_config;
  std::map<std::string, std::string> dynamo_config;

  bool operator==(const CompileOptions&) const = default;
};

// Where the model comes from.
struct ModelSource {
  std::string loader;       // "timm" or "path"
  std::string name;         // what the loader is asked for: the TIMM name, or the class in the file
  std::string file_sha256;  // loader "path": content address of the model file; else empty
  std::string file_name;    // loader "path": the file's own name, for people; never used as a path

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

  bool operator==(const AccuracyRules&) const = default;
};

struct Experiment {
  std::string suite;
  std::string model;
  Mode mode = Mode::kInference;
  Test test = Test::kPerformance;
  std::string configuration = "default";  // name of the configuration, or "custom" for bare flags
  CompileOptions options;
  Precision precision = Precision::kBf16;
  std::string device = "cpu";  // torch device type
  std::string environment = "default";
  std::string profile = "default";
  Start start = Start::kCold;
  Weights weights = Weights::kAuto;

  ModelSource source;
  int batch_size = 0;  // 0: the model file decides (loader "path" without --batch-size)
  AccuracyRules accuracy;
  double loss_divisor = 1;

  int repeat = 30;             // timed pairs
  int iterations = 2;          // model steps of one accuracy run
  int iterations_per_run = 1;  // calls of one sample
  int threads = 0;             // 0: as many as the slot has cores
  int64_t timeout_ms = 2'000'000;
  bool channels_last = false;
  bool randomize_input = false;
  std::map<std::string, std::string> set_env;  // allow-listed variables for this experiment alone

  int partition = 0;   // index of the partition it was planned into; dynamic: 0
  std::string output;  // name of the CSV that this row goes to, as given; may be empty

  // Set when the plan itself decides the experiment: outcome kSkipped with its reason.
  std::optional<Outcome> planned_outcome;
  std::string reason;

  bool operator==(const Experiment&) const = default;
};

// The canonical JSON text: keys sorted, no blanks, every field present.
std::string ToJson(const Experiment& experiment);

// Reads the canonical form back. InvalidArgument names the key that is missing, unknown or of the
// wrong type.
absl::StatusOr<Experiment> ExperimentFromJson(std::string_view text);

// The public JSON object of design section 15 ({suite, model, mode, test, configuration, precision,
// device, environment, start, batch_size, partition, output, outcome, reason}) and, beyond it,
// profile, options, tolerance (null but for accuracy), weights, repeat and threads.
nlohmann::json ToPublicJson(const Experiment& experiment);

// The key of what may be compared over time: everything but the environment, the partition, the
// output and the plan's outcome. The host's part (device model, effective batch, weights, cores) is
// added by whoever knows it. 16 hexadecimal digits of the SHA-256 of the canonical JSON.
std::string SeriesKey(const Experiment& experiment);

// Short name for people: "timm/mobilenetv2_100 inference performance bfloat16 default".
std::string DisplayName(const Experiment& experiment);

}  // namespace dynbench::plan
