// Two jobs that measured the same models with one difference, model by model: what
// --compare-backed-unbacked prints at its end. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/store/queries.h"
#include "nlohmann/json_fwd.hpp"

namespace dynbench::formats {

struct Side {
  std::string name;  // "backed"
  const std::vector<store::ResultRow>* rows = nullptr;
};

// A row for each model, mode and test that either side planned: compiled milliseconds of both and
// by how many percent the second is slower, or the status words where there are no times.
std::string SideBySideTable(const Side& first, const Side& second, const TableStyle& style);

// [{"model", "mode", "test", first.name: {…}, second.name: {…}, "slower_percent"}]
nlohmann::json SideBySideJson(const Side& first, const Side& second);

}  // namespace dynbench::formats
