#include "common/plan/expand.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/status.h"
#include "common/plan/apply_rules.h"
#include "common/plan/effect_check.h"
#include "common/plan/nearest.h"
#include "common/plan/pairs.h"
#include "common/plan/partition.h"
#include "common/plan/request_check.h"
#include "common/plan/script_command.h"
#include "common/plan/selection.h"

namespace dynbench::plan {
namespace {

constexpr char kCustom[] = "custom";

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
    Configuration& custom = configurations.emplace_back();
    custom.name = kCustom;
    custom.options = *request.options;
    Imply(&custom.options);
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
  std::string device;
};

// A configuration may say how it is started; the submission's word wins.
std::vector<Start> StartsIn(const Request& request, const Configuration& configuration) {
  if (!request.starts.empty() || configuration.starts.empty()) return StartsOf(request);
  return configuration.starts;
}

bool HasSeveralStarts(const Request& request, const Axes& axes) {
  std::set<Start> starts;
  for (const Configuration& configuration : axes.configurations) {
    for (const Start start : StartsIn(request, configuration)) starts.insert(start);
  }
  return starts.size() > 1;
}

Precision PrecisionOf(const Request& request, Mode mode) {
  if (request.precision) return *request.precision;
  return mode == Mode::kTraining ? Precision::kAmp : Precision::kBf16;
}

// `--output FILE` is one file per test, mode, configuration, environment and start: what there is
// more than one of is added to the stem, in the order of upstream's own file names.
std::string OutputOf(const Request& request, const Axes& axes, const Experiment& e) {
  if (request.output.empty()) return "";
  std::string words;
  if (axes.configurations.size() > 1) words += "_" + e.configuration;
  if (axes.modes.size() > 1) words += "_" + std::string(ToString(e.mode));
  if (axes.environments.size() > 1) words += "_" + e.environment;
  if (HasSeveralStarts(request, axes)) words += "_" + std::string(ToString(e.start));
  if (axes.tests.size() > 1) words += "_" + std::string(ToString(e.test));
  const size_t slash = request.output.find_last_of('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = request.output.find_last_of('.');
  const size_t stem_end = dot == std::string::npos || dot <= name ? request.output.size() : dot;
  return request.output.substr(0, stem_end) + words + request.output.substr(stem_end);
}

// What only one of the tests listens to; the others keep the defaults, so that their series do not
// change with it.
void FillTest(const Request& request, const Configuration& configuration, Experiment* e) {
  if (e->test == Test::kPerformance) {
    const bool repeat_given = request.given.contains("repeat") || configuration.repeat == 0;
    e->repeat = repeat_given ? request.repeat : configuration.repeat;
    e->iterations_per_run = request.iterations_per_run;
    e->target_precision = request.target_precision;
    e->precision_budget_ms = request.target_precision > 0 ? request.precision_budget_ms : 0;
    e->randomize_input = request.randomize_input;
    e->deterministic = request.deterministic || configuration.deterministic;
    e->collect_outputs = request.collect_outputs && e->mode == Mode::kTraining;
    e->warm_peak_memory = request.warm_peak_memory;
    e->measure_cache_lookup = request.measure_cache_lookup;
  }
  if (e->test == Test::kAccuracy) {
    e->batch_invariant = request.batch_invariant || configuration.batch_invariant;
    e->save_outputs_to = request.save_outputs_to;
    e->compare_outputs_with = request.compare_outputs_with;
    e->minify = request.minify;
  }
  if (e->test == Test::kAccuracy || e->test == Test::kTolerance) {
    e->iterations = request.iterations;
  }
}

void FillDistributed(const Request& request, Experiment* e) {
  e->distributed = request.distributed;
  if (e->distributed.empty()) return;
  e->world_size = request.world_size > 0 ? request.world_size : 2;
  if (e->distributed == "ddp") e->optimize_ddp = request.optimize_ddp;
}

// What the request, the configuration and the profile decide, whatever the model is.
Experiment Common(const Request& request, const Axes& axes, const Catalog& catalog, Mode mode,
                  Test test, const Configuration& configuration) {
  Experiment e;
  e.mode = mode;
  e.test = test;
  e.configuration = configuration.name;
  e.options = configuration.options;
  e.precision = PrecisionOf(request, mode);
  e.device = axes.device;
  e.profile = request.profile;
  e.weights = request.weights;
  FillTest(request, configuration, &e);
  FillDistributed(request, &e);
  if (test == Test::kPerformance) {
    e.instances =
        request.instances > 1 ? request.instances : catalog.profiles.at(request.profile).instances;
  }
  e.activation_checkpointing = request.activation_checkpointing && mode == Mode::kTraining;
  e.layers = request.layers;
  e.part = request.part;
  e.explain = request.explain;
  e.diagnostics = request.diagnostics;
  e.threads = request.threads;
  e.timeout_ms = request.timeout_ms;
  e.channels_last = request.channels_last;
  e.set_env = request.set_env;
  return e;
}

// The rows of one model, in plan order: mode, test, configuration, environment, start.
void AddRows(const Request& request, const Axes& axes, const Catalog& catalog,
             const FleetFacts& fleet, const SelectedModel& model, std::vector<Experiment>* rows) {
  for (const Mode mode : axes.modes) {
    for (const Test test : axes.tests) {
      for (const Configuration& configuration : axes.configurations) {
        Experiment e = Common(request, axes, catalog, mode, test, configuration);
        ApplyModel(request, configuration, model, fleet.arch, &e);
        e.reason = SkipReason(request, configuration, model, e, fleet.arch);
        if (!e.reason.empty()) e.planned_outcome = Outcome::kSkipped;
        for (const std::string& environment : axes.environments) {
          for (const Start start : StartsIn(request, configuration)) {
            Experiment& row = rows->emplace_back(e);
            row.environment = environment;
            row.start = start;
            row.output = OutputOf(request, axes, row);
            ApplyEngine(request, configuration.options, &row);
          }
        }
      }
    }
  }
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

void WarnOfOwnBatchSizes(const Request& request, const std::vector<SelectedModel>& models,
                         std::vector<std::string>* warnings) {
  std::string names;
  for (const std::string& name : WithOwnBatchSize(request, models)) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) warnings->push_back("these keep a batch size of their own: " + names);
}

std::string EmptyPlan(const Request& request, const Suite* suite) {
  if (suite != nullptr && request.partition_id >= 0) {
    const auto n =
        static_cast<size_t>(std::count_if(suite->models.begin(), suite->models.end(),
                                          [](const ModelRules& rules) { return !rules.newer; }));
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

}  // namespace

absl::StatusOr<Plan> Expand(const Request& request, const Catalog& catalog, const FleetFacts& fleet,
                            const Predictor& predict) {
  Axes axes;
  ASSIGN_OR_RETURN(axes.configurations, ConfigurationsOf(request, catalog));
  RETURN_IF_ERROR(CheckRequest(request, axes.configurations));
  RETURN_IF_ERROR(CheckEngine(request, axes.configurations));
  ASSIGN_OR_RETURN(const LaunchProfile* profile,
                   Find(catalog.profiles, request.profile, "profile"));
  if (request.target_precision > 0 && profile->instances > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--target-precision cannot be met with --profile ", request.profile, ", which measures ",
        profile->instances, " copies side by side that must end together; remove one of the two"));
  }
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
  // Both sides of a pair are the same row but for the environment: MakePairs tells them apart.
  if (IsPairJob(request)) axes.environments = {request.base};
  axes.device = request.device.empty() ? fleet.default_device : request.device;

  Plan plan;
  plan.partitions = request.total_partitions;
  plan.warnings = std::move(selection.warnings);
  WarnOfBatchSizes(request, selection.models, &plan.warnings);
  WarnOfOwnBatchSizes(request, selection.models, &plan.warnings);
  for (const SelectedModel& model : selection.models) {
    AddRows(request, axes, catalog, fleet, model, &plan.experiments);
  }
  RETURN_IF_ERROR(CheckEffects(request, selection.models, plan.experiments));
  if (IsPairJob(request)) MakePairs(request, &plan.experiments);
  if (request.policy == PartitionPolicy::kBalanced) Balance(request, predict, &plan.experiments);
  std::stable_sort(
      plan.experiments.begin(), plan.experiments.end(),
      [](const Experiment& a, const Experiment& b) { return a.partition < b.partition; });
  if (plan.experiments.empty()) plan.warnings.push_back(EmptyPlan(request, suite));
  return plan;
}

}  // namespace dynbench::plan
