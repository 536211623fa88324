// The verb `submit` as a function, for verbs that are a submission of a kind of their own.
#pragma once

#include "tools/dynbenchctl/context.h"
#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {

VerbResult Submit(Context& context, const SubmitFlags& flags);

}  // namespace dynbench::cli
