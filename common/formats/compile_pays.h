// "Does compiling pay?": what compiling cost, what it saves per call, and after how many calls the
// one has paid for the other. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/store/queries.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::formats {

enum class Pays { kPays, kCosts, kNoDifference, kUnknown };

struct Payback {
  const store::ResultRow* row = nullptr;
  Pays pays = Pays::kUnknown;
  // The first compiled call, synchronised (else upstream's figure), and on an ahead-of-time path
  // export, package and load.
  double compile_s = 0;
  double saved_ms = 0;              // per call; negative: compiled calls are slower
  std::optional<double> calls;      // until it has paid; only of kPays
  std::optional<double> running_s;  // how long these calls take, compiling included
};

// One for each performance row that has ended, in the order of the job. A difference smaller than
// the spread of both sides (half their interquartile ranges together) is kNoDifference; a row
// without figures (it failed) kUnknown.
std::vector<Payback> Paybacks(const std::vector<store::ResultRow>& rows);

// "pays", "costs", "no difference", "unknown".
std::string ToString(Pays pays);

// A table of where compiling pays (soonest first), where it makes no difference and where it costs,
// and a line that sums it up.
std::string PaysTable(const store::JobRow& job, const std::vector<store::ResultRow>& rows,
                      const TableStyle& style);

// {"schema": "dynbench.pays/1", "job", "models": […], "summary": {…}}.
nlohmann::json PaysJson(const store::JobRow& job, const std::vector<store::ResultRow>& rows);

}  // namespace dynbench::formats
