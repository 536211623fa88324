// The mark that everything carries which a worker started: a variable of its environment, which a
// program inherits and /proc shows. With it, what outlives a worker whose lanes were killed with it
// (an out-of-memory killer takes several, a person types `kill -9` for all) is found and ended, and
// nothing else is: only a process with this mark, and what descends from one, is ever touched.
//
// A program that clears its environment is found as long as one of its ancestors is.
// Thread-safe: no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "worker/process/process_tree.h"

namespace dynbench::worker {

inline constexpr char kOwnerVariable[] = "DYNBENCH_OWNER";

// The value for one process of a worker: "ID/START".
std::string OwnerMark(std::string_view worker_id, int64_t process_start_unix_ms);
// What the marks of every process of a worker begin with.
std::string OwnerPrefix(std::string_view worker_id);

// Whether a /proc/PID/environ has the variable with a value that begins with `prefix`. Pure.
bool HasOwner(std::string_view environ_text, std::string_view prefix);

// The living processes that carry such a mark, and what descends from them; never the caller nor
// one of its ancestors.
std::vector<ProcessStat> ProcessesOfOwner(const std::string& prefix);

// Lanes that live get this long to end their own trees: they know also those without the mark.
inline constexpr int64_t kLanesMs = 3'000;

// What is left of a worker: waits for its lanes, at most `lanes_ms`, then kills. Returns how many
// were killed.
int EndProcessesOfOwner(const std::string& prefix, int64_t lanes_ms = kLanesMs);

// SIGKILL (and with it an end of being stopped) until two walks in a row find nobody, at most
// `give_up_ms`. Returns how many were signalled.
int KillProcessesOfOwner(const std::string& prefix, int64_t give_up_ms = 5'000);

}  // namespace dynbench::worker
