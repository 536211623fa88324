// A database with three jobs of an old build and three of a new one, on one worker: a model that
// became slower, one that became faster, one whose eager side alone moved, one that broke, one with
// another batch size, one only in base, and some that did not change.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace dynbench::golden {

// Creates the database `path`: jobs 1, 2, 3 are base, 4, 5, 6 new. Everything is constant.
absl::Status SeedCompare(const std::string& path);

}  // namespace dynbench::golden
