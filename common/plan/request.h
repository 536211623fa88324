// What a person asked for: the flags of `submit`, before any rule is applied.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/experiment.h"
#include "common/plan/suite.h"
#include "common/plan/words.h"

namespace dynbench::plan {

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
  int threads = 0;
  int64_t timeout_ms = 2'000'000;
  bool channels_last = false;
  bool randomize_input = false;
  std::optional<double> tolerance;  // reserved for part 2's --tolerance override
  std::map<std::string, std::string> set_env;
  std::string output;

  std::string label;  // free text of the submitter
  std::string user;
  int priority = 0;
};

// JSON both ways, for the store, `retry` and `repro`. FromJson names the key that is wrong.
std::string ToJson(const Request& request);
absl::StatusOr<Request> RequestFromJson(std::string_view text);

}  // namespace dynbench::plan
