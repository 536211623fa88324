// A whole comparison: pairs, verdicts, the dashboard's tables, what to read first, and the gate.
// One implementation for command line, web pages, gates and digests. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "common/judge/history.h"
#include "common/judge/summary.h"
#include "common/judge/verdict.h"

namespace dynbench::judge {

// Red first, ranked; few enough to be read.
enum class Level { kRed, kNotice };

struct Finding {
  Level level = Level::kNotice;
  size_t judgement = 0;  // index
  double size = 0;       // what it is ranked by within its level
};

enum class Gate { kHolds, kRegression, kNotEnough, kIncomparable };

std::string_view ToString(Gate gate);  // "holds", "regression", "not_enough_data", "incomparable"

struct Options {
  Rules rules;
  // What makes red and what is shown; empty: shown are all, and red are compiled latency, compile
  // seconds, memory and status (a speedup that fell fell by one of these; eager is not the
  // compiler's). Tests and the false discovery rate always cover all metrics.
  std::set<Metric> metrics;
};

struct Comparison {
  std::string base_name, fresh_name;
  Options options;
  Pairing pairing;
  std::vector<Judgement> judgements;
  std::vector<SummaryCell> summary;
  std::vector<Difference> software;
  std::vector<Finding> findings;  // best first
  bool pair_job = false;
  std::vector<std::string> notes;  // "eager itself is 12 % slower over 40 models: …"
  Gate gate = Gate::kHolds;
  std::string gate_reason;
};

// `base` and `fresh` must outlive the comparison, which points into them. `noise`: as in verdict.h.
Comparison Compare(const Side& base, const Side& fresh, const std::vector<NoiseFloor>& noise,
                   const Options& options);

// The same of one pair job: its rows of either side, compared round by round.
Comparison ComparePairs(const Side& base, const Side& fresh, const Options& options);

// The series whose status turned from base to new; none: their past is of no interest.
std::vector<std::string> TurnedSeries(const Comparison& comparison);

// Takes the past of these into account (GroupHistory of the newest rows of each, up to the newest
// that was compared). A turned status has its flips in its reason; where the series was unsteady
// before the new side (flips.h) and failed with that word, and the word may be chance, it is
// `unknown` and the gate does not count it.
void WeighHistory(const std::vector<SeriesHistory>& past, Comparison* comparison);

}  // namespace dynbench::judge
