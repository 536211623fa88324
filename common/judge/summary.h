// The dashboard's four tables over the common set. One policy everywhere, printed with them: means
// are over models that passed on both sides, a failed model is in the pass rate and nowhere else.
// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/judge/pairing.h"
#include "common/stats/intervals.h"

namespace dynbench::judge {

enum class Table { kPassRate, kSpeedup, kCompileSeconds, kCompression };

// "pass rate", "geometric mean speedup", "mean compile seconds", "mean compression".
std::string_view ToString(Table table);

struct SummaryCell {
  Table table = Table::kPassRate;
  std::string suite;
  std::string configuration;                 // with mode, precision, device where a run has several
  std::optional<double> base, fresh;         // a share, a ratio, seconds, a ratio
  size_t base_passed = 0, fresh_passed = 0;  // of kPassRate
  size_t count = 0;                          // N: models in the figure
  std::vector<std::string> left_out;         // "model (why)": of the common set, not in the figure
  // Of the means of ratios: geometric mean of new / base over the models, with its 95 % interval.
  std::optional<double> ratio;
  std::optional<stats::Interval> ratio_interval;
};

// Cells ordered by table, configuration and suite. Incomparable pairs are left out, named, unless
// `allow_incomparable`. The pass rate is of the accuracy test where there is one, else of the
// performance test; a model without accuracy in the run counts as passed when it was measured.
std::vector<SummaryCell> Summarize(const Pairing& pairing, bool allow_incomparable);

}  // namespace dynbench::judge
