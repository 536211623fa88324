// Method: the capture is fed pieces of every size and compared with what it must keep; the pump
// reads a real child on an event loop.
#include "worker/process/log_capture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "worker/process/process_tree.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {
namespace {

TEST(LogCapture, KeepsEverythingBelowTheCap) {
  LogCapture capture(1'000);
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string piece = std::to_string(i) + '\0' + "\xff\n";
    capture.Append(piece);
    all += piece;
  }
  EXPECT_FALSE(capture.cut());
  EXPECT_EQ(capture.Text(), all);
}

TEST(LogCapture, KeepsHeadAndTailAndSaysHowMuchIsMissing) {
  for (const size_t piece_size : {1u, 7u, 500u, 100'000u}) {
    LogCapture capture(1'000);
    const std::string flood(100'000, 'm');
    const std::string all = "HEAD" + flood + "TAIL";
    for (size_t i = 0; i < all.size(); i += piece_size) capture.Append(all.substr(i, piece_size));
    const std::string text = capture.Text();
    EXPECT_LE(text.size(), 1'000u);
    EXPECT_TRUE(absl::StartsWith(text, "HEAD"));
    EXPECT_TRUE(absl::EndsWith(text, "TAIL"));
    const size_t kept = text.size() - text.substr(text.find("\n[dynbench")).find("]\n") - 2;
    EXPECT_TRUE(absl::StrContains(text, " bytes were cut here]")) << text;
    EXPECT_LT(kept, 1'000u);
    EXPECT_EQ(capture.total_bytes(), static_cast<int64_t>(all.size()));
  }
}

TEST(LogPump, AFloodNeverMakesTheChildWaitAndCostsOnlyTheCap) {
  EventLoop loop;
  int64_t seen = 0;
  LogPump pump(&loop, 10'000, [&](int64_t offset, std::string_view bytes) {
    EXPECT_EQ(offset, seen);
    seen += static_cast<int64_t>(bytes.size());
    if (seen >= 20'000'000) loop.Stop();
  });
  UniqueFd out = pump.Open();
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "head -c 20000000 /dev/zero"};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.fds = {{1, out.get()}};
  const auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok()) << pid.status();
  out.reset();
  loop.Run();
  int status = 0;
  waitpid(*pid, &status, 0);
  EXPECT_TRUE(DecodeWaitStatus(status).success());
  EXPECT_LE(pump.capture().Text().size(), 10'000u);
  EXPECT_EQ(pump.capture().total_bytes(), 20'000'000);
}

TEST(LogPump, EndsThoughAProcessThatEscapedStillHoldsThePipe) {
  EventLoop loop;
  LogPump pump(&loop, 10'000, nullptr);
  UniqueFd out = pump.Open();
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "echo said; sleep 1000 & exit 0"};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  options.fds = {{1, out.get()}};
  const auto pid = Spawn(options);
  ASSERT_TRUE(pid.ok()) << pid.status();
  out.reset();
  waitpid(*pid, nullptr, 0);
  pump.Finish();  // would hang here if it waited for the end of file
  EXPECT_EQ(pump.capture().Text(), "said\n");
  kill(-*pid, SIGKILL);
}

}  // namespace
}  // namespace dynbench::worker
