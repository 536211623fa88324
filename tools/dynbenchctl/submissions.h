// Flags that mean several submissions: the two sides of --compare-backed-unbacked, and the list of
// a --preset.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/preset.h"
#include "tools/dynbenchctl/build_request.h"

namespace dynbench::cli {

// What `flags` submit, in order: usually one request (build_request.h). Each of several has a label
// that tells it apart. A preset is read from the installed suites.
absl::StatusOr<std::vector<BuiltRequest>> BuildRequests(const SubmitFlags& flags,
                                                        const std::string& cwd);

// The submissions of `preset` with what was typed beside it put in: where it runs, which of its
// models, how often, in whose name. InvalidArgument names a flag that the preset has decided.
// `typed` is what the flags alone ask for; `suite` narrows to the submissions of that suite. Pure.
absl::StatusOr<std::vector<plan::Request>> FillPreset(const plan::Preset& preset,
                                                      const plan::Request& typed,
                                                      const std::string& suite);

}  // namespace dynbench::cli
