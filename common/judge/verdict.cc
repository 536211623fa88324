#include "common/judge/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "common/stats/fdr.h"
#include "common/stats/hierarchy.h"
#include "common/stats/stats.h"
#include "common/stats/welch.h"

namespace dynbench::judge {
namespace {

// Many alike series cannot make the prior better than this many own degrees of freedom: their
// medians have heavier tails than the prior's model.
constexpr double kPriorDegreesMax = 20;
constexpr size_t kPriorSeriesMin = 5;
// No process repeats itself better than a thousandth; equal medians are luck, or the timer's grain.
constexpr double kNoiseMin = 0.001;
// One process a side: standard errors of its samples that a change must exceed.
constexpr double kScatterOfOne = 4;

// A metric of a pair on its way to a verdict.
struct Case {
  Judgement judgement;
  std::vector<stats::Stratum> strata;  // logarithms, by host; rounds are one
  stats::Variance own;                 // both sides and the noise floor, each around its own mean
  double floor_degrees = 0;            // of them, from the noise floor
  double sampling_variance = 0;        // of one process's value, from its samples
  std::optional<stats::Shift> shift;   // where a test is possible
  // Why its change is not told, however certain it is; empty: it may be. What is not told counts in
  // the false discovery rate as if nothing had been seen.
  std::string not_told;
  bool rejected = false;
};

// By series and host.
using Noise = std::map<std::string, std::map<std::string, std::vector<const NoiseFloor*>>>;

Noise GroupNoise(const std::vector<NoiseFloor>& floors) {
  Noise noise;
  for (const NoiseFloor& floor : floors) noise[floor.series][floor.worker_host].push_back(&floor);
  return noise;
}

double Mean(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

std::string Percent(double share) {
  const double percent = share * 100;
  const double rounded =
      std::abs(percent) < 10 ? std::round(percent * 10) / 10 : std::round(percent);
  std::string text = std::to_string(rounded);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

std::string Reasons(const Pair& pair) {
  std::string text;
  for (const Difference& difference : pair.differences) {
    if (difference.blocks) text += (text.empty() ? "" : "; ") + ToString(difference);
  }
  return text;
}

// What is known of the hosts on which the pair ran.
stats::Variance FloorOf(const Noise& noise, const Pair& pair, Metric metric) {
  std::vector<stats::Variance> variances;
  const auto of_series = noise.find(plan::SeriesKey(pair.experiment));
  if (of_series == noise.end()) return {};
  std::set<std::string> hosts;
  for (const Process* process : pair.base) hosts.insert(process->row.worker_host);
  for (const auto& [host, floors] : of_series->second) {
    if (!hosts.contains(host)) continue;
    for (const NoiseFloor* floor : floors) {
      if (floor->metric == metric) variances.push_back(floor->between);
    }
  }
  return Pool(variances);
}

// Rounds with a figure on both sides: the i-th of each side is one round.
void TakeRounds(Metric metric, const Pair& pair, bool disturbed_too, Case* c) {
  stats::Stratum& all = c->strata.emplace_back();
  bool in_blocks = false;
  std::vector<double> variances;
  for (size_t i = 0; i < pair.base.size(); ++i) {
    const plan::Result& base_result = *pair.base[i]->row.result;
    const plan::Result& fresh_result = *pair.fresh[i]->row.result;
    const auto difference = DifferenceOf(metric, base_result, fresh_result);
    const bool disturbed = Disturbed(metric, base_result) || Disturbed(metric, fresh_result);
    if (!difference || (disturbed && !disturbed_too)) continue;
    all.base.push_back(difference->base);
    all.fresh.push_back(difference->fresh);
    in_blocks = in_blocks || difference->sampling_variance.has_value();
    variances.push_back(difference->sampling_variance
                            ? *difference->sampling_variance / 2
                            : std::max(SamplingVariance(metric, {pair.base[i]}),
                                       SamplingVariance(metric, {pair.fresh[i]})));
  }
  // The samples' spread has the host's changes of pace in it, which blocks cancel.
  if (in_blocks) c->sampling_variance = stats::Median(variances);
}

// Hosts differ by more than builds do: what is compared is what differs within each. Sides that
// share no host are compared as they are.
void TakeByHost(Metric metric, const Pair& pair, bool disturbed_too, Case* c) {
  std::map<std::string, std::pair<std::vector<const Process*>, std::vector<const Process*>>> hosts;
  const auto host = [&](const Process* p) { return pair.same_host ? p->row.worker_host : ""; };
  for (const Process* process : pair.base) hosts[host(process)].first.push_back(process);
  for (const Process* process : pair.fresh) hosts[host(process)].second.push_back(process);
  for (const auto& [name, sides] : hosts) {
    c->strata.push_back(
        {LogsOf(metric, sides.first, disturbed_too), LogsOf(metric, sides.second, disturbed_too)});
  }
}

void TakeFigures(Metric metric, const Pair& pair, bool disturbed_too, Case* c) {
  c->strata.clear();
  if (pair.paired) return TakeRounds(metric, pair, disturbed_too, c);
  TakeByHost(metric, pair, disturbed_too, c);
}

double WeightOf(const Case& c) {
  double weight = 0;
  for (const stats::Stratum& stratum : c.strata) weight += stratum.weight();
  return weight;
}

// Mean over the hosts by their weights, so that new's less base's is the difference that is tested.
double LevelOf(const Case& c, std::vector<double> stats::Stratum::*side) {
  double level = 0;
  for (const stats::Stratum& stratum : c.strata) {
    if (stratum.weight() > 0) level += stratum.weight() / WeightOf(c) * Mean(stratum.*side);
  }
  return level;
}

// Of the hosts that have both.
size_t ProcessesOf(const Case& c, std::vector<double> stats::Stratum::*side) {
  size_t processes = 0;
  for (const stats::Stratum& stratum : c.strata) {
    if (stratum.weight() > 0) processes += (stratum.*side).size();
  }
  return processes;
}

// Around the mean of each side on each host.
stats::Variance WithinHosts(const Case& c) {
  std::vector<std::vector<double>> groups;
  for (const stats::Stratum& stratum : c.strata) {
    groups.push_back(stratum.base);
    groups.push_back(stratum.fresh);
  }
  return stats::PooledVariance(groups);
}

// "base", "new" or "both sides": where every figure is disturbed.
std::string DisturbedSides(Metric metric, const Pair& pair) {
  const bool base = LogsOf(metric, pair.base).empty(), fresh = LogsOf(metric, pair.fresh).empty();
  return base == fresh ? "both sides" : base ? "base" : "new";
}

// Of one process, from how the differences within rounds scatter: what both sides of a round share
// (the host in that minute) is not in it. The test of these is the paired t test.
stats::Variance WithinRounds(const Case& c) {
  std::vector<double> differences;
  const stats::Stratum& all = c.strata.front();
  for (size_t i = 0; i < all.base.size(); ++i) differences.push_back(all.fresh[i] - all.base[i]);
  stats::Variance variance = stats::PooledVariance(std::vector<std::vector<double>>{differences});
  variance.variance /= 2;
  return variance;
}

std::optional<Case> MakeCase(const Pairing& pairing, size_t index, Metric metric,
                             const Noise& noise) {
  const Pair& pair = pairing.pairs[index];
  Case c;
  Judgement& j = c.judgement;
  c.sampling_variance =
      std::max(SamplingVariance(metric, pair.base), SamplingVariance(metric, pair.fresh));
  TakeFigures(metric, pair, /*disturbed_too=*/false, &c);
  if (WeightOf(c) == 0) {
    TakeFigures(metric, pair, /*disturbed_too=*/true, &c);
    j.disturbed = true;
    j.reason = "others ran on the cores of " + DisturbedSides(metric, pair) +
               " while the model compiled: measure again";
  }
  if (WeightOf(c) == 0) return std::nullopt;
  j.pair = index;
  j.metric = metric;
  j.base_processes = ProcessesOf(c, &stats::Stratum::base);
  j.fresh_processes = ProcessesOf(c, &stats::Stratum::fresh);
  j.base = std::exp(LevelOf(c, &stats::Stratum::base));
  j.fresh = std::exp(LevelOf(c, &stats::Stratum::fresh));
  j.change = *j.fresh / *j.base - 1;
  const stats::Variance floor = FloorOf(noise, pair, metric);
  c.floor_degrees = floor.degrees_of_freedom;
  c.own = pair.paired ? WithinRounds(c) : Pool({floor, WithinHosts(c)});
  return c;
}

// The process is the unit: a test needs to have seen how processes differ, on the same machine.
bool Testable(const Case& c, const Pair& pair) {
  const size_t fewest = std::min(c.judgement.base_processes, c.judgement.fresh_processes);
  return pair.same_host && c.own.degrees_of_freedom > 0 && (fewest >= 2 || c.floor_degrees >= 2);
}

void TestShift(const stats::VariancePrior& prior, const Rules& rules, Case* c) {
  stats::Variance between = stats::Moderate(c->own, prior);
  between.variance = std::max({between.variance, c->sampling_variance, kNoiseMin * kNoiseMin});
  c->shift = stats::CompareStrata(c->strata, between, rules.confidence);
  Judgement& j = c->judgement;
  j.noise = std::sqrt(between.variance);
  j.p = c->shift->p;
  j.interval =
      stats::Interval{std::expm1(c->shift->interval.low), std::expm1(c->shift->interval.high)};
}

Verdict Direction(const MetricInfo& info, double change) {
  return (change > 0) == info.lower_is_better ? Verdict::kRegressed : Verdict::kImproved;
}

bool BelowAbsoluteFloor(const MetricInfo& info, const Judgement& j) {
  return std::abs(*j.fresh - *j.base) < info.absolute_floor;
}

// How many processes a side would make the interval as narrow as the resolution.
std::string MoreProcesses(const Case& c, double resolution) {
  const double half = c.shift->interval.high - c.shift->difference;
  const size_t fewest = std::min(c.judgement.base_processes, c.judgement.fresh_processes);
  const double k = static_cast<double>(fewest) * std::pow(half / std::log1p(resolution), 2);
  if (!(k < 100)) return "too noisy";
  return "about " + std::to_string(static_cast<int>(std::ceil(k))) + " processes a side would do";
}

// Also certain is what would be told by its p, had it another size or kind.
void DecideTested(const MetricInfo& info, double cut, const Rules& rules, Case* c) {
  Judgement& j = c->judgement;
  const bool certain = c->shift->p <= cut;
  const double of_test =
      std::expm1(stats::TwoSidedT(cut, c->shift->degrees_of_freedom) * c->shift->standard_error);
  j.needed = std::max({rules.threshold, of_test, info.absolute_floor / *j.base});
  // Below the absolute floor nothing matters, however wide the interval is in percent.
  const double margin = std::max(info.resolution, info.absolute_floor / *j.base);
  if (c->rejected) {
    j.verdict = Direction(info, *j.change);
    j.reason = "certain at a false discovery rate of " + Percent(rules.false_discovery_rate);
  } else if (certain && !c->not_told.empty()) {
    j.verdict = Verdict::kSame;
    j.reason = c->not_told;
  } else if (j.interval->low > -margin && j.interval->high < margin) {
    j.verdict = Verdict::kSame;
    j.reason = "no change found, and one of " + Percent(margin) + " would show";
  } else if (certain) {
    j.verdict = Verdict::kUnknown;
    j.reason = "certain, but not whether eager alone moved";
  } else {
    j.verdict = Verdict::kUnknown;
    j.reason = "noise of " + Percent(*j.noise) + " between processes hides changes up to " +
               Percent(*j.needed) + ": " + MoreProcesses(*c, info.resolution);
  }
}

// Nothing is known of how processes differ there, so only what identical processes have not done is
// told: beyond the metric's factor, and beyond what the samples' own scatter explains.
void DecideByBound(const MetricInfo& info, const Pair& pair, Case* c) {
  Judgement& j = c->judgement;
  const double bound = std::max(std::log(info.one_process_factor),
                                kScatterOfOne * std::sqrt(2 * c->sampling_variance));
  j.needed = std::expm1(bound);
  const std::string why = !pair.same_host        ? "base and new on different hosts"
                          : c->strata.size() > 1 ? "one process a side and host, and no noise floor"
                                                 : "one process a side and no noise floor";
  if (std::max(*j.base, *j.fresh) < info.absolute_floor) {
    j.verdict = Verdict::kSame;
    j.reason = "both are below the absolute floor of the metric";
  } else if (std::abs(std::log1p(*j.change)) > bound) {
    const bool tiny = BelowAbsoluteFloor(info, j);
    j.verdict = tiny ? Verdict::kSame : Direction(info, *j.change);
    j.reason = why + ", but more than identical processes differ";
  } else {
    j.verdict = Verdict::kUnknown;
    j.reason = why + (pair.same_host ? ": measure each side several times"
                                     : ": measure both sides on one host");
  }
}

// Of one pair, where all three were measured.
struct Timings {
  Case *speedup = nullptr, *eager = nullptr, *compiled = nullptr;

  bool BothTiny() const {
    return BelowAbsoluteFloor(InfoOf(Metric::kEagerLatency), eager->judgement) &&
           BelowAbsoluteFloor(InfoOf(Metric::kCompiledLatency), compiled->judgement);
  }
};

constexpr char kEagerAlone[] = "eager alone moved; the compiler neither gained nor lost";
constexpr char kBothTiny[] = "both timings changed by less than their absolute floor";

// A pair's cases are together.
std::vector<Timings> TimingsOf(std::vector<Case>* cases) {
  std::vector<Timings> all;
  Timings timings;
  for (size_t i = 0; i < cases->size(); ++i) {
    Case& c = (*cases)[i];
    if (c.judgement.metric == Metric::kSpeedup) timings.speedup = &c;
    if (c.judgement.metric == Metric::kEagerLatency) timings.eager = &c;
    if (c.judgement.metric == Metric::kCompiledLatency) timings.compiled = &c;
    if (i + 1 < cases->size() && (*cases)[i + 1].judgement.pair == c.judgement.pair) continue;
    if (timings.speedup != nullptr && timings.eager != nullptr && timings.compiled != nullptr) {
      all.push_back(timings);
    }
    timings = Timings();
  }
  return all;
}

bool Moves(const Case& c) {
  const Verdict verdict = c.judgement.verdict;
  return c.rejected || verdict == Verdict::kImproved || verdict == Verdict::kRegressed;
}

// A ratio of two timings says nothing of the compiler when only eager moved.
void NameTheSideThatMoved(const Timings& timings) {
  Judgement& speedup = timings.speedup->judgement;
  const bool eager_moved = Moves(*timings.eager), compiled_moved = Moves(*timings.compiled);
  speedup.moved = eager_moved && compiled_moved ? Moved::kBoth
                  : eager_moved                 ? Moved::kEager
                  : compiled_moved              ? Moved::kCompiled
                                                : Moved::kNone;
  if (!Moves(*timings.speedup)) return;
  if (speedup.moved == Moved::kEager) {
    speedup.verdict = Verdict::kSame;
    speedup.reason = kEagerAlone;
  } else if (timings.BothTiny()) {
    speedup.verdict = Verdict::kSame;
    speedup.reason = kBothTiny;
  } else if (speedup.moved == Moved::kNone) {
    speedup.reason += "; which side moved is not certain";
  }
}

struct StatusOfSide {
  size_t passed = 0, failed = 0;
  std::string words;  // "pass", "fail_accuracy, crash"
  std::string error;
};

StatusOfSide StatusOf(const std::vector<const Process*>& processes) {
  StatusOfSide side;
  std::set<std::string> words;
  for (const Process* process : processes) {
    const plan::Result& result = *process->row.result;
    const bool passed = result.outcome == plan::Outcome::kPassed;
    ++(passed ? side.passed : side.failed);
    words.insert(result.status.empty() ? std::string(plan::ToString(result.outcome))
                                       : result.status);
    if (!passed && side.error.empty()) side.error = result.error;
  }
  for (const std::string& word : words) side.words += (side.words.empty() ? "" : ", ") + word;
  return side;
}

// With the process that took its worker down, which is in no round: it says that the side fails.
Judgement JudgeStatus(const Pair& pair, size_t index) {
  std::vector<const Process*> of_base = pair.base, of_fresh = pair.fresh;
  if (pair.killer != nullptr) (pair.killer_is_new ? of_fresh : of_base).push_back(pair.killer);
  const StatusOfSide base = StatusOf(of_base), fresh = StatusOf(of_fresh);
  Judgement j;
  j.pair = index;
  j.metric = Metric::kStatus;
  j.base_processes = of_base.size();
  j.fresh_processes = of_fresh.size();
  j.base_status = of_base.empty() ? "not measured" : base.words;
  j.fresh_status = of_fresh.empty() ? "not measured" : fresh.words;
  const auto flaky = [](const StatusOfSide& s) { return s.passed > 0 && s.failed > 0; };
  if (of_base.empty() || of_fresh.empty()) {
    j.verdict = Verdict::kUnknown;
    j.reason = std::string(pair.killer_is_new ? "new: " : "base: ") +
               (pair.killer_is_new ? fresh : base).error +
               (pair.killer_is_new ? "; base was not measured" : "; new was not measured");
  } else if (flaky(base) || flaky(fresh)) {
    j.verdict = Verdict::kUnknown;
    const StatusOfSide& side = flaky(fresh) ? fresh : base;
    j.reason = std::string(flaky(fresh) ? "new" : "base") + " passed " +
               std::to_string(side.passed) + " of " + std::to_string(side.passed + side.failed);
  } else if (base.passed > 0 && fresh.failed > 0) {
    j.verdict = Verdict::kRegressed;
    j.reason = fresh.error.empty() ? "passed before" : fresh.error;
  } else if (base.failed > 0 && fresh.passed > 0) {
    j.verdict = Verdict::kImproved;
    j.reason = "failed before: " + (base.error.empty() ? base.words : base.error);
  } else {
    j.verdict = Verdict::kSame;
    j.reason = base.words == fresh.words ? "" : "fails in another way";
  }
  return j;
}

// The cases that may be judged, and what is decided without a test.
std::vector<Case> MakeCases(const Pairing& pairing, const Noise& noise, const Rules& rules) {
  std::vector<Case> cases;
  for (size_t i = 0; i < pairing.pairs.size(); ++i) {
    const Pair& pair = pairing.pairs[i];
    const bool refused = !pair.comparable() && !rules.allow_incomparable;
    std::vector<Case> of_pair;
    for (const MetricInfo& info : AllMetrics()) {
      if (info.metric == Metric::kStatus) {
        Case c;
        c.judgement = JudgeStatus(pair, i);
        of_pair.push_back(std::move(c));
      } else if (auto c = MakeCase(pairing, i, info.metric, noise)) {
        of_pair.push_back(*std::move(c));
      }
    }
    for (Case& c : of_pair) {
      if (refused) {
        c.judgement.verdict = Verdict::kIncomparable;
        c.judgement.reason = Reasons(pair);
      }
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

bool Open(const Case& c) {
  return c.judgement.metric != Metric::kStatus && c.judgement.verdict != Verdict::kIncomparable &&
         !c.judgement.disturbed;
}

std::string TooSmall(const Judgement& j, const Rules& rules) {
  if (std::abs(*j.change) < rules.threshold) {
    return "certain, but below the threshold of " + Percent(rules.threshold);
  }
  if (BelowAbsoluteFloor(InfoOf(j.metric), j)) {
    return "certain, but below the absolute floor of the metric";
  }
  return "";
}

stats::Discoveries Reject(const Rules& rules, const std::vector<Case*>& tested) {
  std::vector<double> p;
  for (const Case* c : tested) p.push_back(c->not_told.empty() ? c->shift->p : 1);
  stats::Discoveries found = stats::BenjaminiHochberg(p, rules.false_discovery_rate);
  for (size_t i = 0; i < tested.size(); ++i) tested[i]->rejected = found.rejected[i];
  return found;
}

// The rate is of what is told. A rejection that is dropped afterwards would have raised the cut for
// all others; so what is not told is set aside before, and the speedups of which only eager moved
// as soon as that shows. Setting one aside lowers the cut, so that this ends.
stats::Discoveries Discover(const Rules& rules, const std::vector<Timings>& timings,
                            const std::vector<Case*>& tested) {
  for (Case* c : tested) c->not_told = TooSmall(c->judgement, rules);
  for (const Timings& t : timings) {
    if (t.speedup->not_told.empty() && t.BothTiny()) t.speedup->not_told = kBothTiny;
  }
  while (true) {
    stats::Discoveries found = Reject(rules, tested);
    bool again = false;
    for (const Timings& t : timings) {
      if (!t.speedup->rejected || !Moves(*t.eager) || Moves(*t.compiled)) continue;
      t.speedup->not_told = kEagerAlone;
      again = true;
    }
    if (again) continue;
    for (const Timings& t : timings) {
      if (t.speedup->not_told == kEagerAlone && !Moves(*t.eager)) t.speedup->not_told.clear();
    }
    return found;
  }
}

void RunTests(const Pairing& pairing, const Rules& rules, const std::vector<Timings>& timings,
              std::vector<Case>* cases) {
  std::map<Metric, std::vector<stats::Variance>> variances;
  for (const Case& c : *cases) {
    if (Open(c)) variances[c.judgement.metric].push_back(c.own);
  }
  std::map<Metric, stats::VariancePrior> priors;
  for (const auto& [metric, own] : variances) {
    priors[metric] = stats::FitVariancePrior(own, kPriorSeriesMin, kPriorDegreesMax);
  }
  std::vector<Case*> tested;
  for (Case& c : *cases) {
    const Pair& pair = pairing.pairs[c.judgement.pair];
    if (!Open(c)) continue;
    if (!Testable(c, pair)) {
      DecideByBound(InfoOf(c.judgement.metric), pair, &c);
      continue;
    }
    TestShift(priors[c.judgement.metric], rules, &c);
    tested.push_back(&c);
  }
  const stats::Discoveries found = Discover(rules, timings, tested);
  for (size_t i = 0; i < tested.size(); ++i) {
    tested[i]->judgement.q = found.adjusted[i];
    DecideTested(InfoOf(tested[i]->judgement.metric), found.cut, rules, tested[i]);
  }
}

}  // namespace

std::string_view ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kImproved:
      return "improved";
    case Verdict::kRegressed:
      return "regressed";
    case Verdict::kSame:
      return "same";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kIncomparable:
      return "incomparable";
  }
  return "";
}

std::string_view ToString(Moved moved) {
  switch (moved) {
    case Moved::kNone:
      return "";
    case Moved::kEager:
      return "eager";
    case Moved::kCompiled:
      return "compiled";
    case Moved::kBoth:
      return "eager and compiled";
  }
  return "";
}

std::vector<Judgement> Judge(const Pairing& pairing, const std::vector<NoiseFloor>& noise,
                             const Rules& rules) {
  std::vector<Case> cases = MakeCases(pairing, GroupNoise(noise), rules);
  const std::vector<Timings> timings = TimingsOf(&cases);
  RunTests(pairing, rules, timings, &cases);
  for (const Timings& t : timings) NameTheSideThatMoved(t);
  std::vector<Judgement> judgements;
  judgements.reserve(cases.size());
  for (Case& c : cases) judgements.push_back(std::move(c.judgement));
  return judgements;
}

}  // namespace dynbench::judge
