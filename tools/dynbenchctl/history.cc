#include "common/judge/history.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/formats/format_number.h"
#include "common/judge/flips.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string model, test;
  int64_t nights = judge::kFlipNights;
};

// "timm/resnet18" or "resnet18".
store::HistoryFilter FilterOf(const Arguments& a) {
  store::HistoryFilter filter;
  const size_t slash = a.model.find('/');
  filter.model = slash == std::string::npos ? a.model : a.model.substr(slash + 1);
  if (slash != std::string::npos) filter.suite = a.model.substr(0, slash);
  filter.newest = a.nights;
  return filter;
}

std::string StatusOf(const plan::Result& result) {
  return result.status.empty() ? std::string(plan::ToString(result.outcome)) : result.status;
}

void PrintTable(Context& context, const std::vector<judge::SeriesHistory>& lines, size_t nights) {
  const auto right = formats::Align::kRight;
  formats::TextTable table({{"experiment"},
                            {"environment"},
                            {"device"},
                            {"outcomes"},
                            {"flips", right},
                            {"last job", right},
                            {"status"},
                            {"compiled ms", right},
                            {"speedup", right}});
  for (const judge::SeriesHistory& line : lines) {
    const judge::Steadiness steadiness = judge::SteadinessOf(line.rows, nights);
    const store::ResultRow& last = line.rows.back()->row;
    const plan::Metrics& metrics = last.result->metrics;
    table.AddRow({{plan::DisplayName(line.experiment)},
                  {line.experiment.environment},
                  {line.device_kind},
                  {steadiness.outcomes},
                  {absl::StrCat(steadiness.flips, "/", steadiness.nights),
                   steadiness.unsteady() ? formats::Tone::kWarning : formats::Tone::kPlain},
                  {std::to_string(last.job.value)},
                  {StatusOf(*last.result), last.result->outcome == plan::Outcome::kPassed
                                               ? formats::Tone::kPlain
                                               : formats::Tone::kBad},
                  {metrics.abs_latency_ms ? formats::Milliseconds(*metrics.abs_latency_ms) : ""},
                  {metrics.speedup ? formats::Times(*metrics.speedup) : ""}});
  }
  context.out() << table.Render(StyleOf(context))
                << "outcomes: oldest first, + passed, x failed.  flips: how often it left and came "
                   "back; unsteady from "
                << judge::kUnsteadyFlips << " on\n";
}

Json NightJson(const store::HistoryRow& night) {
  const store::ResultRow& row = night.row;
  const plan::Result& result = *row.result;
  return {{"job", row.job.value},
          {"experiment", row.id.value},
          {"outcome", plan::ToString(result.outcome)},
          {"status", result.status},
          {"blame", plan::ToString(result.blame)},
          {"error", result.error},
          {"worker_host", row.worker_host},
          {"environment_hash", night.environment_hash},
          {"finished_unix_ms", row.finished_at.ms},
          {"metrics", plan::MetricsToJson(result.metrics)}};
}

Json ToJson(const std::vector<judge::SeriesHistory>& lines, size_t nights) {
  Json list = Json::array();
  for (const judge::SeriesHistory& line : lines) {
    const judge::Steadiness steadiness = judge::SteadinessOf(line.rows, nights);
    Json rows = Json::array();
    for (const store::HistoryRow* row : line.rows) rows.push_back(NightJson(*row));
    list.push_back({{"experiment", plan::DisplayName(line.experiment)},
                    {"suite", line.experiment.suite},
                    {"model", line.experiment.model},
                    {"test", plan::ToString(line.experiment.test)},
                    {"series", line.series},
                    {"environment", line.experiment.environment},
                    {"device_kind", line.device_kind},
                    {"outcomes", steadiness.outcomes},
                    {"flips", steadiness.flips},
                    {"flips_of", steadiness.nights},
                    {"unsteady", steadiness.unsteady()},
                    {"nights", std::move(rows)}});
  }
  return {{"schema", "dynbench.history/1"}, {"series", std::move(list)}};
}

VerbResult ShowHistory(Context& context, const Arguments& a) {
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const store::History history, source->History(FilterOf(a)));
  std::vector<judge::SeriesHistory> lines = judge::GroupHistory(history);
  if (!a.test.empty()) {
    std::erase_if(lines, [&](const judge::SeriesHistory& line) {
      return plan::ToString(line.experiment.test) != a.test;
    });
  }
  if (lines.empty()) {
    return absl::NotFoundError(
        absl::StrCat(source->Name(), " has no result of a model '", a.model, "'",
                     a.test.empty() ? "" : " in the test " + a.test,
                     "; dynbenchctl suite show NAME lists models, results JOB what was measured"));
  }
  const auto nights = static_cast<size_t>(a.nights);
  if (context.globals.json) {
    PrintJson(context, ToJson(lines, nights));
  } else {
    PrintTable(context, lines, nights);
  }
  return ExitCode::kDone;
}

}  // namespace

void AddHistory(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "history",
      "A model over its last nights: outcomes, how often they flip, and the newest figures.",
      [arguments](Context& context) { return ShowHistory(context, *arguments); });
  verb->add_option("MODEL", arguments->model, "name of a model, or SUITE/NAME")->required();
  verb->add_option("--nights", arguments->nights,
                   "so many results of each series and environment (default: 10)")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000).description(""))
      ->group("flags");
  AddTestFlag(tree, verb, &arguments->test, "only this test");
}

}  // namespace dynbench::cli
