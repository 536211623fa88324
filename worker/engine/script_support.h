// What a script's interpreter is given so that it answers before it is killed: a sitecustomize
// module that registers Python's faulthandler, then hands over to the environment's own one. The
// scripts themselves run unchanged. And which version of the scripts it is.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"

namespace dynbench::worker {

// Writes sitecustomize.py into `folder` (made when it is missing), for PYTHONPATH.
absl::Status WriteScriptSupport(const std::string& folder);

// What a row says of the scripts that made it: "scripts.folder", "scripts.sha256" (of the file that
// was run) and, in a checkout, "scripts.commit". What cannot be found out is left out.
std::map<std::string, std::string> DescribeScript(const std::string& script);

// torchbench.py looks for a checkout of pytorch/benchmark beside its current folder. Links the one
// that it would find beside the scripts, or beside the checkout that they are in, into `work_dir`.
void LinkTorchbench(const std::string& script, const std::string& work_dir);

}  // namespace dynbench::worker
