#include "coordinator/session/pair_jobs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/base/time.h"
#include "common/judge/rounds.h"
#include "common/plan/pairs.h"
#include "common/stats/stats.h"

namespace dynbench::session {
namespace {

judge::RoundSide SideOf(const std::optional<PairJobs::Landed>& landed) {
  if (!landed) return {};
  return {&landed->result, landed->lease};
}

// The sides of a round run side by side, one of them standing still: its time is the other one's.
double OwnSeconds(const PairJobs::Landed& landed) {
  double seconds = landed.seconds;
  for (const plan::PhaseSpan& span : landed.result.phases) {
    seconds -= static_cast<double>(span.frozen_ns) / kNsPerSecond;
  }
  return std::max(0.0, seconds);
}

std::string Seconds(double seconds) {
  return FormatDuration(static_cast<int64_t>(seconds * kNsPerSecond));
}

PairJobs::Dropped Skipped(const std::string& why) {
  return {{}, plan::Outcome::kSkipped, "skipped", plan::Blame::kNone, why};
}

std::string Rounds(size_t n) { return absl::StrCat(n, n == 1 ? " round" : " rounds"); }

}  // namespace

bool PairJobs::Round::ended() const {
  return std::all_of(sides.begin(), sides.end(),
                     [](const auto& side) { return side.second.landed.has_value(); });
}

void PairJobs::Add(const plan::Request& request, const scheduler::JobAdded& added,
                   std::vector<PairMember> members) {
  Job& job = jobs_[added.job];
  job.request = request;
  job.added = added;
  for (PairMember& member : members) {
    Pair& pair = job.pairs[member.pair];
    pair.number = member.pair;
    pair.timed = member.timed;
    places_[member.id] = {added.job, member.pair, member.round, member.fresh};
    const bool fresh = member.fresh;
    pair.rounds[member.round].sides[fresh].member = std::move(member);
  }
}

const plan::Request* PairJobs::RequestOf(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second.request;
}

void PairJobs::Remove(JobId id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  for (const auto& [number, pair] : job->second.pairs) {
    for (const auto& [index, round] : pair.rounds) {
      for (const auto& [fresh, side] : round.sides) places_.erase(side.member.id);
    }
  }
  jobs_.erase(job);
}

void PairJobs::Record(ExperimentId experiment, Landed landed) {
  const auto place = places_.find(experiment);
  if (place == places_.end()) return;
  Job& job = jobs_.at(place->second.job);
  Pair& pair = job.pairs.at(place->second.pair);
  Round& round = pair.rounds.at(place->second.round);
  Side& side = round.sides.at(place->second.fresh);
  if (side.landed) return;
  landed.seconds = OwnSeconds(landed);
  job.spent_s += landed.seconds;
  // What no worker can run, or kills its worker, will not go better in the next round.
  const plan::Result& result = landed.result;
  if (result.status == "unplaceable") {
    pair.ended = Dropped{{}, result.outcome, result.status, result.blame, result.error};
  } else if (!landed.lease && result.outcome == plan::Outcome::kFailed) {
    pair.ended = Skipped(absl::StrCat("pair given up: ", result.error));
  }
  side.landed = std::move(landed);
  if (round.ended() && !round.judged) Judge(&pair, &round);
}

void PairJobs::Resume(ExperimentId experiment, std::vector<scheduler::Task>* tasks) {
  const auto place = places_.find(experiment);
  if (place == places_.end()) return;
  Job& job = jobs_.at(place->second.job);
  Pair& pair = job.pairs.at(place->second.pair);
  Round& round = pair.rounds.at(place->second.round);
  if (!round.given) Give(RankOf(RulesOf(job), pair), &pair, &round, tasks);
}

void PairJobs::Judge(Pair* pair, Round* round) {
  round->judged = true;
  if (round->sides.size() < 2) return;
  const auto& base = round->sides.at(false).landed;
  const auto& fresh = round->sides.at(true).landed;
  const judge::RoundJudgement judgement = judge::JudgeRound(SideOf(base), SideOf(fresh));
  if (judgement.state == judge::RoundState::kDisturbed) {
    ++pair->disturbed;
    ++pair->disturbed_in_a_row;
    pair->trouble = judgement.reason;
  }
  if (judgement.state == judge::RoundState::kNotNeeded && !pair->ended) {
    const plan::Result& result = base->result;
    pair->ended = Dropped{{}, result.outcome, result.status, result.blame, result.error};
  }
  if (judgement.state != judge::RoundState::kCounts) return;
  pair->disturbed_in_a_row = 0;
  pair->figures.push_back(judge::FiguresOf(base->result, fresh->result));
  pair->spent_s += base->seconds + fresh->seconds;
  ++pair->measured;
  if (!pair->slot.worker) pair->slot = base->slot;
}

judge::PairRules PairJobs::RulesOf(const Job& job) const {
  judge::PairRules rules =
      judge::RulesFor(job.pairs.size(), static_cast<size_t>(job.request.rounds_min),
                      static_cast<size_t>(job.request.rounds_max));
  std::vector<std::vector<double>> changes;
  for (const auto& [number, pair] : job.pairs) {
    std::vector<double>& of_pair = changes.emplace_back();
    for (const judge::RoundFigures& round : pair.figures) {
      if (round.change) of_pair.push_back(*round.change);
    }
  }
  rules.noise = judge::NoiseOfPairs(changes, rules.noise);
  return rules;
}

std::optional<PairJobs::Dropped> PairJobs::Ending(const Job& job, const Pair& pair) const {
  if (pair.ended) return pair.ended;
  const judge::PairStep step = judge::DecidePair(RulesOf(job), pair.figures, pair.timed);
  if (step.stop()) {
    return Skipped(
        absl::StrCat("pair decided after ", Rounds(pair.figures.size()), ": ", step.reason));
  }
  // Where rounds are disturbed now and then, the plan may run out: what counted has told something.
  const bool mostly = pair.disturbed > pair.measured;
  if (pair.disturbed_in_a_row > plan::kSpareRounds ||
      (pair.disturbed > plan::kSpareRounds && mostly)) {
    return Skipped(absl::StrCat("pair given up: ", Rounds(static_cast<size_t>(pair.disturbed)),
                                " were disturbed, the last: ", pair.trouble));
  }
  return std::nullopt;
}

double PairJobs::PredictedSeconds(const Pair& pair) {
  for (const auto& [index, round] : pair.rounds) {
    double seconds = 0;
    for (const auto& [fresh, side] : round.sides) seconds += side.member.task.expected_s;
    // All rounds are alike, and one that ended before a restart is not predicted any more.
    if (seconds > 0) return seconds;
  }
  return 0;
}

double PairJobs::PredictionFactor(const Job& job) {
  double measured_s = 0, predicted_s = 0;
  for (const auto& [number, other] : job.pairs) {
    const double predicted = other.measured > 0 ? PredictedSeconds(other) : 0;
    if (predicted == 0) continue;
    measured_s += other.spent_s / other.measured;
    predicted_s += predicted;
  }
  return predicted_s > 0 && measured_s > 0 ? measured_s / predicted_s : 1;
}

double PairJobs::SecondsOfRound(const Pair& pair, double factor) {
  return pair.measured > 0 ? pair.spent_s / pair.measured : factor * PredictedSeconds(pair);
}

std::optional<double> PairJobs::TypicalSecondsOfRound(const Job& job) {
  std::vector<double> measured;
  for (const auto& [number, pair] : job.pairs) {
    if (pair.measured > 0) measured.push_back(pair.spent_s / pair.measured);
  }
  if (measured.empty()) return std::nullopt;
  return stats::Median(measured);
}

bool PairJobs::HasRoom(const Job& job, const Pair& pair, double round_s, double promised_s) {
  const auto budget_s = static_cast<double>(job.request.budget_s);
  if (job.spent_s + promised_s + round_s <= budget_s) return true;
  if (pair.measured > 0 || promised_s > 0) return false;
  const auto typical_s = TypicalSecondsOfRound(job);
  return typical_s ? job.spent_s + *typical_s <= budget_s : job.spent_s < budget_s;
}

const PairJobs::Round* PairJobs::Current(const Pair& pair) {
  for (const auto& [index, round] : pair.rounds) {
    if (round.given && !round.ended()) return &round;
  }
  return nullptr;
}

PairJobs::Round* PairJobs::NextRound(Pair* pair) {
  for (auto& [index, round] : pair->rounds) {
    if (!round.given && !round.ended()) return &round;
  }
  return nullptr;
}

int PairJobs::RankOf(const judge::PairRules& rules, const Pair& pair) {
  const size_t measured = pair.figures.size();
  if (measured < rules.rounds_min) return static_cast<int>(measured);
  const double left = judge::DecidePair(rules, pair.figures, pair.timed).rounds_left;
  return static_cast<int>(rules.rounds_min) + static_cast<int>(std::ceil(left));
}

size_t PairJobs::RoundsOwed(const judge::PairRules& rules, const Pair& pair) {
  const size_t least = pair.timed ? rules.rounds_min : 1;
  const size_t had = pair.figures.size() + (Current(pair) != nullptr ? 1 : 0);
  return least - std::min(least, had);
}

void PairJobs::Give(int rank, Pair* pair, Round* round, std::vector<scheduler::Task>* tasks) {
  round->given = true;
  for (auto& [fresh, side] : round->sides) {
    if (side.landed) continue;
    scheduler::Task task = side.member.task;
    task.unit = absl::StrCat("pair ", pair->number, " round ", side.member.round);
    task.pinned = pair->slot;
    task.rank = rank;
    tasks->push_back(std::move(task));
  }
}

void PairJobs::Drop(Pair* pair, const Dropped& how, std::vector<Dropped>* dropped) {
  pair->closed = true;
  for (auto& [index, round] : pair->rounds) {
    if (round.given) continue;
    round.given = true;  // it is on its way to its result
    for (auto& [fresh, side] : round.sides) {
      if (side.landed) continue;
      Dropped& one = dropped->emplace_back(how);
      one.experiment = side.member.id;
    }
  }
}

PairJobs::Moves PairJobs::Next(JobId id, size_t slots) {
  Moves moves;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return moves;
  Job& job = found->second;
  moves.added.job = job.added;
  for (auto& [number, pair] : job.pairs) {
    if (pair.closed || Current(pair) != nullptr) continue;
    if (const auto how = Ending(job, pair)) {
      Drop(&pair, *how, &moves.dropped);
      continue;
    }
    Round* next = NextRound(&pair);
    if (next == nullptr) {
      pair.closed = true;
    } else if (job.request.budget_s == 0) {
      Give(RankOf(RulesOf(job), pair), &pair, next, &moves.added.job.tasks);
    }
  }
  if (job.request.budget_s > 0) GiveWithin(&job, slots, &moves);
  return moves;
}

std::vector<PairJobs::Candidate> PairJobs::Waiting(const Job& job, double promised_s) const {
  const judge::PairRules rules = RulesOf(job);
  const double factor = PredictionFactor(job);
  std::vector<Candidate> waiting;
  double owed_s = job.spent_s + promised_s;  // with what the pairs that were begun still take
  for (const auto& [number, pair] : job.pairs) {
    if (pair.closed) continue;
    const size_t owed = RoundsOwed(rules, pair);
    const bool under_way = Current(pair) != nullptr;
    const bool begun = under_way || !pair.figures.empty();
    if (begun) owed_s += static_cast<double>(owed) * SecondsOfRound(pair, factor);
    if (under_way) continue;
    const double rounds = judge::DecidePair(rules, pair.figures, pair.timed).rounds_left;
    const int tier = owed == 0 ? 2 : begun ? 0 : 1;
    // Beyond MIN rounds nearness alone counts, not who has had less.
    const size_t measured = tier == 2 ? 0 : pair.figures.size();
    waiting.push_back({tier, measured, rounds * SecondsOfRound(pair, factor), number});
  }
  const auto before = [](const Candidate& a, const Candidate& b) {
    return std::tie(a.tier, a.measured, a.left_s) < std::tie(b.tier, b.measured, b.left_s);
  };
  std::stable_sort(waiting.begin(), waiting.end(), before);
  for (Candidate& candidate : waiting) {
    if (candidate.tier != 1) continue;
    const Pair& pair = job.pairs.at(candidate.pair);
    owed_s += static_cast<double>(RoundsOwed(rules, pair)) * SecondsOfRound(pair, factor);
    if (owed_s > static_cast<double>(job.request.budget_s)) break;
    candidate.tier = 0;
  }
  std::stable_sort(waiting.begin(), waiting.end(), before);
  return waiting;
}

void PairJobs::GiveWithin(Job* job, size_t slots, Moves* moves) {
  const auto budget_s = static_cast<double>(job->request.budget_s);
  const double factor = PredictionFactor(*job);
  double promised_s = 0;
  size_t given = 0;
  for (const auto& [number, pair] : job->pairs) {
    if (pair.closed || Current(pair) == nullptr) continue;
    promised_s += SecondsOfRound(pair, factor);
    ++given;
  }
  const size_t most = 2 * std::max<size_t>(slots, 1);
  const judge::PairRules rules = RulesOf(*job);
  for (const Candidate& candidate : Waiting(*job, promised_s)) {
    if (given >= most) return;
    Pair& pair = job->pairs.at(candidate.pair);
    const double round_s = SecondsOfRound(pair, factor);
    if (!HasRoom(*job, pair, round_s, promised_s)) {
      if (given > 0) continue;  // what runs may take less than expected
      Drop(&pair,
           Skipped(absl::StrCat("the budget of ", Seconds(budget_s), " is spent (",
                                Seconds(job->spent_s), " used; a round takes about ",
                                Seconds(round_s), "); ", Rounds(pair.figures.size()), " measured")),
           &moves->dropped);
      continue;
    }
    Give(RankOf(rules, pair), &pair, NextRound(&pair), &moves->added.job.tasks);
    promised_s += round_s;
    ++given;
  }
}

std::vector<PairJobs::Dropped> PairJobs::Cancel(JobId id, const std::string& reason) {
  std::vector<Dropped> dropped;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return dropped;
  for (auto& [number, pair] : found->second.pairs) {
    Drop(&pair, {{}, plan::Outcome::kCancelled, "cancelled", plan::Blame::kNone, reason}, &dropped);
  }
  return dropped;
}

std::string PairJobs::WhyWaiting(ExperimentId experiment) const {
  const auto place = places_.find(experiment);
  if (place == places_.end()) return "";
  const Pair& pair = jobs_.at(place->second.job).pairs.at(place->second.pair);
  const Round& round = pair.rounds.at(place->second.round);
  if (round.given || round.ended()) return "";
  for (const auto& [index, other] : pair.rounds) {
    if (other.given && !other.ended()) {
      return absl::StrCat("measured only if the pair is not decided by round ", index,
                          ", which is under way");
    }
  }
  return absl::StrCat("waits for its turn within the job's budget; ", Rounds(pair.figures.size()),
                      " of its pair measured");
}

double PairJobs::SecondsLeft(JobId id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return 0;
  const Job& job = found->second;
  const judge::PairRules rules = RulesOf(job);
  const double factor = PredictionFactor(job);
  double seconds = 0;
  for (const auto& [number, pair] : job.pairs) {
    if (pair.closed) continue;
    // The one that is in the scheduler is in the scheduler's own reckoning.
    const double rounds = judge::DecidePair(rules, pair.figures, pair.timed).rounds_left - 1;
    seconds += std::max(0.0, rounds) * SecondsOfRound(pair, factor);
  }
  if (job.request.budget_s == 0) return seconds;
  return std::min(seconds, std::max(0.0, static_cast<double>(job.request.budget_s) - job.spent_s));
}

}  // namespace dynbench::session
