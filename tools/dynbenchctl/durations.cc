#include "common/judge/durations.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/base/status.h"
#include "common/formats/format_number.h"
#include "tools/dynbenchctl/arguments.h"
#include "tools/dynbenchctl/compare_sides.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

constexpr int64_t kJobsSearched = 1000;
constexpr size_t kModelsShown = 10;
constexpr size_t kNamesShown = 5;
constexpr int kNights = 5;

struct Arguments {
  std::string job, against;
  int nights = kNights;
  bool all = false;
};

struct LoadedNight {
  JobView job;
  judge::Night rows;
};

// Everything that was found, for both ways of showing it.
struct Report {
  LoadedNight fresh;
  std::vector<LoadedNight> base;
  judge::Durations durations;
  std::vector<LoadedNight> trend;  // nights of its like, oldest first, this one last
};

// Attempts before the one that counts are asked for where there were any.
absl::StatusOr<LoadedNight> LoadNight(Source& source, JobView job) {
  LoadedNight night{std::move(job), {}};
  ASSIGN_OR_RETURN(const auto rows, source.Results(night.job.job.id, /*with_samples=*/false));
  for (const RowView& view : rows) {
    const store::ResultRow& row = view.row;
    if (row.attempt == 0) continue;
    std::vector<store::AttemptRow> attempts;
    if (row.attempt > 1 || !row.result || row.started_at.ms == 0) {
      ASSIGN_OR_RETURN(ExperimentView experiment, source.Experiment(row.id));
      attempts = std::move(experiment.attempts);
    }
    night.rows.push_back(judge::TimeOf(row, attempts));
  }
  return night;
}

// An earlier night of the same thing: finished, no retry, by its suite, label, user and size.
bool IsLike(const store::JobRow& job, const store::JobRow& other) {
  return other.id < job.id && other.state == "finished" && !other.retries &&
         other.suite == job.suite && other.label == job.label && other.user == job.user &&
         2 * other.coverage.planned >= job.coverage.planned &&
         other.coverage.planned <= 2 * job.coverage.planned;
}

absl::StatusOr<std::vector<LoadedNight>> LoadBase(Source& source, const std::string& against,
                                                  const JobView& job,
                                                  const std::vector<JobView>& like) {
  std::vector<LoadedNight> base;
  if (against.empty()) {
    if (like.empty()) {
      return absl::NotFoundError(absl::StrCat(
          "no earlier job is like job ", job.job.id.value,
          " (same suite, label, user, about as large, finished); name one with --against JOB"));
    }
    ASSIGN_OR_RETURN(base.emplace_back(), LoadNight(source, like.front()));
    return base;
  }
  ASSIGN_OR_RETURN(const SideSpec spec, ParseSide(against));
  if (!spec.environment.empty()) {
    return absl::InvalidArgumentError(
        "--against takes jobs alone: time is summed over the environments of a job");
  }
  for (const JobId id : spec.jobs) {
    if (id == job.job.id) {
      return absl::InvalidArgumentError(
          absl::StrCat("--against: job ", id.value, " is the job itself; name an earlier one"));
    }
    ASSIGN_OR_RETURN(JobView view, source.GetJob(id));
    ASSIGN_OR_RETURN(base.emplace_back(), LoadNight(source, std::move(view)));
  }
  return base;
}

absl::StatusOr<Report> Load(Source& source, const Arguments& a) {
  ASSIGN_OR_RETURN(const JobId id, ParseJobId(a.job));
  Report report;
  ASSIGN_OR_RETURN(JobView job, source.GetJob(id));
  ASSIGN_OR_RETURN(const auto jobs, source.Jobs(kJobsSearched));
  std::vector<JobView> like;  // newest first
  for (const JobView& other : jobs) {
    if (IsLike(job.job, other.job)) like.push_back(other);
  }
  ASSIGN_OR_RETURN(report.base, LoadBase(source, a.against, job, like));
  ASSIGN_OR_RETURN(report.fresh, LoadNight(source, std::move(job)));
  const size_t earlier = std::min(like.size(), static_cast<size_t>(a.nights - 1));
  for (size_t i = earlier; i-- > 0;) {
    ASSIGN_OR_RETURN(report.trend.emplace_back(), LoadNight(source, like[i]));
  }
  report.trend.push_back(report.fresh);
  std::vector<judge::Night> nights;
  for (const LoadedNight& night : report.base) nights.push_back(night.rows);
  report.durations = judge::CompareNights(nights, report.fresh.rows);
  return report;
}

