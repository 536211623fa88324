#include "worker/host/core_set.h"

#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "worker/host/split.h"

namespace dynbench::worker {
namespace {

constexpr int kHighestCore = 1'023;  // what cpu_set_t holds

}  // namespace

absl::StatusOr<std::vector<int>> ParseCoreSet(std::string_view text) {
  const std::string whole(text);
  std::set<int> cores;
  for (const std::string& part : Split(whole, ',')) {
    const std::vector<std::string> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = -1, last = -1;
    if (!absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends.back(), &last) || first < 0 ||
        last < first || last > kHighestCore) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", whole, "\" is no core set; write it as 0-3 or 0,2,4"));
    }
    for (int core = first; core <= last; ++core) cores.insert(core);
  }
  return std::vector<int>(cores.begin(), cores.end());
}

std::string FormatCoreSet(const std::vector<int>& cores) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < cores.size();) {
    size_t end = i;
    while (end + 1 < cores.size() && cores[end + 1] == cores[end] + 1) ++end;
    parts.push_back(i == end ? absl::StrCat(cores[i]) : absl::StrCat(cores[i], "-", cores[end]));
    i = end + 1;
  }
  return absl::StrJoin(parts, ",");
}

}  // namespace dynbench::worker
