// Core masks of this process and its threads.
#pragma once

#include <string>
#include <vector>

namespace dynbench::runner {

// Restricts every thread of this process to `cores` (a thread keeps the mask that it was born with,
// OpenMP's workers too). Throws std::runtime_error naming the cores when the kernel refuses.
void SetAffinity(const std::vector<int>& cores);

// The threads whose mask is not `cores`, as text for people; empty when all have it.
std::vector<std::string> ThreadsElsewhere(const std::vector<int>& cores);

// What this thread may use, ascending.
std::vector<int> AllowedCores();

// "0-3,8": ranges, ascending.
std::string FormatCores(std::vector<int> cores);

}  // namespace dynbench::runner
