// Method: the one-line answer for counts that a user would see.
#include "tools/dynbenchctl/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/rows_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;

TEST(JobView, OneLineForEightyExperiments) {
  EXPECT_EQ(CountsLine({80, 68, 2, 0, 0, 0, 9, 1}),
            "70 done (68 passed, 2 failed), 1 running, 9 waiting");
  EXPECT_EQ(CountsLine({3, 0, 0, 0, 0, 0, 3, 0}), "0 done, 3 waiting");
  EXPECT_EQ(CountsLine({5, 1, 1, 1, 1, 1, 0, 0}),
            "5 done (1 passed, 1 failed, 1 skipped, 1 lost, 1 cancelled)");
}

TEST(JobView, SaysWhatIsLeftAndWhyItWaits) {
  JobView job = MakeJob({2, 1, 0, 0, 0, 0, 1, 0});
  job.job.label = "nightly\x1b[2J";
  job.eta_s = 42;
  job.waiting_reasons = {"1 waits: no worker has the environment 'nightly'"};
  const std::string text = StatusText({job});
  EXPECT_THAT(text, HasSubstr("job 3 (timm, nightly"));
  EXPECT_THAT(text, HasSubstr("about 42 s left"));
  EXPECT_THAT(text, HasSubstr("\n  waiting: 1 waits: no worker has the environment 'nightly'\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "a label cannot drive the terminal";
}

TEST(JobView, NamesTheReasonOfACancel) {
  JobView job = MakeJob({1, 0, 0, 0, 0, 1, 0, 0}, "cancelled");
  job.job.cancel_reason = "wrong branch";
  EXPECT_THAT(StatusLine(job), HasSubstr("cancelled: wrong branch"));
}

TEST(JobView, Times) {
  EXPECT_EQ(DateTime(UnixTimeMs{0}), "");
  EXPECT_EQ(DateTime(UnixTimeMs{1'700'000'000'123}), "2023-11-14 22:13:20");
}

}  // namespace
}  // namespace dynbench::cli