std::string Signed(double seconds) {
  return (seconds < 0 ? "-" : "+") + FormatSeconds(std::abs(seconds));
}

double SlotSeconds(const judge::Night& night) {
  double seconds = 0;
  for (const judge::TimedRow& row : night) seconds += row.total_s;
  return seconds;
}

// From submission to the last result; of a job that runs, so far nothing is known.
double ElapsedSeconds(const store::JobRow& job) {
  return job.finished_at.ms == 0
             ? -1
             : static_cast<double>(job.finished_at.ms - job.submitted_at.ms) / 1000;
}

std::string Elapsed(const store::JobRow& job) {
  const double seconds = ElapsedSeconds(job);
  return seconds < 0 ? "runs" : FormatSeconds(seconds);
}

std::string NameOf(const store::JobRow& job) {
  return absl::StrCat("job ", job.id.value, job.label.empty() ? "" : " (" + job.label + ")");
}

// "compile +31 min, retries +5 min": what went in the model's direction, at most two.
std::string Mostly(const judge::ModelTime& model) {
  std::vector<std::pair<std::string, double>> parts(model.change.begin(), model.change.end());
  const double direction = model.change_s() < 0 ? -1 : 1;
  std::stable_sort(parts.begin(), parts.end(), [&](const auto& a, const auto& b) {
    return direction * a.second > direction * b.second;
  });
  std::string text;
  for (size_t i = 0; i < parts.size() && i < 2; ++i) {
    if (direction * parts[i].second < 0.1 * std::abs(model.change_s())) break;
    text += (text.empty() ? "" : ", ") + parts[i].first + " " + Signed(parts[i].second);
  }
  return text;
}

void PrintModels(Context& context, const Report& report, bool all) {
  const judge::Durations& d = report.durations;
  const size_t shown = all ? d.models.size() : std::min(d.explaining, kModelsShown);
  if (shown == 0) return;
  const double whole = d.common_s < 0 ? d.shrunk_s : d.grown_s;
  double explained = 0;
  for (size_t i = 0; i < d.explaining; ++i) explained += d.models[i].change_s();
  context.out() << Signed(explained) << " of " << Signed(whole) << " from " << d.explaining
                << " of " << d.models.size() << " models:\n\n";
  const auto right = formats::Align::kRight;
  formats::TextTable table({{"model"},
                            {"base", right},
                            {"new", right},
                            {"change", right},
                            {"share", right},
                            {"mostly"}});
  for (size_t i = 0; i < shown; ++i) {
    const judge::ModelTime& model = d.models[i];
    AddTextRow(table,
               {model.model, FormatSeconds(model.base_s), FormatSeconds(model.fresh_s),
                Signed(model.change_s()),
                i < d.explaining ? formats::Percent(model.change_s() / whole) : "", Mostly(model)});
  }
  context.out() << table.Render(StyleOf(context));
  if (shown < d.explaining) {
    context.out() << "and " << d.explaining - shown << " more: --all\n";
  }
  context.out() << "\n";
}

void PrintOnly(Context& context, const char* what,
               const std::vector<judge::ExperimentTime>& experiments, double seconds, bool all) {
  if (experiments.empty()) return;
  context.out() << what << ": " << experiments.size() << " experiments, " << FormatSeconds(seconds)
                << "\n";
  for (size_t i = 0; i < experiments.size() && (all || i < kNamesShown); ++i) {
    context.out() << "  " << formats::Printable(experiments[i].name) << ", "
                  << FormatSeconds(experiments[i].base_s + experiments[i].fresh_s) << "\n";
  }
  if (!all && experiments.size() > kNamesShown) {
    context.out() << "  and " << experiments.size() - kNamesShown << " more: --all\n";
  }
}

