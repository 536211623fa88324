#include "common/plan/pairs.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/plan/request_check.h"

namespace dynbench::plan {
namespace {

absl::Status Wrong(const std::string& message) { return absl::InvalidArgumentError(message); }

// Which rounds begin with base: of each two successive ones one does.
std::vector<bool> BaseFirst(const Request& request, int pair, int rounds) {
  std::seed_seq seed{static_cast<uint32_t>(request.pair_seed),
                     static_cast<uint32_t>(static_cast<uint64_t>(request.pair_seed) >> 32),
                     static_cast<uint32_t>(pair)};
  std::mt19937_64 generator(seed);
  std::vector<bool> first;
  while (static_cast<int>(first.size()) < rounds) {
    const bool base = (generator() >> 63) != 0;
    first.push_back(base);
    first.push_back(!base);
  }
  return first;
}

absl::Status CheckWithoutSides(const Request& r) {
  const Request defaults;
  const char* flag = r.given.contains("rounds")            ? "--rounds"
                     : r.budget_s != 0                     ? "--budget"
                     : r.rounds_min != defaults.rounds_min ? "--rounds"
                     : r.rounds_max != defaults.rounds_max ? "--rounds"
                                                           : nullptr;
  if (flag == nullptr) return absl::OkStatus();
  return Wrong(absl::StrCat(flag, " has no effect: it is for pairs (--base ENV --new ENV)"));
}

}  // namespace

bool IsPairJob(const Request& request) { return !request.base.empty() && !request.fresh.empty(); }

std::vector<std::string> PairEnvironments(const Request& request) {
  if (!IsPairJob(request)) return {};
  std::vector<std::string> names = {request.base};
  if (request.fresh != request.base) names.push_back(request.fresh);
  return names;
}

absl::Status CheckPairs(const Request& r) {
  if (r.base.empty() && r.fresh.empty()) return CheckWithoutSides(r);
  if (!IsPairJob(r)) {
    return Wrong(r.base.empty() ? "--new needs --base: a pair has two environments"
                                : "--base needs --new: a pair has two environments");
  }
  if (!r.environments.empty()) {
    return Wrong("--environment has no effect with --base and --new, which name both; remove it");
  }
  if (r.rounds_min < kRoundsLeast || r.rounds_max < r.rounds_min || r.rounds_max > kRoundsMost) {
    return Wrong(absl::StrCat("--rounds wants MIN..MAX with ", kRoundsLeast, " <= MIN <= MAX <= ",
                              kRoundsMost, ", not ", r.rounds_min, "..", r.rounds_max));
  }
  if (r.budget_s < 0 || (r.given.contains("budget") && r.budget_s == 0)) {
    return Wrong("--budget wants a time of a second at least");
  }
  if (!r.output.empty()) {
    return Wrong("--output has no place for two sides; use compare JOB --csv when it is done");
  }
  if (!r.diagnostics.empty()) {
    return Wrong("a diagnostic run has no timings to compare; submit it without --base and --new");
  }
  for (const Test test : TestsOf(r)) {
    if (test == Test::kPerformance || test == Test::kAccuracy) continue;
    return Wrong(absl::StrCat("--base and --new compare performance and accuracy, not ",
                              std::string(ToString(test))));
  }
  return absl::OkStatus();
}

void MakePairs(const Request& request, std::vector<Experiment>* rows) {
  std::vector<Experiment> rounds;
  int pair = 0;
  for (const Experiment& row : *rows) {
    ++pair;
    const int planned = row.planned_outcome ? 1 : request.rounds_max + kSpareRounds;
    const std::vector<bool> base_first = BaseFirst(request, pair, planned);
    for (int round = 1; round <= planned; ++round) {
      const bool base_now = base_first[static_cast<size_t>(round - 1)];
      for (const bool base : {base_now, !base_now}) {
        Experiment& e = rounds.emplace_back(row);
        e.pair = pair;
        e.round = round;
        e.side = base ? kBaseSide : kNewSide;
        e.environment = base ? request.base : request.fresh;
        e.zygote = (round + 1) % 2;
      }
    }
  }
  *rows = std::move(rounds);
}

void LeavePair(Experiment* experiment) {
  experiment->pair = 0;
  experiment->round = 0;
  experiment->side.clear();
  experiment->zygote = 0;
}

}  // namespace dynbench::plan
