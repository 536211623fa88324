#include "common/plan/request_check.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "common/base/status.h"
#include "common/plan/nearest.h"

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

absl::Status AtLeast(const std::string& flag, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return Wrong(absl::StrCat("--", flag, " wants at least ", least, ", not ", value));
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
  if (r.tolerance && !(*r.tolerance > 0)) return Wrong("--tolerance wants a number greater than 0");
  return absl::OkStatus();
}

absl::Status CheckWords(const Request& r) {
  static const std::vector<std::string> kDevices = {"cpu", "cuda", "xpu", "mps", "hpu"};
  if (!r.device.empty() && !Has(kDevices, r.device)) {
    return Wrong(absl::StrCat("unknown device \"", r.device, "\"", DidYouMean(r.device, kDevices),
                              "; known are cpu, cuda, xpu, mps and hpu"));
  }
  for (const std::string& environment : r.environments) {
    if (environment.empty()) return Wrong("--environment wants a name");
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

// An option that only one of the tests listens to.
absl::Status NeedsTest(const Request& r, Test test, const std::string& flag, bool is_set) {
  if (!is_set || Has(TestsOf(r), test)) return absl::OkStatus();
  const bool performance = test == Test::kPerformance;
  return Wrong(absl::StrCat("--", flag, " has no effect: it is for the ",
                            std::string(ToString(test)), " test, and only --",
                            performance ? "accuracy" : "performance", " was asked for; remove it ",
                            "or add --", std::string(ToString(test))));
}

absl::Status CheckTestOptions(const Request& r) {
  const Request defaults;
  RETURN_IF_ERROR(NeedsTest(r, Test::kPerformance, "repeat",
                            r.given.contains("repeat") || r.repeat != defaults.repeat));
  RETURN_IF_ERROR(NeedsTest(r, Test::kPerformance, "iterations-per-run",
                            r.given.contains("iterations-per-run") ||
                                r.iterations_per_run != defaults.iterations_per_run));
  RETURN_IF_ERROR(NeedsTest(r, Test::kPerformance, "randomize-input", r.randomize_input));
  RETURN_IF_ERROR(NeedsTest(r, Test::kAccuracy, "iterations",
                            r.given.contains("iterations") || r.iterations != defaults.iterations));
  return NeedsTest(r, Test::kAccuracy, "tolerance", r.tolerance.has_value());
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

// The flag that sets the option called `option` in a configuration.
std::string FlagOf(const std::string& option) {
  if (option == "compile_mode") return "--inductor-compile-mode";
  if (option == "fullgraph") return "--nopython";
  std::string flag = "--" + option;
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

absl::Status CheckOptions(const Request& r, const std::vector<Configuration>& configurations) {
  if (r.options && !r.configurations.empty()) {
    return Wrong(absl::StrCat("--configuration ", r.configurations.front(),
                              " and bare compiler flags (--backend, --freezing, …) exclude each ",
                              "other; give one of the two"));
  }
  if (r.options) {
    const std::string option = OptionWithoutEffect(*r.options);
    if (!option.empty()) {
      return Wrong(absl::StrCat(
          FlagOf(option), " has no effect with --backend=", r.options->backend, "; remove it"));
    }
    if (r.given.contains("disable-cudagraphs") && r.options->backend != "inductor") {
      return Wrong(absl::StrCat(
          "--disable-cudagraphs has no effect with --backend=", r.options->backend, "; remove it"));
    }
  }
  if (Has(ModesOf(r), Mode::kInference)) return absl::OkStatus();
  for (const Configuration& configuration : configurations) {
    if (!configuration.options.freezing) continue;
    return Wrong(absl::StrCat(
        r.options ? "--freezing" : absl::StrCat("--configuration ", configuration.name),
        " has no effect: freezing is for inference, and only --training was asked for; remove it ",
        "or add --inference"));
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
  return Unique(r.environments, {std::string("default")});
}

absl::Status CheckRequest(const Request& request,
                          const std::vector<Configuration>& configurations) {
  RETURN_IF_ERROR(CheckRanges(request));
  RETURN_IF_ERROR(CheckWords(request));
  RETURN_IF_ERROR(CheckPartition(request));
  RETURN_IF_ERROR(CheckTestOptions(request));
  RETURN_IF_ERROR(CheckSelection(request));
  return CheckOptions(request, configurations);
}

}  // namespace dynbench::plan
