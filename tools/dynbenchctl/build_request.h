// From the flags of `submit` to the request that the coordinator plans.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/plan/request.h"
#include "tools/dynbenchctl/csv_output.h"
#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {

// A file of the caller that travels with the job, content-addressed.
struct LocalFile {
  std::string path;  // absolute
  std::string name;  // its own name, for people
  std::string sha256;
  std::string bytes;
};

struct BuiltRequest {
  plan::Request request;
  std::vector<LocalFile> files;    // to upload before the request is submitted
  OutputFiles output;              // what to write when the job has finished
  std::vector<std::string> notes;  // for stderr
};

// Checks the rules among the flags (flag_rules.h), reads the files that they name (suite, batch
// sizes, model) relative to `cwd`, and says what the request is. InvalidArgument or NotFound name
// flag, file, line and fix. Nothing is dispatched.
absl::StatusOr<BuiltRequest> BuildRequest(const SubmitFlags& flags, const std::string& cwd);

// `path` made absolute against `cwd`, normalised, without a slash at its end.
std::string ResolvePath(const std::string& cwd, const std::string& path);

}  // namespace dynbench::cli
