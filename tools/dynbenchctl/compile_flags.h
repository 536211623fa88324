// From the compiler flags of `submit` to the options that they mean in upstream. Pure.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "common/plan/experiment.h"
#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {

// None when no compiler flag was given: the configuration decides. Upstream's switches that are
// settings (--disable-split-reductions, --compiled-autograd, …) become entries of the
// configurations that they set. InvalidArgument when a setting is given twice.
absl::StatusOr<std::optional<plan::CompileOptions>> CompileOptionsOf(const SubmitFlags& flags);

}  // namespace dynbench::cli
