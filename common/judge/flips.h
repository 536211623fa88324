// How steady the outcome of a series is over nights: a model that passes and fails by turns has not
// regressed when it fails once more.
//
// The outcome turns when it passed and then failed, or the other way round. A flip is to leave and
// to come back, a last turn without return included: n turns are (n + 1) / 2 flips. So ten nights
// by turns are "flips 5/10"; a regression that stays is 1, whenever it came, and so is a lone bad
// night. A series is unsteady from 2 flips on. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/store/history.h"

namespace dynbench::judge {

inline constexpr size_t kFlipNights = 10;  // that are looked at
inline constexpr size_t kUnsteadyFlips = 2;

struct Steadiness {
  size_t flips = 0, nights = 0;
  std::string outcomes;            // oldest first: '+' passed, 'x' failed
  std::set<std::string> failures;  // status words of those that failed

  bool unsteady() const { return flips >= kUnsteadyFlips; }
  std::string Text() const;  // "flips 5/10"
};

// Of the newest `nights` of the rows, which are oldest first.
Steadiness SteadinessOf(const std::vector<const store::HistoryRow*>& rows,
                        size_t nights = kFlipNights);

// A wrong result (fail_accuracy, eager_two_runs_differ, …) can be chance; a crash, a timeout or a
// refusal is none, however often it comes.
bool MayBeChance(std::string_view status);

}  // namespace dynbench::judge
