// The rules with facts by hand (what an accelerator's host shows is not to be had everywhere), and
// the reading with a real thread of this process.
#include "worker/runner/fork_safety.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "gtest/gtest.h"

namespace dynbench::runner {
namespace {

TEST(ForkSafetyTest, OneThreadMayFork) {
  EXPECT_EQ(WhyNotFork({}), "");
  EXPECT_EQ(ThreadsThatMatter({}), 1);
}

TEST(ForkSafetyTest, AThreadOfNvmlDoesNoHarm) {
  const ForkFacts facts{.threads = {"cuda00001800007"}};
  EXPECT_EQ(WhyNotFork(facts), "");
  EXPECT_EQ(ThreadsThatMatter(facts), 1);
}

TEST(ForkSafetyTest, AnyOtherThreadIsNamed) {
  const std::string reason = WhyNotFork({.threads = {"cuda00001800007", "python3"},
                                         .cuda_initialised = false,
                                         .tensor_operations = 0});
  EXPECT_NE(reason.find("2 threads"), std::string::npos) << reason;
  EXPECT_NE(reason.find("python3"), std::string::npos) << reason;
}

TEST(ForkSafetyTest, AnInitialisedDeviceMayNotFork) {
  const std::string reason = WhyNotFork({.threads = {}, .cuda_initialised = true});
  EXPECT_NE(reason.find("CUDA"), std::string::npos) << reason;
}

TEST(ForkSafetyTest, ATensorOperationMayNotFork) {
  EXPECT_NE(WhyNotFork({.threads = {}, .cuda_initialised = false, .tensor_operations = 3})
                .find("3 tensor operations"),
            std::string::npos);
}

TEST(ForkSafetyTest, ReadsThisProcess) {
  const size_t before = ReadForkFacts(0).threads.size();
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
  });
  const ForkFacts facts = ReadForkFacts(7);
  EXPECT_EQ(facts.threads.size(), before + 1);
  EXPECT_EQ(facts.tensor_operations, 7);
  EXPECT_FALSE(facts.cuda_initialised);
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  other.join();
}

}  // namespace
}  // namespace dynbench::runner
