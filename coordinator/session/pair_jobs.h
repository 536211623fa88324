// The pair jobs that are not finished: which round of which pair is measured next, and when a pair
// has had enough (common/judge/pair_decision.h). A pair has at most one round in the scheduler at a
// time; its further ones wait here until that one ended.
//
//   - A pair stays with the slot that measured its first round that counted.
//   - Breadth first: every pair gets its first round before one gets its second, and so on up to
//     MIN; beyond, the pairs that are expected to be decided soonest come first. So a job that is
//     ended early knows something of every model.
//   - Without a budget every pair has a round in the scheduler, with its rank. With one, only as
//     many as there are slots (and as many again, so that no slot waits); a pair is begun before
//     others have MIN rounds only where the budget has room for MIN rounds of it too. When the next
//     round would exceed the budget, and nothing runs that might leave time over, what is left is
//     skipped; never for a guess alone while the job's rounds say that there is room.
//
// Follows what was committed, so that a restart comes to the same: the dispatcher tells it every
// result. Pure; thread-compatible: the dispatcher's thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/judge/pair_decision.h"
#include "common/plan/request.h"
#include "common/plan/result.h"
#include "coordinator/scheduler/scheduler.h"

namespace dynbench::session {

// One of the two processes of a round.
struct PairMember {
  ExperimentId id;
  int pair = 0;
  int round = 0;
  bool fresh = false;  // of new
  bool timed = true;   // of the performance test
  scheduler::Task task;
};

class PairJobs {
 public:
  // `job` without tasks: those of each round are added to a copy of it. `members` in plan order,
  // all of it that has to run or has run.
  void Add(const plan::Request& request, const scheduler::JobAdded& job,
           std::vector<PairMember> members);
  bool Knows(JobId job) const { return jobs_.count(job) > 0; }
  // Null: no pair job.
  const plan::Request* RequestOf(JobId job) const;
  void Remove(JobId job);

  struct Landed {
    plan::Result result;
    LeaseEpoch lease;    // none: no worker brought it
    SlotId slot;         // of the lease
    double seconds = 0;  // from its start to its end; what it stood still for others is taken out
  };
  // Ignored when the experiment is of no pair.
  void Record(ExperimentId experiment, Landed landed);
  // After a restart: the experiment's round was given to the scheduler before. Adds the tasks of it
  // that have no result, once.
  void Resume(ExperimentId experiment, std::vector<scheduler::Task>* tasks);

  struct Dropped {
    ExperimentId experiment;
    plan::Outcome outcome = plan::Outcome::kSkipped;
    std::string status;
    plan::Blame blame = plan::Blame::kNone;
    std::string reason;
  };
  struct Moves {
    scheduler::TasksAdded added;  // tasks may be empty
    std::vector<Dropped> dropped;
  };
  // What follows from what was recorded. `slots` that could run rounds now; only a budget asks.
  Moves Next(JobId job, size_t slots);
  // Everything that is not in the scheduler, as cancelled.
  std::vector<Dropped> Cancel(JobId job, const std::string& reason);

  // Of one that waits here: after which round it comes. Empty: it does not.
  std::string WhyWaiting(ExperimentId experiment) const;
  // Slot time that the rounds that wait here are expected to take.
  double SecondsLeft(JobId job) const;

 private:
  struct Side {
    PairMember member;
    std::optional<Landed> landed;
  };
  struct Round {
    std::map<bool, Side> sides;  // by `fresh`
    bool given = false;          // to the scheduler
    bool judged = false;
    bool ended() const;
  };
  struct Pair {
    int number = 0;
    bool timed = true;
    std::map<int, Round> rounds;
    std::vector<judge::RoundFigures> figures;  // of rounds that count
    int disturbed = 0;
    int disturbed_in_a_row = 0;
    std::string trouble;  // of the last one
    double spent_s = 0;   // of `measured` rounds
    int measured = 0;
    SlotId slot;
    std::optional<Dropped> ended;  // decided elsewhere: how what is left ends, too
    bool closed = false;
  };
  struct Job {
    plan::Request request;
    scheduler::JobAdded added;
    std::map<int, Pair> pairs;
    double spent_s = 0;
  };

  void Judge(Pair* pair, Round* round);
  // How what is left of the pair ends; nothing: it goes on.
  std::optional<Dropped> Ending(const Job& job, const Pair& pair) const;
  judge::PairRules RulesOf(const Job& job) const;
  // Of both sides, as predicted; 0: nothing is.
  static double PredictedSeconds(const Pair& pair);
  // How far off the job's predictions were: they know neither this host nor that a side stands
  // still for the other. 1: nothing was measured yet.
  static double PredictionFactor(const Job& job);
  // As measured, else as predicted.
  static double SecondsOfRound(const Pair& pair, double factor);
  static std::optional<double> TypicalSecondsOfRound(const Job& job);  // none was measured yet
  // Whether the budget has room for a round of it. Where nothing runs that would tell better, a
  // guess alone does not say no: then as long as a typical round would fit, and before there is one
  // as long as anything is left.
  static bool HasRoom(const Job& job, const Pair& pair, double round_s, double promised_s);
  static const Round* Current(const Pair& pair);
  static Round* NextRound(Pair* pair);
  // By which its next round is ordered: rounds that count up to MIN, beyond it those still to go.
  static int RankOf(const judge::PairRules& rules, const Pair& pair);
  // Of the rounds that it takes at least, those that are neither measured nor under way.
  static size_t RoundsOwed(const judge::PairRules& rules, const Pair& pair);
  void Give(int rank, Pair* pair, Round* round, std::vector<scheduler::Task>* tasks);
  void Drop(Pair* pair, const Dropped& how, std::vector<Dropped>* dropped);
  struct Candidate {
    int tier = 0;  // 0: short of MIN rounds, 1: to be begun beyond the budget's room, 2: the rest
    size_t measured = 0;  // rounds that count; 0 in tier 2
    double left_s = 0;    // until it is decided, as far as one can tell
    int pair = 0;
  };
  // Pairs that have no round in the scheduler, those that come first in front.
  std::vector<Candidate> Waiting(const Job& job, double promised_s) const;
  void GiveWithin(Job* job, size_t slots, Moves* moves);

  std::map<JobId, Job> jobs_;
  struct Place {
    JobId job;
    int pair = 0;
    int round = 0;
    bool fresh = false;
  };
  std::map<ExperimentId, Place> places_;
};

}  // namespace dynbench::session
