// Method: made snapshots of processes; and on this host one process that works, once as our own and
// once as a stranger's, until it has used a known amount of processor time.
#include "worker/runner/compile_load.h"

#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "worker/runner/cores.h"

namespace dynbench::runner {
namespace {

TEST(CompileLoad, ATreeIsChargedForWhoHasEndedToo) {
  std::map<pid_t, ProcessTime> all = {
      {1, {"worker", 1'000, 0, 500}}, {2, {"zygote", 7, 1}},           {3, {"lane", 1, 2, 40}},
      {4, {"child", 300, 3, 20}},     {5, {"compiler", 50, 4}},        {8, {"lane", 2, 2, 60}},
      {9, {"child", 90, 8}},          {11, {"stranger", 5'000, 1'000}}};
  EXPECT_EQ(TreeTicks(all, {3, true}), 1 + 40 + 300 + 20 + 50);
  EXPECT_EQ(TreeTicks(all, {1, false}), 7 + 411 + 62 + 90) << "every lane, and not the worker";
  // The compiler has ended, and its parent has waited for it.
  all.erase(5);
  all[4].waited_ticks += 55;
  EXPECT_EQ(TreeTicks(all, {3, true}), 411 + 5);
  EXPECT_EQ(TreeTicks(all, {77, true}), 0);
  EXPECT_EQ(Ancestor(all, 3, 2), 1);
  EXPECT_EQ(Ancestor(all, 77, 2), 0);
}

TEST(CompileLoad, OnlyMuchOfALongStretchDisturbs) {
  EXPECT_FALSE(Disturbed({30, 0.09}));
  EXPECT_TRUE(Disturbed({30, 0.11}));
  EXPECT_FALSE(Disturbed({0.1, 0.9})) << "of a few ticks";
  EXPECT_EQ(ToString({30, 0.434}), "others had 43 % of its cores while it compiled");
  EXPECT_EQ(ToString({30, 0.434, "cc1plus (pid 7)"}),
            "others had 43 % of its cores while it compiled, busiest cc1plus (pid 7)");
}

TEST(CompileLoad, WithoutCoresNothingIsKnown) {
  EXPECT_FALSE(CompileLoad({}, {getpid(), true}).Look());
}

// Uses half a second of the core's time.
[[noreturn]] void Work(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
  timespec t{};
  do {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  } while (t.tv_sec == 0 && t.tv_nsec < 500'000'000);
  _exit(0);
}

// What is ours and what is not fit into the core's time together; only one of them worked for sure,
// since others may be busy here as well.
TEST(CompileLoad, AStrangersWorkIsForeignAndOursIsNot) {
  const int core = AllowedCores().front();
  for (const bool ours : {true, false}) {
    const CompileLoad load({core}, {ours ? getpid() : -1, true});
    const pid_t worker = fork();
    ASSERT_GE(worker, 0);
    if (worker == 0) Work(core);
    ASSERT_EQ(waitpid(worker, nullptr, 0), worker);
    const auto look = load.Look();
    ASSERT_TRUE(look);
    const double worked = 0.5 / look->seconds;
    if (ours) {
      EXPECT_LE(look->foreign_share + worked, 1.1);
    } else {
      EXPECT_GE(look->foreign_share, 0.8 * worked);
    }
  }
}

}  // namespace
}  // namespace dynbench::runner
