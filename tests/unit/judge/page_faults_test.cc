// Method: comparisons of processes whose compiled latency is too noisy to tell, with and without
// page faults in their calls, in the default profile and in another one.
#include "common/judge/page_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/judge/compare.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Three processes a side that differ by a third, or hardly.
void Add(const std::string& model, int64_t eager_faults, int64_t compiled_faults, bool noisy,
         Side* base, Side* fresh, const std::string& profile = "default") {
  for (const double factor : {0.7, 1.0, 1.3}) {
    for (Side* side : {base, fresh}) {
      Process process = Measured(model, 20, 10 * (noisy ? factor : 1 + factor / 1000));
      process.row.experiment.profile = profile;
      process.row.result->metrics.eager_page_faults = eager_faults;
      process.row.result->metrics.compiled_page_faults = compiled_faults;
      side->processes.push_back(process);
    }
  }
}

std::vector<std::string> NotesOf(const Side& base, Side fresh) {
  fresh.processes = OnNewBuild(std::move(fresh.processes));
  return Compare(base, fresh, {}, {}).notes;
}

TEST(PageFaults, WhatIsUnknownForThemNamesTheProfile) {
  Side base, fresh;
  Add("small", 0, 200, true, &base, &fresh);
  Add("mobilenet", 0, 4672, true, &base, &fresh);
  EXPECT_THAT(NotesOf(base, fresh),
              Contains("unknown, and with page faults in each call: mobilenet 4672, small 200; "
                       "processes of one build differ by what these cost, --profile steady-heap "
                       "has none"));
}

TEST(PageFaults, ThreeAreNamedAndTheOthersCounted) {
  Side base, fresh;
  for (int i = 0; i < 5; ++i) Add("m" + std::to_string(i), 0, 1000 + i, true, &base, &fresh);
  EXPECT_THAT(NotesOf(base, fresh), Contains(HasSubstr("m4 1004, m3 1003, m2 1002, 2 more;")));
}

TEST(PageFaults, WhatIsToldOrHasFewOrAnotherProfileHasNoNote) {
  const auto none = Not(Contains(HasSubstr("page faults")));
  for (const std::string why : {"told", "few", "profile"}) {
    Side base, fresh;
    Add("m", 0, why == "few" ? 20 : 4672, why != "told", &base, &fresh,
        why == "profile" ? "steady-heap" : "default");
    EXPECT_THAT(NotesOf(base, fresh), none) << why;
  }
}

TEST(PageFaults, ThoseOfEagerAreInTheSpeedupToo) {
  Side base, fresh;
  Add("m", 4672, 0, true, &base, &fresh);
  EXPECT_THAT(NotesOf(base, fresh), Contains(HasSubstr("m 4672;")));
}

}  // namespace
}  // namespace dynbench::judge
