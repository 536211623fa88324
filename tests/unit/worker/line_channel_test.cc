// Method: two ends of a socket pair; what one sends, whole or in crumbs, the other must take.
#include "worker/process/line_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

class LineChannelTest : public testing::Test {
 protected:
  LineChannelTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    here_ = LineChannel(UniqueFd(ends[0]));
    there_ = UniqueFd(ends[1]);
  }
  void Raw(const std::string& bytes) {
    ASSERT_EQ(write(there_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ASSERT_TRUE(here_.Receive());
  }

  LineChannel here_;
  UniqueFd there_;
};

TEST_F(LineChannelTest, LinesComeWholeHoweverTheyAreCut) {
  Raw("on");
  EXPECT_EQ(here_.TakeLine(), std::nullopt);
  Raw("e\n\ntwo\nth");
  EXPECT_EQ(here_.TakeLine(), "one");
  EXPECT_EQ(here_.TakeLine(), "");
  EXPECT_EQ(here_.TakeLine(), "two");
  EXPECT_EQ(here_.TakeLine(), std::nullopt);
  Raw("ree\n");
  EXPECT_EQ(here_.TakeLine(), "three");
}

TEST(LineChannel, WhoDoesNotReadIsNotWaitedForAndHasAllInOrderLater) {
  auto [a, b] = SocketPair();
  LineChannel sender(std::move(a)), receiver(std::move(b));
  constexpr int kLines = 20'000;  // more than a socket holds
  for (int i = 0; i < kLines; ++i) sender.Queue(std::to_string(i));
  EXPECT_FALSE(sender.Flush());
  int next = 0;
  while (next < kLines) {
    sender.Flush();
    ASSERT_TRUE(receiver.Receive());
    while (auto line = receiver.TakeLine()) ASSERT_EQ(*line, std::to_string(next++));
  }
  EXPECT_TRUE(sender.Flush());
  sender.Queue("last");
  receiver.Close();
  sender.Queue("for nobody");
  EXPECT_TRUE(sender.Flush()) << "nothing is kept for who is gone";
}

TEST(LineChannel, LongLinesAndSeveralInOnePieceComeWhole) {
  auto [a, b] = SocketPair();
  LineChannel sender(std::move(a)), receiver(std::move(b));
  const std::string big(3 << 20, 'y');  // more than a socket holds
  std::thread writer([&] {
    EXPECT_TRUE(sender.Send("one"));
    EXPECT_TRUE(sender.Send(big));
    EXPECT_TRUE(sender.Send("three"));
    sender.Close();
  });
  std::vector<std::string> lines;
  bool open = true;
  while (open) {
    open = receiver.Receive();
    while (auto line = receiver.TakeLine()) lines.push_back(*line);
  }
  writer.join();
  EXPECT_EQ(lines, (std::vector<std::string>{"one", big, "three"}));
}

TEST_F(LineChannelTest, WhatCameBeforeTheEndCanStillBeTaken) {
  Raw("last\nhalf");
  there_.reset();
  EXPECT_FALSE(here_.Receive());
  EXPECT_EQ(here_.TakeLine(), "last");
  EXPECT_EQ(here_.TakeLine(), std::nullopt) << "half a line is none";
}

TEST_F(LineChannelTest, DescriptorsComeWithTheirLine) {
  LineChannel there(std::move(there_));
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const UniqueFd read_end(pipe_ends[0]);
  UniqueFd write_end(pipe_ends[1]);
  ASSERT_TRUE(there.Send("take this", {write_end.get()}));
  write_end.reset();
  ASSERT_TRUE(here_.Receive());
  EXPECT_EQ(here_.TakeLine(), "take this");
  auto fds = here_.TakeFds();
  ASSERT_EQ(fds.size(), 1u);
  ASSERT_EQ(write(fds[0].get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(LineChannelTest, SendingToAPeerThatIsGoneFailsAndKillsNobody) {
  there_.reset();
  EXPECT_FALSE(here_.Send("hello"));
  here_.Close();
  EXPECT_FALSE(here_.open());
  EXPECT_FALSE(here_.Send("hello"));
  EXPECT_FALSE(here_.Receive());
}

}  // namespace
}  // namespace dynbench::worker
