#include "common/judge/compare.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "common/judge/page_faults.h"
#include "common/stats/stats.h"

namespace dynbench::judge {
namespace {

// Over how many models a common movement of eager is worth a word, and from what size on.
constexpr size_t kCanaryModels = 5;
constexpr double kCanaryShare = 0.05;
constexpr size_t kMissingNamed = 3;

bool Shown(const Options& options, Metric metric) {
  return options.metrics.empty() || options.metrics.contains(metric);
}

bool Gates(const Options& options, Metric metric) {
  if (!options.metrics.empty()) return options.metrics.contains(metric);
  return metric != Metric::kSpeedup && metric != Metric::kEagerLatency;
}

// Broken models before slow ones, then by how far a metric went.
double SizeOf(const Judgement& j) {
  if (j.metric == Metric::kStatus) return 1e6;
  return j.change ? std::abs(std::log1p(*j.change)) : 0;
}

// Unknown, yet large enough that somebody should measure again.
bool Suspicious(const Judgement& j) {
  return j.verdict == Verdict::kUnknown && j.metric == Metric::kCompiledLatency && j.change &&
         std::abs(std::log1p(*j.change)) > std::log(1.25) &&
         (!j.interval || j.interval->low > 0 || j.interval->high < 0);
}

std::vector<Finding> Rank(const Comparison& comparison) {
  std::vector<Finding> findings;
  for (size_t i = 0; i < comparison.judgements.size(); ++i) {
    const Judgement& j = comparison.judgements[i];
    if (!Shown(comparison.options, j.metric)) continue;
    const bool regressed = j.verdict == Verdict::kRegressed;
    if (regressed && Gates(comparison.options, j.metric)) {
      findings.push_back({Level::kRed, i, SizeOf(j)});
    } else if (regressed || j.verdict == Verdict::kImproved || Suspicious(j) ||
               (j.metric == Metric::kStatus && j.verdict == Verdict::kUnknown)) {
      findings.push_back({Level::kNotice, i, SizeOf(j)});
    }
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.level != b.level ? a.level < b.level : a.size > b.size;
  });
  return findings;
}

// When eager moved in the middle model, it was the machine, or torch below the compiler.
void NoteCommonMovement(Comparison* comparison) {
  std::vector<double> changes;
  for (const Judgement& j : comparison->judgements) {
    if (j.metric == Metric::kEagerLatency && j.change && j.verdict != Verdict::kIncomparable) {
      changes.push_back(std::log1p(*j.change));
    }
  }
  if (changes.size() < kCanaryModels) return;
  const double middle = std::expm1(stats::Median(changes));
  if (std::abs(middle) < kCanaryShare) return;
  comparison->notes.push_back(
      "eager itself is " + std::to_string(std::lround(std::abs(middle) * 100)) + "% " +
      (middle > 0 ? "slower" : "faster") + " in the middle of " + std::to_string(changes.size()) +
      " models: another machine, a busy one, or eager kernels that changed");
}

void NoteHosts(Comparison* comparison) {
  size_t elsewhere = 0, dropped = 0;
  for (const Pair& pair : comparison->pairing.pairs) {
    elsewhere += pair.same_host ? 0 : 1;
    dropped += pair.dropped_elsewhere;
  }
  if (elsewhere > 0) {
    comparison->notes.push_back(std::to_string(elsewhere) + " of " +
                                std::to_string(comparison->pairing.pairs.size()) +
                                " pairs were measured on different hosts: a machine difference "
                                "cannot be told from a change");
  }
  if (dropped > 0) {
    comparison->notes.push_back(std::to_string(dropped) +
                                " processes are left out: the other side has none on their host");
  }
}

void NoteOneProcess(Comparison* comparison) {
  for (const Judgement& j : comparison->judgements) {
    if (j.metric == Metric::kStatus || j.p || j.verdict == Verdict::kIncomparable || j.disturbed) {
      continue;
    }
    if (!comparison->pairing.pairs[j.pair].same_host) continue;
    if (comparison->pair_job) {
      comparison->notes.push_back("one round cannot tell a change from noise");
      return;
    }
    comparison->notes.push_back(
        "one process a side cannot tell a change from noise: compare several jobs a side "
        "(compare 1,2,3 4,5,6) or name jobs of one build with --noise");
    return;
  }
}

void NoteDisturbed(Comparison* comparison) {
  size_t disturbed = 0, all = 0;
  for (const Pair& pair : comparison->pairing.pairs) {
    for (const auto* side : {&pair.base, &pair.fresh}) {
      for (const Process* process : *side) {
        if (!ValueOf(Metric::kCompileSeconds, *process->row.result)) continue;
        ++all;
        disturbed += Disturbed(Metric::kCompileSeconds, *process->row.result) ? 1 : 0;
      }
    }
  }
  if (disturbed == 0) return;
  comparison->notes.push_back("the compile seconds of " + std::to_string(disturbed) + " of " +
                              std::to_string(all) +
                              " processes count for nothing: others ran on their cores meanwhile");
}

void NoteRounds(Comparison* comparison) {
  size_t disturbed = 0, all = 0, open = 0;
  for (const Pair& pair : comparison->pairing.pairs) {
    for (const MeasuredRound& round : pair.rounds) {
      ++all;
      disturbed += round.judgement.state == RoundState::kDisturbed ? 1 : 0;
    }
    open += pair.paired && pair.ended.empty() ? 1 : 0;
  }
  if (disturbed > 0) {
    comparison->notes.push_back(std::to_string(disturbed) + " of " + std::to_string(all) +
                                " rounds were disturbed and count for nothing (--why MODEL)");
  }
  if (open > 0) {
    comparison->notes.push_back(std::to_string(open) + " of " +
                                std::to_string(comparison->pairing.pairs.size()) +
                                " pairs were not decided before their last round, or still run");
  }
}

// What new was to run and nothing can be said of: a model that is missing is no success. Empty:
// there is none.
std::string Missing(const Comparison& comparison) {
  std::vector<const plan::Experiment*> missing;
  for (const Judgement& j : comparison.judgements) {
    const Pair& pair = comparison.pairing.pairs[j.pair];
    if (pair.killer == nullptr || !pair.killer_is_new || j.metric != Metric::kStatus) continue;
    if (j.verdict == Verdict::kUnknown) missing.push_back(&pair.experiment);
  }
  for (const LeftOut& left_out : comparison.pairing.left_out) {
    if (left_out.owed) missing.push_back(&left_out.experiment);
  }
  if (missing.empty()) return "";
  std::vector<std::string> names;
  for (const plan::Experiment* e : missing) {
    std::string name = e->suite + "/" + e->model;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text = "no verdict of " + std::to_string(missing.size()) +
                     (missing.size() == 1 ? " experiment" : " experiments") +
                     " that new was to run: ";
  for (size_t i = 0; i < std::min(names.size(), kMissingNamed); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() <= kMissingNamed) return text;
  return text + " and " + std::to_string(names.size() - kMissingNamed) + " more";
}

void Close(Comparison* comparison) {
  const auto set = [&](Gate gate, std::string reason) {
    comparison->gate = gate;
    comparison->gate_reason = std::move(reason);
  };
  const auto& pairs = comparison->pairing.pairs;
  const std::string missing = Missing(*comparison);
  const std::string and_missing = missing.empty() ? "" : "; " + missing;
  if (pairs.empty()) {
    return set(Gate::kNotEnough, "base and new have no experiment in common" + and_missing);
  }
  if (!comparison->options.rules.allow_incomparable &&
      std::none_of(pairs.begin(), pairs.end(), [](const Pair& p) { return p.comparable(); })) {
    return set(Gate::kIncomparable,
               "nothing is comparable: " + comparison->judgements.front().reason +
                   "; --allow-incomparable compares all the same");
  }
  const auto red = std::count_if(comparison->findings.begin(), comparison->findings.end(),
                                 [](const Finding& f) { return f.level == Level::kRed; });
  if (red > 0) return set(Gate::kRegression, std::to_string(red) + " regressions" + and_missing);
  if (!missing.empty()) return set(Gate::kNotEnough, missing);
  for (const MetricInfo& info : AllMetrics()) {
    size_t judged = 0, unknown = 0;
    for (const Judgement& j : comparison->judgements) {
      if (j.metric != info.metric || j.verdict == Verdict::kIncomparable || j.unsteady) continue;
      ++(j.verdict == Verdict::kUnknown ? unknown : judged);
    }
    const bool asked = comparison->options.metrics.contains(info.metric);
    if (!Gates(comparison->options, info.metric)) continue;
    // A few verdicts among many unknown ones do not say that nothing regressed.
    if (judged > 0 ? judged >= unknown : unknown == 0 && !asked) continue;
    return set(Gate::kNotEnough, "not enough data to judge " + std::string(info.word) + " (" +
                                     std::to_string(unknown) + " of " +
                                     std::to_string(judged + unknown) + " unknown)");
  }
  set(Gate::kHolds, "no regression");
}

// Who is not counted stands beside the verdict of the gate, whatever that is.
void NameUnsteady(Comparison* comparison) {
  std::string names;
  for (const Judgement& j : comparison->judgements) {
    if (!j.unsteady) continue;
    const plan::Experiment& e = comparison->pairing.pairs[j.pair].experiment;
    names += (names.empty() ? "" : ", ") + e.suite + "/" + e.model + " " + j.steadiness->Text();
  }
  if (!names.empty()) comparison->gate_reason += "; unsteady, not counted: " + names;
}

bool Turned(const Judgement& j) {
  return j.metric == Metric::kStatus &&
         (j.verdict == Verdict::kRegressed || j.verdict == Verdict::kImproved);
}

// Its past before the new side's rows.
std::vector<const store::HistoryRow*> Before(const SeriesHistory& past, const Pair& pair) {
  std::vector<const store::HistoryRow*> before;
  for (const store::HistoryRow* row : past.rows) {
    const bool fresh = std::any_of(pair.fresh.begin(), pair.fresh.end(),
                                   [&](const Process* p) { return p->row.id == row->row.id; });
    if (!fresh) before.push_back(row);
  }
  return before;
}

// The statuses of the side that failed.
bool ForgivenBy(const Steadiness& before, const std::vector<const Process*>& failed) {
  return before.unsteady() && std::all_of(failed.begin(), failed.end(), [&](const Process* p) {
           const std::string& status = p->row.result->status;
           return MayBeChance(status) && before.failures.contains(status);
         });
}

void Weigh(const std::vector<SeriesHistory>& past, const Pair& pair, Judgement* j) {
  const std::string series = plan::SeriesKey(pair.experiment);
  const plan::Experiment& fresh = pair.fresh.front()->row.experiment;
  const std::string kind = DeviceKind(pair.fresh.front()->host, fresh.device);
  for (const SeriesHistory& line : past) {
    const std::string& environment = line.experiment.environment;
    if (line.series != series || line.device_kind != kind) continue;
    if (environment != fresh.environment &&
        environment != pair.base.front()->row.experiment.environment) {
      continue;
    }
    const Steadiness steadiness = SteadinessOf(line.rows);
    const bool unsteady = ForgivenBy(SteadinessOf(Before(line, pair)),
                                     j->verdict == Verdict::kRegressed ? pair.fresh : pair.base);
    // Of base's environment and new's the one that excuses it is told, else new's.
    if (j->unsteady || (j->steadiness && !unsteady && environment != fresh.environment)) continue;
    j->steadiness = steadiness;
    j->unsteady = unsteady;
  }
  if (!j->steadiness) return;
  if (j->unsteady) {
    j->verdict = Verdict::kUnknown;
    j->reason = "unsteady, " + j->steadiness->Text() + " nights: " + j->reason;
  } else {
    j->reason += " (" + j->steadiness->Text() + " nights)";
  }
}

}  // namespace

std::string_view ToString(Gate gate) {
  switch (gate) {
    case Gate::kHolds:
      return "holds";
    case Gate::kRegression:
      return "regression";
    case Gate::kNotEnough:
      return "not_enough_data";
    case Gate::kIncomparable:
      return "incomparable";
  }
  return "";
}

namespace {

Comparison JudgeAll(const Side& base, const Side& fresh, const std::vector<NoiseFloor>& noise,
                    const Options& options, Pairing pairing, bool pair_job) {
  Comparison comparison;
  comparison.base_name = base.name;
  comparison.fresh_name = fresh.name;
  comparison.options = options;
  comparison.pairing = std::move(pairing);
  comparison.pair_job = pair_job;
  comparison.judgements = Judge(comparison.pairing, noise, options.rules);
  comparison.summary = Summarize(comparison.pairing, options.rules.allow_incomparable);
  comparison.software = BuildDifferences(base, fresh);
  comparison.findings = Rank(comparison);
  NoteCommonMovement(&comparison);
  NoteHosts(&comparison);
  NoteOneProcess(&comparison);
  NoteRounds(&comparison);
  NoteDisturbed(&comparison);
  if (std::string note = PageFaultNote(comparison.pairing, comparison.judgements); !note.empty()) {
    comparison.notes.push_back(std::move(note));
  }
  Close(&comparison);
  return comparison;
}

}  // namespace

Comparison Compare(const Side& base, const Side& fresh, const std::vector<NoiseFloor>& noise,
                   const Options& options) {
  return JudgeAll(base, fresh, noise, options, PairUp(base, fresh), false);
}

std::vector<std::string> TurnedSeries(const Comparison& comparison) {
  std::set<std::string> series;
  for (const Judgement& j : comparison.judgements) {
    if (Turned(j)) series.insert(plan::SeriesKey(comparison.pairing.pairs[j.pair].experiment));
  }
  return {series.begin(), series.end()};
}

void WeighHistory(const std::vector<SeriesHistory>& past, Comparison* comparison) {
  for (Judgement& j : comparison->judgements) {
    // A model that takes its worker down fails by more than chance.
    const Pair& pair = comparison->pairing.pairs[j.pair];
    if (Turned(j) && pair.killer == nullptr) Weigh(past, pair, &j);
  }
  comparison->findings = Rank(*comparison);
  Close(comparison);
  NameUnsteady(comparison);
}

Comparison ComparePairs(const Side& base, const Side& fresh, const Options& options) {
  return JudgeAll(base, fresh, {}, options, PairRounds(base, fresh), true);
}

}  // namespace dynbench::judge
