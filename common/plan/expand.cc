#include "common/plan/expand.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "common/plan/partition.h"
#include "common/plan/request_check.h"
#include "common/plan/script_command.h"
#include "common/plan/selection.h"

namespace dynbench::plan {
namespace {

constexpr char kCustom[] = "custom";
constexpr char kTrainingLater[] =
    "training is not run by this version of dynbench; it comes with a later one";
constexpr char kFreezingInference[] = "freezing is for inference only";

template <typename T>
std::string Known(const std::map<std::string, T>& map) {
  std::string text;
  for (const auto& [name, value] : map) text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <typename T>
absl::StatusOr<const T*> Find(const std::map<std::string, T>& map, const std::string& name,
                              const std::string& what) {
  const auto it = map.find(name);
  if (it != map.end()) return &it->second;
  std::vector<std::string> names;
  names.reserve(map.size());
  for (const auto& [known, value] : map) names.push_back(known);
  return absl::InvalidArgumentError(absl::StrCat("unknown ", what, " \"", name, "\"",
                                                 DidYouMean(name, names), "; known: ", Known(map)));
}

absl::StatusOr<std::vector<Configuration>> ConfigurationsOf(const Request& request,
                                                            const Catalog& catalog) {
  std::vector<Configuration> configurations;
  if (request.options && request.configurations.empty()) {
    configurations.push_back({kCustom, "bare compiler flags", *request.options});
    // As upstream: marking the batch dimension alone is a way of compiling dynamically.
    CompileOptions& options = configurations.back().options;
    if (options.dynamic_batch_only) options.dynamic_shapes = true;
    return configurations;
  }
  std::vector<std::string> names = request.configurations;
  if (names.empty()) names = {"default"};
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;
    ASSIGN_OR_RETURN(const Configuration* found,
                     Find(catalog.configurations, name, "configuration"));
    configurations.push_back(*found);
  }
  return configurations;
}

// What every row of one expansion shares.
struct Axes {
  std::vector<Mode> modes;
  std::vector<Test> tests;
  std::vector<Configuration> configurations;
  std::vector<std::string> environments;
  std::vector<Start> starts;
  std::string device;
};

Precision PrecisionOf(const Request& request, Mode mode) {
  if (request.precision) return *request.precision;
  return mode == Mode::kTraining ? Precision::kAmp : Precision::kBf16;
}

int BatchSizeOf(const Request& request, const ModelRules& rules, Mode mode, Test test) {
  if (request.batch_size > 0) return request.batch_size;
  const auto listed = request.batch_sizes.find(rules.name);
  if (listed != request.batch_sizes.end()) return listed->second;
  if (test == Test::kAccuracy && rules.batch_size_accuracy > 0) return rules.batch_size_accuracy;
  return mode == Mode::kTraining ? rules.batch_size_training : rules.batch_size;
}

AccuracyRules AccuracyOf(const Request& request, const ModelRules& rules, const Experiment& e) {
  const bool training = e.mode == Mode::kTraining;
  AccuracyRules accuracy;
  accuracy.tolerance = training             ? rules.tolerance_training
                       : e.options.freezing ? rules.tolerance_freezing
                                            : rules.tolerance_inference;
  if (request.tolerance) accuracy.tolerance = *request.tolerance;
  accuracy.cosine = rules.cosine;
  accuracy.larger_multiplier_for_small_tensors = rules.larger_multiplier_for_small_tensors;
  accuracy.eager_not_deterministic =
      training ? rules.eager_not_deterministic_training : rules.eager_not_deterministic_inference;
  accuracy.non_deterministic = rules.non_deterministic;
  return accuracy;
}

bool Applies(const Condition& when, const Experiment& e, const FleetFacts& fleet) {
  return (when.device.empty() || when.device == e.device) &&
         (when.arch.empty() || when.arch == fleet.arch) &&
         (when.mode.empty() || when.mode == ToString(e.mode)) &&
         (when.test.empty() || when.test == ToString(e.test)) &&
         (!when.only_freezing || e.options.freezing);
}

// Why the plan skips the experiment; empty when it is to be run.
std::string SkipReason(const Request& request, const SelectedModel& model, const Experiment& e,
                       const FleetFacts& fleet) {
  if (!model.bypass_skips && !request.no_skip) {
    for (const SkipRule& rule : model.rules.skip) {
      if ((!rule.slow || request.fast) && Applies(rule.when, e, fleet)) return rule.reason;
    }
  }
  if (e.mode != Mode::kTraining || request.engine != kNativeEngine) return "";
  return e.options.freezing ? kFreezingInference : kTrainingLater;
}

// `--output FILE` is one file per test, mode, configuration, environment and start: what there is
// more than one of is added to the stem, in the order of upstream's own file names.
std::string OutputOf(const Request& request, const Axes& axes, const Experiment& e) {
  if (request.output.empty()) return "";
  std::string words;
  if (axes.configurations.size() > 1) words += "_" + e.configuration;
  if (axes.modes.size() > 1) words += "_" + std::string(ToString(e.mode));
  if (axes.environments.size() > 1) words += "_" + e.environment;
  if (axes.starts.size() > 1) words += "_" + std::string(ToString(e.start));
  if (axes.tests.size() > 1) words += "_" + std::string(ToString(e.test));
  const size_t slash = request.output.find_last_of('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = request.output.find_last_of('.');
  const size_t stem_end = dot == std::string::npos || dot <= name ? request.output.size() : dot;
  return request.output.substr(0, stem_end) + words + request.output.substr(stem_end);
}

// Fills what the request alone decides. Options of the other test keep their defaults, so that they
// do not change the series.
Experiment Common(const Request& request, const Axes& axes, Mode mode, Test test) {
  Experiment e;
  e.mode = mode;
  e.test = test;
  e.precision = PrecisionOf(request, mode);
  e.effective_precision = e.precision;
  e.model_mode = mode == Mode::kTraining ? "train" : "eval";
  e.device = axes.device;
  e.profile = request.profile;
  e.weights = request.weights;
  if (test == Test::kPerformance) {
    e.repeat = request.repeat;
    e.iterations_per_run = request.iterations_per_run;
    e.randomize_input = request.randomize_input;
  } else {
    e.iterations = request.iterations;
  }
  e.threads = request.threads;
  e.timeout_ms = request.timeout_ms;
  e.channels_last = request.channels_last;
  e.set_env = request.set_env;
  return e;
}

void ApplyModel(const Request& request, const SelectedModel& model, Experiment* e) {
  e->suite = model.suite;
  e->model = model.rules.name;
  e->source = model.source;
  e->partition = model.partition;
  e->batch_size = BatchSizeOf(request, model.rules, e->mode, e->test);
  if (e->mode == Mode::kTraining) e->loss_divisor = model.rules.loss_divisor;
  if (e->options.backend == "inductor") {  // what was typed for the job wins over the suite's rule
    for (const auto& [key, value] : model.rules.inductor_config) {
      e->options.inductor_config.emplace(key, value);
    }
  }
  if (e->test == Test::kAccuracy) e->accuracy = AccuracyOf(request, model.rules, *e);
}

// Calls visit(mode, test, configuration, environment, start) for every combination, in plan order.
template <typename Visit>
void ForEachCombination(const Axes& axes, Visit&& visit) {
  for (const Mode mode : axes.modes) {
    for (const Test test : axes.tests) {
      for (const Configuration& configuration : axes.configurations) {
        for (const std::string& environment : axes.environments) {
          for (const Start start : axes.starts) {
            visit(mode, test, configuration, environment, start);
          }
        }
      }
    }
  }
}

std::vector<Experiment> RowsOf(const Request& request, const Axes& axes, const FleetFacts& fleet,
                               const std::vector<SelectedModel>& models) {
  std::vector<Experiment> rows;
  for (const SelectedModel& model : models) {
    ForEachCombination(axes, [&](Mode mode, Test test, const Configuration& configuration,
                                 const std::string& environment, Start start) {
      Experiment e = Common(request, axes, mode, test);
      e.configuration = configuration.name;
      e.options = configuration.options;
      e.environment = environment;
      e.start = start;
      ApplyModel(request, model, &e);
      e.output = OutputOf(request, axes, e);
      ApplyEngine(request, configuration.options, &e);
      e.reason = SkipReason(request, model, e, fleet);
      if (!e.reason.empty()) e.planned_outcome = Outcome::kSkipped;
      rows.push_back(std::move(e));
    });
  }
  return rows;
}

// Skipped experiments take no time, so they must not weigh.
void Balance(const Request& request, const Predictor& predict, std::vector<Experiment>* rows) {
  std::vector<double> expected_s;
  for (const Experiment& e : *rows) {
    expected_s.push_back(e.planned_outcome ? 0.0 : predict ? std::max(0.0, predict(e)) : 1.0);
  }
  const std::vector<int> partitions = BalancedPartitions(expected_s, request.total_partitions);
  for (size_t i = 0; i < rows->size(); ++i) (*rows)[i].partition = partitions[i];
  if (request.partition_id < 0) return;
  std::erase_if(*rows, [&](const Experiment& e) { return e.partition != request.partition_id; });
}

void WarnOfBatchSizes(const Request& request, const std::vector<SelectedModel>& models,
                      std::vector<std::string>* warnings) {
  if (request.batch_sizes.empty()) return;
  std::set<std::string> planned;
  for (const SelectedModel& model : models) planned.insert(model.rules.name);
  std::string unused, unlisted;
  for (const auto& [name, size] : request.batch_sizes) {
    if (!planned.contains(name)) unused += (unused.empty() ? "" : ", ") + name;
  }
  for (const std::string& name : planned) {
    if (!request.batch_sizes.contains(name)) unlisted += (unlisted.empty() ? "" : ", ") + name;
  }
  if (!unused.empty()) {
    warnings->push_back("--batch-size-file names models that are not in the plan: " + unused);
  }
  if (!unlisted.empty()) {
    warnings->push_back(
        "--batch-size-file does not name these, which keep the suite's batch size: " + unlisted);
  }
}

std::string EmptyPlan(const Request& request, const Suite* suite) {
  if (suite != nullptr && request.partition_id >= 0) {
    const size_t n = suite->models.size();
    const auto [begin, end] = StaticSlice(n, request.total_partitions, request.partition_id);
    if (begin == end && request.policy != PartitionPolicy::kBalanced) {
      return absl::StrCat("nothing is planned: partition ", request.partition_id, " of ",
                          request.total_partitions, " is empty, since the suite has ", n,
                          " models and the last partition takes them all, as upstream's does");
    }
    return absl::StrCat("nothing is planned: no model of partition ", request.partition_id, " of ",
                        request.total_partitions, " is left by the names and filters given");
  }
  return "nothing is planned: the names and filters given leave no model";
}

absl::Status CheckSuiteOptions(const Request& request, const Suite* suite,
                               const std::vector<SelectedModel>& models) {
  const auto is_path = [](const SelectedModel& m) { return m.source.loader == "path"; };
  const bool weights_given = request.weights != Weights::kAuto || request.given.contains("weights");
  if (weights_given && !models.empty() && std::all_of(models.begin(), models.end(), is_path)) {
    return absl::InvalidArgumentError(
        "--weights has no effect: models of your own files load their own weights; remove it");
  }
  if (!request.fast || suite == nullptr) return absl::OkStatus();
  for (const ModelRules& rules : suite->models) {
    for (const SkipRule& rule : rules.skip) {
      if (rule.slow) return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("--fast has no effect: the suite \"", suite->name,
                                                 "\" marks no model as slow; remove it"));
}

}  // namespace

absl::StatusOr<Plan> Expand(const Request& request, const Catalog& catalog, const FleetFacts& fleet,
                            const Predictor& predict) {
  Axes axes;
  ASSIGN_OR_RETURN(axes.configurations, ConfigurationsOf(request, catalog));
  RETURN_IF_ERROR(CheckRequest(request, axes.configurations));
  RETURN_IF_ERROR(CheckEngine(request, axes.configurations));
  RETURN_IF_ERROR(Find(catalog.profiles, request.profile, "profile").status());
  const Suite* suite = nullptr;
  Selection selection;
  if (IsBareCommand(request)) {
    selection = SelectCommand(request);
  } else {
    ASSIGN_OR_RETURN(suite, SuiteOf(request, catalog));
    ASSIGN_OR_RETURN(selection, SelectModels(request, catalog));
  }
  RETURN_IF_ERROR(CheckSuiteOptions(request, suite, selection.models));
  axes.modes = ModesOf(request);
  axes.tests = TestsOf(request);
  axes.environments = EnvironmentsOf(request);
  axes.starts = StartsOf(request);
  axes.device = request.device.empty() ? fleet.default_device : request.device;

  Plan plan;
  plan.partitions = request.total_partitions;
  plan.warnings = std::move(selection.warnings);
  WarnOfBatchSizes(request, selection.models, &plan.warnings);
  plan.experiments = RowsOf(request, axes, fleet, selection.models);
  if (request.policy == PartitionPolicy::kBalanced) Balance(request, predict, &plan.experiments);
  std::stable_sort(
      plan.experiments.begin(), plan.experiments.end(),
      [](const Experiment& a, const Experiment& b) { return a.partition < b.partition; });
  if (plan.experiments.empty()) plan.warnings.push_back(EmptyPlan(request, suite));
  return plan;
}

}  // namespace dynbench::plan
