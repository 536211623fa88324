// Links in /tmp that stand for folders whose names a shell would split
// (worker/runner/path_aliases.h): one who was killed leaves them. Thread-safe: no state.
#pragma once

#include <string>

namespace dynbench::worker {

// Removes the folders TMP_DIR/dynbench-XXXXXX of this user that hold nothing but links, one of them
// at least into `state_dir`. Call it when no process of this worker lives. Returns how many.
int SweepPathAliases(const std::string& tmp_dir, const std::string& state_dir);

}  // namespace dynbench::worker
