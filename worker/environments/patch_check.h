// What a unified diff would change, and whether an environment may be derived with it: files of
// Python below site-packages, changed or new. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dynbench::worker {

struct PatchedFile {
  std::string path;  // below site-packages
  bool is_new = false;
};

struct PatchPlan {
  std::vector<PatchedFile> files;  // in the order of the diff, each once
  int strip = 1;                   // leading folders that the diff's names have too many
};

// InvalidArgument names the file and the rule: no unified diff, binary, renamed or deleted files,
// files that are not Python, names that lead elsewhere.
absl::StatusOr<PatchPlan> PlanPatch(std::string_view patch);

}  // namespace dynbench::worker
