// Method: write and read the file of a real folder; damage it; name folders as flags and variables
// do. What `down` stops is in process_ref_test.cc.
#include "tools/dynbenchctl/local_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/submit_testing.h"
#include "tools/dynbenchctl/local_fleet.h"

namespace dynbench::cli {
namespace {

TEST(LocalState, KeepsWhatWasStarted) {
  const TemporaryFolder folder;
  const LocalPaths paths(folder.path());
  LocalState state;
  state.coordinator = {12, 34, "boot"};
  state.address = "127.0.0.1:1";
  state.http_url = "http://127.0.0.1:2";
  state.metrics_url = state.http_url + "/metrics";
  state.database = "/d/dynbench.db";
  state.workers = {{{56, 78, "boot"}, "/d/worker-1"}};
  ASSERT_TRUE(WriteLocalState(paths, state).ok());
  const auto read = ReadLocalState(paths);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->coordinator, state.coordinator);
  EXPECT_EQ(read->address, state.address);
  EXPECT_EQ(read->metrics_url, state.metrics_url);
  ASSERT_EQ(read->workers.size(), 1U);
  EXPECT_EQ(read->workers[0].process, state.workers[0].process);
  EXPECT_EQ(read->workers[0].state_dir, "/d/worker-1");
  ASSERT_TRUE(RemoveLocalState(paths).ok());
  EXPECT_EQ(ReadLocalState(paths)->coordinator.pid, 0) << "no file: nothing runs";
  EXPECT_TRUE(RemoveLocalState(paths).ok()) << "twice is no error";
}

TEST(LocalState, ADamagedFileIsNeverReadAsNothingRuns) {
  const TemporaryFolder folder;
  const LocalPaths paths(folder.path());
  for (const char* text : {"", "{", "{}", "[]", R"({"schema":"dynbench.local-state/2"})",
                           R"({"schema":"dynbench.local-state/1","coordinator":{"pid":"x"}})"}) {
    folder.Write("local.json", text);
    const auto state = ReadLocalState(paths);
    EXPECT_FALSE(state.ok()) << text;
    EXPECT_THAT(std::string(state.status().message()), ::testing::HasSubstr("local.json"));
  }
}

TEST(LocalState, AStaleRecordIsNotRunningAndStoppingItHurtsNobody) {
  const auto self = Capture(getpid());
  ASSERT_TRUE(self.has_value());
  LocalState state;
  state.coordinator = *self;
  state.coordinator.start_ticks -= 1;  // the number was ours before
  state.workers = {{state.coordinator, ""}};
  EXPECT_FALSE(CoordinatorRuns(state));
  EXPECT_EQ(WorkersRunning(state), 0U);
  EXPECT_TRUE(StopFleet(state).ok());  // this test would end here otherwise
}

TEST(LocalState, WhereItIsKept) {
  unsetenv("DYNBENCH_STATE_DIR");
  setenv("XDG_STATE_HOME", "/x", 1);
  EXPECT_EQ(LocalStateDir("", "/c"), "/x/dynbench/local");
  EXPECT_EQ(LocalStateDir("d/", "/c"), "/c/d");
  setenv("DYNBENCH_STATE_DIR", "/s", 1);
  EXPECT_EQ(LocalStateDir("", "/c"), "/s");
  EXPECT_EQ(LocalStateDir("/d", "/c"), "/d");
  unsetenv("DYNBENCH_STATE_DIR");
  unsetenv("XDG_STATE_HOME");
  setenv("HOME", "/h", 1);
  EXPECT_EQ(LocalStateDir("", "/c"), "/h/.local/state/dynbench/local");
}

TEST(LocalLock, OnlyOneCommandAtATime) {
  const TemporaryFolder folder;
  const LocalPaths paths(folder.path() + "/new/folder");
  const auto first = LocalLock::Take(paths);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(LocalLock::Take(paths).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace dynbench::cli
