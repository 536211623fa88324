// Method: a coordinator that counts how often it is asked and fails as the test says; waiting is
// noted instead of done. Many threads ask for one file at the same time.
#include "worker/agent/file_fetcher.h"

#include <atomic>
#include <thread>
#include <vector>

#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

const std::string kBytes = "class Model: pass\n";

class FileFetcherTest : public testing::Test {
 protected:
  FileFetcher Make() {
    return FileFetcher(dir_ / "files",
                       {[this](const std::string&) -> absl::StatusOr<std::string> {
                          const int asked = ++asked_;
                          if (asked <= failing_) return error_;
                          return kBytes;
                        },
                        [this](int64_t ms) { waited_.push_back(ms); }, [] { return 0.5; }});
  }
  ScratchDir dir_;
  std::atomic<int> asked_{0};
  int failing_ = 0;
  absl::Status error_ = absl::ResourceExhaustedError("too many ask");
  std::vector<int64_t> waited_;
};

TEST_F(FileFetcherTest, ManyAskersOneFetch) {
  FileFetcher files = Make();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto path = files.Get(Sha256Hex(kBytes));
      if (path.ok() && ReadText(*path) == kBytes) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(Make().Get(Sha256Hex(kBytes)).ok());  // another process of the same worker
  EXPECT_EQ(asked_, 1);
}

TEST_F(FileFetcherTest, WhatMayPassIsTriedAgainLessAndLessOften) {
  failing_ = 3;
  ASSERT_TRUE(Make().Get(Sha256Hex(kBytes)).ok());
  EXPECT_EQ(asked_, 4);
  EXPECT_EQ(waited_, (std::vector<int64_t>{187, 375, 750}));
  EXPECT_LT(FetchDelayMs(0, 0.0), FetchDelayMs(0, 1.0));
  EXPECT_LE(FetchDelayMs(50, 1.0), 8'000);
}

TEST_F(FileFetcherTest, ItEndsAtSomeTimeAndWithTheReason) {
  failing_ = 1'000;
  EXPECT_TRUE(absl::IsResourceExhausted(Make().Get(Sha256Hex(kBytes)).status()));
  EXPECT_EQ(asked_, FileFetcher::kTries);
}

TEST_F(FileFetcherTest, WhatCannotPassIsNotTriedAgain) {
  failing_ = 1'000;
  error_ = absl::NotFoundError("no such file");
  EXPECT_TRUE(absl::IsNotFound(Make().Get(Sha256Hex(kBytes)).status()));
  EXPECT_EQ(asked_, 1);
  failing_ = 0;
  EXPECT_TRUE(absl::IsDataLoss(Make().Get(std::string(64, 'a')).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Make().Get("../../etc/passwd").status()));
}

}  // namespace
}  // namespace dynbench::worker
