// Core lists as text by hand; masks with a real thread of this process.
#include "worker/runner/cores.h"

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

TEST(CoresTest, Format) {
  EXPECT_EQ(FormatCores({}), "");
  EXPECT_EQ(FormatCores({3}), "3");
  EXPECT_EQ(FormatCores({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(FormatCores({8, 0, 2, 1}), "0-2,8");
}

TEST(CoresTest, EveryThreadGetsTheMask) {
  const std::vector<int> all = AllowedCores();
  ASSERT_FALSE(all.empty());
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
  });
  const std::vector<int> one = {all.back()};
  SetAffinity(one);
  EXPECT_TRUE(ThreadsElsewhere(one).empty());
  if (all.size() > 1) {
    EXPECT_EQ(ThreadsElsewhere(all).size(), 2u);
  }
  SetAffinity(all);
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  other.join();
}

TEST(CoresTest, CoresThatDoNotExistAreRefusedByName) {
  try {
    SetAffinity({8000});
    FAIL() << "core 8000 was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("8000"), std::string::npos);
  }
}

}  // namespace
}  // namespace dynbench::runner
