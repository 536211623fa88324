// `calibrate`: an environment against itself, so that what differs is noise; and what was learned.
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/status.h"
#include "common/formats/format_number.h"
#include "common/judge/metrics.h"
#include "common/plan/experiment.h"
#include "common/plan/pairs.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/submit.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

constexpr char kRounds[] = "5";  // ten processes: eight degrees of freedom or more

struct Arguments {
  SubmitFlags submission;
  bool show = false;
};

// A floor with the experiment that its series is of, as the A/A run has it.
struct NamedFloor {
  store::NoiseFloorRow row;
  plan::Experiment experiment;
};

absl::StatusOr<std::vector<NamedFloor>> LoadNamed(Source& source) {
  ASSIGN_OR_RETURN(const auto rows, source.NoiseFloors(JobId()));
  std::set<JobId> jobs;
  for (const store::NoiseFloorRow& row : rows) jobs.insert(row.job);
  std::map<std::string, plan::Experiment> by_series;
  for (const JobId job : jobs) {
    ASSIGN_OR_RETURN(const auto results, source.Results(job, /*with_samples=*/false));
    for (const RowView& result : results) {
      const auto [named, added] =
          by_series.try_emplace(plan::SeriesKey(result.row.experiment), result.row.experiment);
      if (added) plan::LeavePair(&named->second);  // a floor is of the series, not of a round
    }
  }
  std::vector<NamedFloor> floors;
  floors.reserve(rows.size());
  for (const store::NoiseFloorRow& row : rows) floors.push_back({row, by_series[row.series]});
  return floors;
}

double Deviation(double variance) { return std::sqrt(variance); }

// Two decimals: floors of a tenth of a percent are worth telling apart.
std::string Share(double share) { return formats::Fixed(100 * share, 2) + "%"; }

void PrintTable(Context& context, const std::vector<NamedFloor>& floors) {
  // One line for each series and host, a column for each metric.
  using Place = std::tuple<std::string, std::string>;
  std::map<Place, std::map<std::string, const NamedFloor*>> lines;
  for (const NamedFloor& floor : floors) {
    lines[{floor.row.series, floor.row.worker_host}][floor.row.metric] = &floor;
  }
  const auto right = formats::Align::kRight;
  std::vector<formats::Column> columns = {{"experiment"}, {"host"}, {"processes", right}};
  for (const judge::MetricInfo& info : judge::AllMetrics()) {
    if (info.metric != judge::Metric::kStatus) columns.push_back({std::string(info.title), right});
  }
  columns.push_back({"job", right});
  formats::TextTable table(columns);
  for (const auto& [place, metrics] : lines) {
    const NamedFloor& any = *metrics.begin()->second;
    std::vector<std::string> cells = {plan::DisplayName(any.experiment), any.row.worker_host,
                                      std::to_string(any.row.processes)};
    for (const judge::MetricInfo& info : judge::AllMetrics()) {
      if (info.metric == judge::Metric::kStatus) continue;
      const auto found = metrics.find(std::string(info.word));
      cells.push_back(
          found == metrics.end() ? "-" : Share(Deviation(found->second->row.between_variance)));
    }
    cells.push_back(std::to_string(any.row.job.value));
    AddTextRow(table, cells);
  }
  context.out()
      << table.Render(StyleOf(context))
      << "each: standard deviation between processes of one build, in percent of the figure\n";
}

Json ToJson(const std::vector<NamedFloor>& floors) {
  Json list = Json::array();
  for (const NamedFloor& floor : floors) {
    list.push_back({{"series", floor.row.series},
                    {"experiment", plan::DisplayName(floor.experiment)},
                    {"worker_host", floor.row.worker_host},
                    {"metric", floor.row.metric},
                    {"between", Deviation(floor.row.between_variance)},
                    {"within", Deviation(floor.row.within_variance)},
                    {"degrees_of_freedom", floor.row.degrees_of_freedom},
                    {"processes", floor.row.processes},
                    {"job", floor.row.job.value},
                    {"measured_unix_ms", floor.row.measured_at.ms}});
  }
  return {{"schema", "dynbench.noise/1"}, {"floors", std::move(list)}};
}

VerbResult ShowFloors(Context& context) {
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto floors, LoadNamed(*source));
  if (context.globals.json) {
    PrintJson(context, ToJson(floors));
  } else if (floors.empty()) {
    PrintNote(context, source->Name() +
                           " knows no noise floor; learn one with: dynbenchctl calibrate --suite "
                           "NAME --models A,B");
  } else {
    PrintTable(context, floors);
  }
  return floors.empty() ? ExitCode::kNothingMeasured : ExitCode::kDone;
}

VerbResult Calibrate(Context& context, Arguments arguments) {
  if (arguments.show) return ShowFloors(context);
  SubmitFlags& f = arguments.submission;
  if (f.base || f.fresh) {
    return absl::InvalidArgumentError(
        "calibrate measures --environment against itself; --base and --new belong to submit");
  }
  if (f.environment.size() > 1) {
    return absl::InvalidArgumentError("calibrate measures one environment; give one --environment");
  }
  const std::string environment = f.environment.empty() ? "default" : f.environment.front();
  f.environment.clear();
  f.base = f.fresh = environment;
  if (!f.rounds) f.rounds = kRounds;
  if (!f.label) f.label = "calibrate";
  return Submit(context, f);
}

}  // namespace

void AddCalibrate(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "calibrate",
      "Measure an environment against itself and store how much its processes differ: the noise "
      "floor that compare uses from then on.",
      [arguments](Context& context) { return Calibrate(context, *arguments); });
  verb->add_flag("--show", arguments->show, "what is stored, by series and host; submits nothing")
      ->group("flags");
  AddSubmitFlags(tree, verb, &arguments->submission);
  verb->footer(
      "Examples:\n"
      "  dynbenchctl calibrate --suite timm --models mobilenetv2_100 --performance --wait\n"
      "  dynbenchctl calibrate --show");
}

}  // namespace dynbench::cli
