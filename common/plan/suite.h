// A suite as data: models with their rules, read from YAML. docs/suites.md documents the schema.
//
// Every error names file, line and column, the object, the rule it broke and the fix. Duplicate and
// unknown keys are errors (with the nearest known one). Text stays text: nothing is guessed to be a
// number because it looks like one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/nearest.h"
#include "common/plan/words.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::plan {

// When a rule applies. An empty field means "any".
struct Condition {
  std::string device;  // "cpu", "cuda", …
  std::string arch;    // "aarch64", "x86_64"
  std::string mode;    // "training", "inference"
  std::string test;
  bool only_freezing = false;
  std::vector<std::string> precision;  // any of these words, as asked for
  std::string backend;
  std::string ahead_of_time;        // a path, or "any"
  std::optional<bool> cudagraphs;   // in force or not
  std::optional<bool> distributed;  // more than one process or not

  bool operator==(const Condition&) const = default;
};

struct SkipRule {
  Condition when;
  std::string reason;
  bool slow = false;  // applies only under --fast

  bool operator==(const SkipRule&) const = default;
};

// Values that a rule sets where it applies; what is unset stays as it was. Rules are applied in the
// order of the file, those of `defaults` before the model's own.
struct ValueRule {
  Condition when;
  std::string reason;
  std::optional<double> tolerance;
  std::optional<int> batch_size;
  std::optional<std::string> optimizer;   // "adam", "sgd", "none"
  std::optional<Precision> precision;     // the effective one ("force amp", "only fp32")
  std::optional<std::string> amp_dtype;   // "bfloat16", "float16"
  std::optional<std::string> model_mode;  // "train", "eval"
  std::optional<bool> cosine;
  std::optional<bool> cudagraphs;  // false: off where a configuration turns them on

  bool operator==(const ValueRule&) const = default;
};

struct ModelRules {
  std::string name;
  int line = 0;        // in the suite file
  int batch_size = 0;  // performance; divisor applied. 0: the loader decides
  int batch_size_training = 0;
  int batch_size_accuracy = 0;
  double tolerance_inference = 1e-3;
  double tolerance_training = 1e-2;
  double tolerance_freezing = 1e-3;  // inference with freezing
  bool cosine = false;
  bool larger_multiplier_for_small_tensors = false;
  bool eager_not_deterministic_training = false;
  bool eager_not_deterministic_inference = false;
  bool non_deterministic = false;
  double loss_divisor = 1;
  std::string optimizer = "adam";  // training on accelerators
  std::map<std::string, std::string> inductor_config;
  std::vector<SkipRule> skip;
  std::vector<ValueRule> rules;
  std::string large_model;               // accuracy is pass_due_to_skip without a run; the reason
  bool batch_size_fixed = false;         // the model ignores what the user asks for
  int batch_size_accuracy_max = 0;       // 0: none
  int batch_size_batch_invariant = 0;    // accuracy with batch_invariant; 0: batch_size_accuracy
  bool deterministic_algorithms = true;  // false: left off in the accuracy test
  bool mark_batch = true;                // false: exempt from dynamic and unbacked batch
  double iou_threshold = 0;              // > 0: bool masks compared by intersection over union
  int accuracy_runs = 1;                 // compiled runs, majority decides
  // Newer than the list that upstream cuts its slices from: not counted by static partitions.
  bool newer = false;
  std::vector<std::string> requires_versions;     // "timm>=1.0"; key `requires`
  std::map<std::string, std::string> parameters;  // for the loader; docs/suites.md
  std::string file;        // loader "path": path of the model file, relative to the suite file
  std::string class_name;  // loader "path"
  std::string flaky;       // why its accuracy is known to flicker; empty: it is not
  // What compiling it cold took where its suite was measured last; 0: not known. Only the ratio
  // between models matters: the longest begin first on a first night.
  double typical_compile_s = 0;
  // Facts that are shown and never used, e.g. "batch_size_cpu_file" -> "64".
  std::map<std::string, std::string> information;

  bool operator==(const ModelRules&) const = default;
};

struct Suite {
  std::string name;
  std::string loader;  // "timm", "huggingface", "torchbench" or "path"
  std::string description;
  std::string source;  // where its facts are from
  std::string sha256;  // of the file's bytes
  // In the order that static partitions cut: sorted by the bytes of the name, or as listed when the
  // file says so (`order: listed`).
  std::vector<ModelRules> models;

  // nullptr when there is no such model.
  const ModelRules* Find(std::string_view model) const;

  bool operator==(const Suite&) const = default;
};

// Parses `text`; `file_name` is only used in messages.
absl::StatusOr<Suite> ParseSuite(std::string_view text, std::string_view file_name);

// Whether `text` is a requirement: a package, alone or with a comparison and a version
// ("timm", "torch>=2.10").
bool IsRequirement(std::string_view text);

// Reads and parses a file. NotFound or PermissionDenied carry the path and what to do.
absl::StatusOr<Suite> LoadSuite(const std::string& path);

// The whole of a text file of at most 4 MiB. NotFound, PermissionDenied, or InvalidArgument (a
// folder, or too large for what this reads), each with the path and what to do.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// {"schema": "dynbench.suite/1", "name": …, "models": [{name, …rules with reasons}]}
nlohmann::json ToJson(const Suite& suite);

}  // namespace dynbench::plan
