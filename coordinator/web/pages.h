// What the HTTP server answers, as text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/formats/results_json.h"

namespace dynbench::web {

// For text and attribute values.
std::string EscapeHtml(std::string_view text);

// One plain page: the jobs with their coverage. No script, no external asset.
std::string JobsPage(const std::vector<formats::JobProgress>& jobs, const std::string& version);

// {"error": message}
std::string ErrorJson(const std::string& message);

}  // namespace dynbench::web
