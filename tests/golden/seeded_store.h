// A database with one finished job of known content: an experiment of every outcome.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace dynbench::golden {

// Creates the database `path`. Times, ids and figures are constant.
absl::Status SeedStore(const std::string& path);

}  // namespace dynbench::golden
