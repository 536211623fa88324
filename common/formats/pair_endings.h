// Of a pair job's table: why each pair was measured no further. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/store/queries.h"

namespace dynbench::formats {

// "\npairs\n" and a line for each pair whose last rounds no decision needed; empty when there is
// none.
std::string PairEndings(const std::vector<store::ResultRow>& rows);

}  // namespace dynbench::formats
