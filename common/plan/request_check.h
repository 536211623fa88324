// What is wrong with a request whatever the models are: values out of range, contradictions, and
// options that would have no effect (a choice that is accepted and then ignored misleads). Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/plan/configuration.h"
#include "common/plan/request.h"

namespace dynbench::plan {

// InvalidArgument names the option, the rule and the fix. `configurations` are those that the
// request resolves to, the bare flags' included.
absl::Status CheckRequest(const Request& request, const std::vector<Configuration>& configurations);

// The request's lists with their defaults filled in and repetitions removed, in the order given.
std::vector<Mode> ModesOf(const Request& request);
std::vector<Test> TestsOf(const Request& request);
std::vector<Start> StartsOf(const Request& request);
std::vector<std::string> EnvironmentsOf(const Request& request);

}  // namespace dynbench::plan
