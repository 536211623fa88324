// Method: two ends of a socket pair in one process; what was sent is read back through the passed
// descriptor itself.
#include "worker/process/fd_passing.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(FdPassing, DescriptorsArriveUsableAndCloseOnExec) {
  auto [a, b] = SocketPair();
  ASSERT_TRUE(a && b);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  ASSERT_TRUE(SendWithFds(a.get(), "hello", {write_end.get()}));
  write_end.reset();
  std::string bytes;
  std::vector<UniqueFd> fds;
  ASSERT_EQ(ReceiveWithFds(b.get(), &bytes, &fds), Received::kBytes);
  EXPECT_EQ(bytes, "hello");
  ASSERT_EQ(fds.size(), 1u);
  EXPECT_TRUE(fcntl(fds[0].get(), F_GETFD) & FD_CLOEXEC);
  ASSERT_EQ(write(fds[0].get(), "x", 1), 1);
  char c = 0;
  ASSERT_EQ(read(read_end.get(), &c, 1), 1);
  EXPECT_EQ(c, 'x');
}

TEST(FdPassing, AMissingPeerIsSaidWithoutASignal) {
  auto [a, b] = SocketPair();
  b.reset();
  EXPECT_FALSE(SendWithFds(a.get(), "x", {}));
  std::string bytes;
  std::vector<UniqueFd> fds;
  EXPECT_EQ(ReceiveWithFds(a.get(), &bytes, &fds), Received::kEnd);
}

}  // namespace
}  // namespace dynbench::worker
