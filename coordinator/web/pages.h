// What the HTTP server answers, as text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dynbench/v1/control.pb.h"

namespace dynbench::web {

// For text and attribute values.
std::string EscapeHtml(std::string_view text);

// One plain page: the jobs with their coverage. No script, no external asset.
std::string JobsPage(const std::vector<v1::Job>& jobs, const std::string& version);

// {"schema": "dynbench.status/1", "jobs": [{id, state, planned, passed, …, eta_s}]}, as `status
// --json` prints it.
std::string StatusJson(const std::vector<v1::Job>& jobs);

// {"error": message}
std::string ErrorJson(const std::string& message);

}  // namespace dynbench::web
