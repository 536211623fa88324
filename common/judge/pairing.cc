#include "common/judge/pairing.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace dynbench::judge {
namespace {

// What one side has of a series.
struct Group {
  std::vector<const Process*> counted;  // passed or failed
  const Process* any = nullptr;
  std::string why_not;  // of the last one that does not count
  bool owed = false;    // one that was to run has no outcome
};

using Groups = std::map<std::string, Group>;  // by series

std::string WhyNot(const store::ResultRow& row) {
  if (!row.result) return "no result yet";
  const plan::Result& result = *row.result;
  std::string text(plan::ToString(result.outcome));
  const std::string& reason = result.error.empty() ? result.status : result.error;
  return reason.empty() || reason == text ? text : text + ": " + reason;
}

bool Counts(const store::ResultRow& row) {
  return row.result && (row.result->outcome == plan::Outcome::kPassed ||
                        row.result->outcome == plan::Outcome::kFailed);
}

// To be run, and neither measured nor left out on purpose.
bool Owed(const store::ResultRow& row) {
  return !Counts(row) && (!row.result || row.result->outcome != plan::Outcome::kSkipped);
}

// `order` receives the series as they are met first.
Groups GroupsOf(const Side& side, std::vector<std::string>* order) {
  Groups groups;
  for (const Process& process : side.processes) {
    if (!process.row.experiment.diagnostics.empty()) continue;
    const std::string series = plan::SeriesKey(process.row.experiment);
    const auto [entry, added] = groups.try_emplace(series);
    if (added) order->push_back(series);
    Group& group = entry->second;
    group.any = &process;
    if (Counts(process.row)) {
      group.counted.push_back(&process);
    } else {
      group.why_not = WhyNot(process.row);
      group.owed = group.owed || Owed(process.row);
    }
  }
  return groups;
}

std::set<std::string> HostsOf(const std::vector<const Process*>& processes) {
  std::set<std::string> hosts;
  for (const Process* process : processes) hosts.insert(process->row.worker_host);
  return hosts;
}

void KeepSharedHosts(Pair* pair) {
  const std::set<std::string> base = HostsOf(pair->base), fresh = HostsOf(pair->fresh);
  if (base == fresh) return;
  std::set<std::string> shared;
  std::set_intersection(base.begin(), base.end(), fresh.begin(), fresh.end(),
                        std::inserter(shared, shared.end()));
  if (shared.empty()) {
    pair->same_host = false;
    return;
  }
  const auto elsewhere = [&](const Process* p) { return !shared.contains(p->row.worker_host); };
  pair->dropped_elsewhere += std::erase_if(pair->base, elsewhere);
  pair->dropped_elsewhere += std::erase_if(pair->fresh, elsewhere);
}

class Matcher {
 public:
  Matcher(const Side& base, const Side& fresh)
      : base_(GroupsOf(base, &base_order_)), fresh_(GroupsOf(fresh, &fresh_order_)) {}

  Pairing Match() {
    for (const std::string& series : base_order_) {
      if (fresh_.contains(series)) Take(base_.at(series), fresh_.at(series), {});
    }
    MatchBySubject();
    for (const std::string& series : base_order_) {
      if (!taken_.contains(base_.at(series).any)) LeaveOut(base_.at(series), "only in base");
    }
    for (const std::string& series : fresh_order_) {
      if (!taken_.contains(fresh_.at(series).any)) LeaveOut(fresh_.at(series), "only in new");
    }
    return std::move(pairing_);
  }

 private:
  // Series that found no partner, where their subject names exactly one of each side.
  void MatchBySubject() {
    std::map<std::string, std::pair<std::vector<const Group*>, std::vector<const Group*>>> open;
    for (const std::string& series : base_order_) {
      const Group& group = base_.at(series);
      if (!taken_.contains(group.any)) {
        open[SubjectOf(group.any->row.experiment)].first.push_back(&group);
      }
    }
    for (const std::string& series : fresh_order_) {
      const Group& group = fresh_.at(series);
      if (!taken_.contains(group.any)) {
        open[SubjectOf(group.any->row.experiment)].second.push_back(&group);
      }
    }
    for (const auto& [subject, sides] : open) {
      if (sides.first.size() != 1 || sides.second.size() != 1) continue;
      const Group& base = *sides.first.front();
      const Group& fresh = *sides.second.front();
      Take(base, fresh, SeriesDifferences(base.any->row.experiment, fresh.any->row.experiment));
    }
  }

