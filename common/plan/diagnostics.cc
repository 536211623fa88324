#include "common/plan/diagnostics.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dynbench::plan {
namespace {

constexpr char kCache[] = "cache";

}  // namespace

const std::vector<std::string>& DiagnosticsKinds() {
  static const auto& kinds = *new std::vector<std::string>{
      "trace", "logs", "compile_debug", "profiler", "memory_snapshot", "operator_inputs", kCache};
  return kinds;
}

std::vector<std::string> DefaultDiagnostics() {
  std::vector<std::string> kinds = DiagnosticsKinds();
  std::erase(kinds, kCache);
  return kinds;
}

absl::Status CheckDiagnostics(const std::vector<std::string>& kinds) {
  const std::vector<std::string>& known = DiagnosticsKinds();
  for (const std::string& kind : kinds) {
    if (std::find(known.begin(), known.end(), kind) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no diagnostics kind \"", kind, "\"; there are: ", absl::StrJoin(known, ", ")));
    }
  }
  return absl::OkStatus();
}

bool Instruments(const std::vector<std::string>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [](const auto& kind) { return kind != kCache; });
}

}  // namespace dynbench::plan
