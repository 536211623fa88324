// Answers from a database file, without a coordinator.
#pragma once

#include <memory>
#include <string>

#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

// NotFound when there is no such file.
absl::StatusOr<std::unique_ptr<Source>> MakeDbSource(const std::string& path);

}  // namespace dynbench::cli