  void Take(const Group& base, const Group& fresh, std::vector<Difference> differences) {
    taken_.insert(base.any);
    taken_.insert(fresh.any);
    if (base.counted.empty() || fresh.counted.empty()) {
      std::string reason;
      if (base.counted.empty()) reason = "base: " + base.why_not;
      if (fresh.counted.empty()) {
        // The same reason on both sides is told once.
        reason = base.counted.empty() && base.why_not == fresh.why_not
                     ? "both: " + fresh.why_not
                     : reason + (reason.empty() ? "" : "; ") + "new: " + fresh.why_not;
      }
      const bool owed = !base.counted.empty() && fresh.owed;
      pairing_.left_out.push_back({base.any->row.experiment, reason, owed});
      return;
    }
    Pair pair;
    pair.experiment = base.any->row.experiment;
    pair.base = base.counted;
    pair.fresh = fresh.counted;
    pair.differences = std::move(differences);
    KeepSharedHosts(&pair);
    const auto of_processes = ProcessDifferences(pair.base, pair.fresh);
    pair.differences.insert(pair.differences.end(), of_processes.begin(), of_processes.end());
    pairing_.pairs.push_back(std::move(pair));
  }

  void LeaveOut(const Group& group, const std::string& reason) {
    const std::string why = group.counted.empty() ? reason + " (" + group.why_not + ")" : reason;
    pairing_.left_out.push_back({group.any->row.experiment, why, false});
  }

  std::vector<std::string> base_order_, fresh_order_;
  Groups base_, fresh_;
  std::set<const Process*> taken_;
  Pairing pairing_;
};

}  // namespace

namespace {

RoundSide SideOf(const Process* process) {
  if (process == nullptr || !process->row.result) return {};
  return {&*process->row.result, process->row.lease};
}

// By number of the round, its processes of either side.
using Rounds = std::map<int, std::pair<const Process*, const Process*>>;

// As the coordinator gives the pair up (coordinator/session/pair_jobs.cc): no worker brought the
// failure.
bool TookItsWorkerDown(const Process* process) {
  const RoundSide side = SideOf(process);
  return side.result != nullptr && !side.lease && side.result->outcome == plan::Outcome::kFailed;
}

void AddRound(int number, const Process* base, const Process* fresh, Pair* pair) {
  MeasuredRound round;
  round.number = number;
  round.base = base;
  round.fresh = fresh;
  // They are planned in the order in which they are measured.
  round.base_first = base != nullptr && (fresh == nullptr || base->row.id < fresh->row.id);
  round.judgement = JudgeRound(SideOf(base), SideOf(fresh));
  if (round.judgement.state == RoundState::kNotNeeded) {
    if (pair->ended.empty()) pair->ended = round.judgement.reason;
    return;
  }
  const bool begun = SideOf(base).result != nullptr || SideOf(fresh).result != nullptr;
  if (!begun) return;
  if (round.judgement.state == RoundState::kCounts) {
    pair->base.push_back(base);
    pair->fresh.push_back(fresh);
  }
  for (const bool is_new : {false, true}) {
    const Process* process = is_new ? fresh : base;
    if (!TookItsWorkerDown(process)) continue;
    pair->killer = process;
    pair->killer_is_new = is_new;
  }
  pair->rounds.push_back(std::move(round));
}

bool Owed(const Rounds& rounds) {
  const auto owed = [](const Process* process) {
    return process != nullptr &&
           (!process->row.result || process->row.result->outcome != plan::Outcome::kSkipped);
  };
  return std::any_of(rounds.begin(), rounds.end(), [&](const auto& round) {
    return owed(round.second.first) || owed(round.second.second);
  });
}

}  // namespace

Pairing PairRounds(const Side& base, const Side& fresh) {
  std::map<int, Rounds> pairs;
  for (const Process& p : base.processes) {
    pairs[p.row.experiment.pair][p.row.experiment.round].first = &p;
  }
  for (const Process& p : fresh.processes) {
    pairs[p.row.experiment.pair][p.row.experiment.round].second = &p;
  }
  Pairing pairing;
  for (const auto& [number, rounds] : pairs) {
    Pair pair;
    pair.paired = true;
    const auto& first = rounds.begin()->second;
    pair.experiment = (first.first != nullptr ? first.first : first.second)->row.experiment;
    for (const auto& [round, sides] : rounds) AddRound(round, sides.first, sides.second, &pair);
    if (pair.base.empty() && pair.killer == nullptr) {
      std::string why = pair.rounds.empty() ? pair.ended : pair.rounds.back().judgement.reason;
      pairing.left_out.push_back(
          {pair.experiment, why.empty() ? "no round yet" : std::move(why), Owed(rounds)});
      continue;
    }
    pair.differences = ProcessDifferences(pair.base, pair.fresh);
    pairing.pairs.push_back(std::move(pair));
  }
  return pairing;
}

bool Pair::comparable() const {
  return std::none_of(differences.begin(), differences.end(),
                      [](const Difference& d) { return d.blocks; });
}

std::string SubjectOf(const plan::Experiment& e) {
  std::string text = e.suite + "/" + e.model;
  for (const std::string_view word :
       {plan::ToString(e.mode), plan::ToString(e.test), plan::ToString(e.precision)}) {
    text += " " + std::string(word);
  }
  return text + " " + e.configuration + " " + e.device;
}

Pairing PairUp(const Side& base, const Side& fresh) { return Matcher(base, fresh).Match(); }

}  // namespace dynbench::judge
