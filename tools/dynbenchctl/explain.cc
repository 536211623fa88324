#include <memory>
#include <utility>

#include "common/base/status.h"
#include "common/formats/compiler_report.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/job_view.h"
#include "tools/dynbenchctl/row_line.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

struct Arguments {
  std::string first, model, test;
};

std::string ExperimentText(const ExperimentView& view, const formats::TableStyle& style) {
  const store::ResultRow& row = view.row.row;
  std::string text = "experiment " + std::to_string(row.id.value) + " of job " +
                     std::to_string(row.job.value) + "\n" + RowLine(view.row) + "\n";
  for (const std::string& reason : view.waiting_reasons) {
    text += "waiting: " + formats::Printable(reason) + "\n";
  }
  if (!view.attempts.empty()) {
    formats::TextTable table({{"lease"},
                              {"worker"},
                              {"slot"},
                              {"state"},
                              {"started (UTC)"},
                              {"ended (UTC)"},
                              {"reason"}});
    for (const store::AttemptRow& attempt : view.attempts) {
      AddTextRow(table, {std::to_string(attempt.id.lease.value), attempt.worker.value,
                         std::to_string(attempt.slot), attempt.state, DateTime(attempt.started_at),
                         DateTime(attempt.finished_at), attempt.reason});
    }
    text += "\nattempts\n" + table.Render(style);
  }
  if (!row.result) return text;
  if (!row.result->phases.empty()) {
    formats::TextTable table(
        {{"phase"}, {"seconds", formats::Align::kRight}, {"frozen s", formats::Align::kRight}});
    for (const plan::PhaseSpan& span : row.result->phases) {
      char seconds[32], frozen[32];
      std::snprintf(seconds, sizeof seconds, "%.3f", static_cast<double>(span.duration_ns) / 1e9);
      std::snprintf(frozen, sizeof frozen, "%.3f", static_cast<double>(span.frozen_ns) / 1e9);
      AddTextRow(table, {std::string(ToString(span.phase)), seconds, frozen});
    }
    text += "\nphases\n" + table.Render(style);
  }
  const std::string report = formats::CompilerReportText(*row.result);
  if (!report.empty()) text += "\ncompiler\n" + report;
  for (const std::string& note : row.result->notes)
    text += "note: " + formats::Printable(note) + "\n";
  if (!row.result->detail.empty()) text += "\n" + row.result->detail + "\n";
  return text;
}

Json ExperimentJson(const ExperimentView& view) {
  const JobView no_job;
  Json json = ResultsJson(no_job, {view.row})["results"][0];
  json["job"] = view.row.row.job.value;
  json["waiting_reasons"] = view.waiting_reasons;
  json["attempts"] = Json::array();
  for (const store::AttemptRow& attempt : view.attempts) {
    json["attempts"].push_back({{"lease", attempt.id.lease.value},
                                {"worker", attempt.worker.value},
                                {"slot", attempt.slot},
                                {"state", attempt.state},
                                {"reason", attempt.reason},
                                {"started_unix_ms", attempt.started_at.ms},
                                {"finished_unix_ms", attempt.finished_at.ms}});
  }
  return json;
}

// A job: its counts, why what waits waits, and what went wrong.
void ExplainJob(Context& context, const JobView& job, const std::vector<RowView>& rows) {
  if (context.globals.json) {
    Json json = ResultsJson(job, rows);
    json["schema"] = "dynbench.explain/1";
    PrintJson(context, json);
    return;
  }
  context.out() << StatusText({job});
  int pair = 0;  // of the last round that was not needed: one line a pair
  for (const RowView& row : rows) {
    if (row.row.unneeded_round() &&
        row.row.experiment.pair == std::exchange(pair, row.row.experiment.pair)) {
      continue;
    }
    const bool news =
        IsFailure(row) || !row.row.result || row.row.result->outcome == plan::Outcome::kSkipped;
    if (news) context.out() << "  " << row.row.id << "  " << RowLine(row) << "\n";
  }
}

VerbResult Explain(Context& context, const Arguments& arguments) {
  std::vector<ExperimentId> ids;
  const bool is_experiment = !arguments.first.empty() && arguments.first[0] == 'e';
  if (is_experiment && (!arguments.model.empty() || !arguments.test.empty())) {
    return absl::InvalidArgumentError(arguments.first +
                                      " is an experiment; MODEL and --test go with a job");
  }
  if (is_experiment) {
    ASSIGN_OR_RETURN(const ExperimentId id, ParseExperimentId(arguments.first));
    ids.push_back(id);
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  if (!is_experiment) {
    ASSIGN_OR_RETURN(const JobId id, ParseJobId(arguments.first));
    ASSIGN_OR_RETURN(const JobView job, source->GetJob(id));
    ASSIGN_OR_RETURN(const auto rows, source->Results(id, false));
    if (arguments.model.empty()) {
      ExplainJob(context, job, rows);
      return ExitCode::kDone;
    }
    ASSIGN_OR_RETURN(const auto found, RowsOfModel(rows, arguments.model, arguments.test));
    for (const RowView& row : found) ids.push_back(row.row.id);
  }
  Json list = Json::array();
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSIGN_OR_RETURN(const ExperimentView view, source->Experiment(ids[i]));
    if (context.globals.json) {
      list.push_back(ExperimentJson(view));
    } else {
      context.out() << (i > 0 ? "\n" : "") << ExperimentText(view, StyleOf(context));
    }
  }
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.explain/1"}, {"experiments", list}});
  }
  return ExitCode::kDone;
}

}  // namespace

void AddExplain(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "explain", "Why a job or an experiment is where it is: waiting reasons, attempts, phases.",
      [arguments](Context& context) { return Explain(context, *arguments); });
  verb->add_option("JOB", arguments->first,
                   "number of a job, or eN for the experiment with number N")
      ->required();
  verb->add_option("MODEL", arguments->model, "exact name of a model of that job");
  AddTestFlag(tree, verb, &arguments->test, "only this test of MODEL: performance or accuracy");
}

}  // namespace dynbench::cli
