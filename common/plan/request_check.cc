#include "common/plan/request_check.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "common/plan/needs.h"
#include "common/plan/option_check.h"
#include "common/plan/pairs.h"

namespace dynbench::plan {
namespace {

template <typename T>
std::vector<T> Unique(const std::vector<T>& values, std::vector<T> otherwise) {
  if (values.empty()) return otherwise;
  std::vector<T> unique;
  for (const T& value : values) {
    if (std::find(unique.begin(), unique.end(), value) == unique.end()) unique.push_back(value);
  }
  return unique;
}

template <typename T>
bool Has(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// More than any host has cores; OpenMP dies by SIGSEGV when it cannot start its threads.
constexpr int64_t kThreadsMax = 4096;

// Beyond it the interval says nothing.
constexpr double kPrecisionMost = 0.5;

absl::Status AtLeast(const std::string& flag, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return Wrong(absl::StrCat("--", flag, " wants at least ", least, ", not ", value));
}

absl::Status CheckPrecision(const Request& r) {
  const bool asked = r.given.contains("target-precision") || r.target_precision != 0;
  if (!asked && r.given.contains("precision-budget")) {
    return Wrong("--precision-budget has no effect alone; add --target-precision, such as 1%");
  }
  if (!asked) return absl::OkStatus();
  if (!(r.target_precision > 0 && r.target_precision <= kPrecisionMost)) {
    return Wrong(absl::StrCat("--target-precision wants a share above 0% and at most ",
                              kPrecisionMost * 100, "%, such as 1%, not ", r.target_precision * 100,
                              "%"));
  }
  if (r.precision_budget_ms < 1 || r.precision_budget_ms > kPrecisionBudgetMaxMs) {
    return Wrong(absl::StrCat("--precision-budget wants a time above 0 and at most ",
                              kPrecisionBudgetMaxMs / 60'000,
                              "m: as long as the other lanes of the slot stand still"));
  }
  if (r.instances > 1) {
    return Wrong(
        "--target-precision cannot be met with --instances: copies that measure side by side must "
        "end together; remove one of the two, or give --repeat");
  }
  return absl::OkStatus();
}

absl::Status CheckRanges(const Request& r) {
  RETURN_IF_ERROR(AtLeast("repeat", r.repeat, 1));
  RETURN_IF_ERROR(AtLeast("iterations", r.iterations, 1));
  RETURN_IF_ERROR(AtLeast("iterations-per-run", r.iterations_per_run, 1));
  RETURN_IF_ERROR(AtLeast("threads", r.threads, r.given.contains("threads") ? 1 : 0));
  if (r.threads > kThreadsMax) {
    return Wrong(absl::StrCat("--threads wants at most ", kThreadsMax, ", not ", r.threads));
  }
  RETURN_IF_ERROR(AtLeast("timeout", r.timeout_ms, 1));
  RETURN_IF_ERROR(AtLeast("batch-size", r.batch_size, r.given.contains("batch-size") ? 1 : 0));
  for (const auto& [model, size] : r.batch_sizes) {
    if (size < 1) {
      return Wrong(absl::StrCat("--batch-size-file: the batch size of \"", model,
                                "\" must be at least 1, not ", size,
                                "; correct or remove its line"));
    }
  }
  RETURN_IF_ERROR(AtLeast("layers", r.layers, r.given.contains("layers") ? 1 : 0));
  RETURN_IF_ERROR(
      AtLeast("prompt-length", r.prompt_length, r.given.contains("prompt-length") ? 1 : 0));
  RETURN_IF_ERROR(AtLeast("instances", r.instances, 1));
  RETURN_IF_ERROR(CheckPrecision(r));
  if (r.tolerance && !(*r.tolerance > 0)) {
    return Wrong("--accuracy-tolerance wants a number greater than 0");
  }
  return absl::OkStatus();
}

struct Word {
  const char* flag;
  const std::string& value;
  std::vector<std::string> known;
};

absl::Status CheckKnown(const Word& word) {
  if (word.value.empty() || Has(word.known, word.value)) return absl::OkStatus();
  std::string all;
  for (const std::string& known : word.known) all += (all.empty() ? "" : ", ") + known;
  return Wrong(absl::StrCat("--", word.flag, " wants one of ", all, ", not \"", word.value, "\"",
                            DidYouMean(word.value, word.known)));
}

// Words that have no type of their own.
absl::Status CheckPlainWords(const Request& r) {
  const Word words[] = {
      {"amp-dtype", r.amp_dtype, {"bfloat16", "float16"}},
      {"optimizer", r.optimizer, {"adam", "sgd", "none"}},
      {"hf-inference-mode", r.generation, {"generate", "prefill", "forward"}},
      {"distributed", r.distributed, {"multiprocess", "ddp", "fsdp"}},
      {"optimize-ddp-mode",
       r.optimize_ddp,
       {"ddp_optimizer", "python_reducer", "python_reducer_without_compiled_forward",
        "no_optimization"}},
      {"engine", r.engine, {"native", "script", "command"}},
  };
  for (const Word& word : words) RETURN_IF_ERROR(CheckKnown(word));
  for (const std::string& diagnostic : r.diagnostics) {
    RETURN_IF_ERROR(CheckKnown(
        {"debug",
         diagnostic,
         {"trace", "logs", "compile_debug", "profiler", "memory_snapshot", "operator_inputs"}}));
  }
  for (const Word& folder : {Word{"save-model-outputs-to", r.save_outputs_to, {}},
                             Word{"compare-model-outputs-with", r.compare_outputs_with, {}}}) {
    if (folder.value.empty() || folder.value.front() == '/') continue;
    return Wrong(absl::StrCat("--", folder.flag, " wants an absolute path on the worker's host, ",
                              "not \"", folder.value, "\""));
  }
  return absl::OkStatus();
}

absl::Status CheckWords(const Request& r) {
  RETURN_IF_ERROR(CheckPlainWords(r));
  static const std::vector<std::string> kDevices = {"cpu", "cuda", "xpu", "mps", "hpu"};
  if (!r.device.empty() && !Has(kDevices, r.device)) {
    return Wrong(absl::StrCat("unknown device \"", r.device, "\"", DidYouMean(r.device, kDevices),
                              "; known are cpu, cuda, xpu, mps and hpu"));
  }
  for (const std::string& environment : r.environments) {
    if (environment.empty()) return Wrong("--environment wants a name");
  }
  for (const std::string& text : r.require) {
    const auto requirement = ParseRequirement(text);
    if (!requirement.ok()) {
      return Wrong(absl::StrCat("--require: ", std::string(requirement.status().message())));
    }
  }
  for (const auto& [variable, value] : r.set_env) {
    const bool is_name =
        !variable.empty() && std::isdigit(static_cast<unsigned char>(variable[0])) == 0 &&
        std::all_of(variable.begin(), variable.end(),
                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!is_name) {
      return Wrong(
          absl::StrCat("--set-env: \"", variable, "\" is no name of a variable; give NAME=VALUE"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPartition(const Request& r) {
  RETURN_IF_ERROR(AtLeast("total-partitions", r.total_partitions, 1));
  const bool id_given = r.partition_id != -1 || r.given.contains("partition-id");
  if (id_given && (r.partition_id < 0 || r.partition_id >= r.total_partitions)) {
    return Wrong(absl::StrCat("--partition-id ", r.partition_id, " is outside 0 to ",
                              r.total_partitions - 1, " (--total-partitions is ",
                              r.total_partitions, "; the first partition is 0)"));
  }
  if (r.total_partitions > 1 && !id_given && r.policy == PartitionPolicy::kDynamic) {
    return Wrong(
        "--total-partitions has no effect alone: slots take what is left (policy dynamic); add "
        "--partition-id to run one of upstream's slices, or --partition-policy static or balanced");
  }
  return absl::OkStatus();
}

// `--only` runs what it names, whatever else selects models.
absl::Status CheckSelection(const Request& r) {
  if (!r.only.empty() || !r.path_models.empty()) {
    const std::vector<std::pair<const char*, bool>> selecting = {
        {"--models", !r.models.empty()},
        {"--filter", !r.filters.empty()},
        {"--exclude", !r.excludes.empty()},
        {"--exclude-exact", !r.exclude_exact.empty()},
        {"--fast", r.fast},
        {"--total-partitions", r.total_partitions > 1},
    };
    for (const auto& [flag, is_set] : selecting) {
      if (is_set) {
        return Wrong(absl::StrCat(flag, " has no effect with --only, which runs exactly what it ",
                                  "names; remove one of the two"));
      }
    }
  }
  if (r.no_skip && r.fast) {
    return Wrong("--fast has no effect with --no-skip, which empties the skip list; remove one");
  }
  if (r.batch_size > 0 && (!r.batch_sizes.empty() || r.given.contains("batch-size-file"))) {
    return Wrong(
        "--batch-size-file has no effect with --batch-size, which holds for every model; "
        "remove one of the two");
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Mode> ModesOf(const Request& r) { return Unique(r.modes, {Mode::kInference}); }
std::vector<Test> TestsOf(const Request& r) {
  return Unique(r.tests, {Test::kPerformance, Test::kAccuracy});
}
std::vector<Start> StartsOf(const Request& r) { return Unique(r.starts, {Start::kCold}); }
std::vector<std::string> EnvironmentsOf(const Request& r) {
  if (IsPairJob(r)) return PairEnvironments(r);
  return Unique(r.environments, {std::string("default")});
}

absl::Status CheckRequest(const Request& request,
                          const std::vector<Configuration>& configurations) {
  RETURN_IF_ERROR(CheckRanges(request));
  RETURN_IF_ERROR(CheckWords(request));
  RETURN_IF_ERROR(CheckPartition(request));
  RETURN_IF_ERROR(CheckPairs(request));
  RETURN_IF_ERROR(CheckMeasuring(request, configurations));
  RETURN_IF_ERROR(CheckSelection(request));
  return CheckCompiling(request, configurations);
}

}  // namespace dynbench::plan
