// "Did you mean": the known words closest to one that is not known. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dynbench::plan {

// The candidates closest to `name` (edit distance without regard to case, at most 3, best first).
// Only words that a slip could have turned into `name` count: at most a third of its letters
// differ, or one begins with the other.
std::vector<std::string> Nearest(std::string_view name, const std::vector<std::string>& candidates);

// ` (did you mean "a" or "b"?)` with the nearest candidates; empty when nothing is near.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dynbench::plan
