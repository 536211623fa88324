// Which flags of `submit` exclude each other, and which of those about waiting and output would
// have no effect. What concerns the plan is checked by common/plan/request_check.h. Pure.
#pragma once

#include "absl/status/status.h"
#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {

// InvalidArgument names the flags, the rule and what to do.
absl::Status CheckFlagRules(const SubmitFlags& flags);

}  // namespace dynbench::cli