void PrintText(Context& context, const Report& report, bool all) {
  const judge::Durations& d = report.durations;
  std::string against;
  for (const LoadedNight& night : report.base) {
    against += (against.empty() ? "" : ", ") + NameOf(night.job.job);
  }
  context.out() << formats::Printable(NameOf(report.fresh.job.job)) << " against "
                << formats::Printable(against) << "\nslot time " << FormatSeconds(d.base_s) << " → "
                << FormatSeconds(d.fresh_s) << " (" << Signed(d.fresh_s - d.base_s) << ")";
  if (report.base.size() == 1) {
    context.out() << ", elapsed " << Elapsed(report.base.front().job.job) << " → "
                  << Elapsed(report.fresh.job.job);
  }
  context.out() << "\n\n";
  PrintModels(context, report, all);
  PrintOnly(context, "added", d.added, d.added_s, all);
  PrintOnly(context, "removed", d.removed, d.removed_s, all);
  if (report.trend.size() < 2) return;
  const auto right = formats::Align::kRight;
  formats::TextTable table(
      {{"night", right}, {"elapsed", right}, {"slot time", right}, {"ran", right}});
  for (const LoadedNight& night : report.trend) {
    AddTextRow(table, {absl::StrCat("job ", night.job.job.id.value), Elapsed(night.job.job),
                       FormatSeconds(SlotSeconds(night.rows)), std::to_string(night.rows.size())});
  }
  context.out() << (d.added.empty() && d.removed.empty() ? "" : "\n")
                << table.Render(StyleOf(context));
}

Json ToJson(const judge::ExperimentTime& time) {
  return {{"experiment", time.name}, {"base_s", time.base_s}, {"new_s", time.fresh_s}};
}

Json ToJson(const std::vector<judge::ExperimentTime>& times) {
  Json list = Json::array();
  for (const judge::ExperimentTime& time : times) list.push_back(ToJson(time));
  return list;
}

Json ToJson(const LoadedNight& night) {
  const store::JobRow& job = night.job.job;
  const double elapsed = ElapsedSeconds(job);
  return {{"job", job.id.value},
          {"label", job.label},
          {"submitted_unix_ms", job.submitted_at.ms},
          {"elapsed_s", elapsed < 0 ? Json() : Json(elapsed)},
          {"slot_s", SlotSeconds(night.rows)},
          {"ran", night.rows.size()}};
}

Json ToJson(const Report& report) {
  const judge::Durations& d = report.durations;
  Json json = {{"schema", "dynbench.durations/1"},
               {"job", ToJson(report.fresh)},
               {"base_s", d.base_s},
               {"new_s", d.fresh_s},
               {"change_s", d.fresh_s - d.base_s},
               {"common_change_s", d.common_s},
               {"grown_s", d.grown_s},
               {"shrunk_s", d.shrunk_s},
               {"explaining", d.explaining},
               {"added", ToJson(d.added)},
               {"removed", ToJson(d.removed)}};
  for (const char* key : {"against", "models", "nights"}) json[key] = Json::array();
  for (const LoadedNight& night : report.base) json["against"].push_back(ToJson(night));
  for (const LoadedNight& night : report.trend) json["nights"].push_back(ToJson(night));
  for (const judge::ModelTime& model : d.models) {
    json["models"].push_back({{"model", model.model},
                              {"base_s", model.base_s},
                              {"new_s", model.fresh_s},
                              {"change_s", model.change_s()},
                              {"change_by_part_s", model.change},
                              {"experiments", ToJson(model.experiments)}});
  }
  return json;
}

VerbResult ShowDurations(Context& context, const Arguments& a) {
  if (a.all && context.globals.json) {
    return absl::InvalidArgumentError("--all would have no effect: it lengthens the tables");
  }
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const Report report, Load(*source, a));
  if (context.globals.json) {
    PrintJson(context, ToJson(report));
  } else {
    PrintText(context, report, a.all);
  }
  return report.durations.models.empty() ? ExitCode::kNothingMeasured : ExitCode::kDone;
}

}  // namespace

void AddDurations(CommandTree& tree) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = tree.AddVerb(
      "durations",
      "Which models made a night longer: slot time against the night before, by model and phase.",
      [arguments](Context& context) { return ShowDurations(context, *arguments); });
  AddJobArgument(verb, &arguments->job);
  verb->add_option("--against", arguments->against,
                   "the night before, or several: 1,2,3 (default: the last finished job of the "
                   "same suite, label and user that is about as large)")
      ->type_name("JOBS")
      ->group("flags");
  verb->add_option("--nights", arguments->nights,
                   "length of the trend, of jobs of its like (default: 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->group("flags");
  verb->add_flag("--all", arguments->all, "every model and experiment, however many")
      ->group("flags");
}

}  // namespace dynbench::cli
