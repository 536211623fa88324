// Method: bytes whose value is their offset are appended; each piece read must hold its own
// offset's.
#include "worker/agent/live_log.h"

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

std::string Bytes(int64_t begin, int64_t end) {
  std::string text;
  for (int64_t i = begin; i < end; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST(LiveLog, PiecesGoOnWhereTheLastOneEnded) {
  LiveLog log;
  EXPECT_EQ(log.Read(0, 10).bytes, "");
  log.Append(Bytes(0, 30));
  const LiveLog::Piece first = log.Read(0, 20);
  EXPECT_EQ(first.offset, 0);
  EXPECT_EQ(first.bytes, Bytes(0, 20));
  log.Append(Bytes(30, 40));
  EXPECT_EQ(log.Read(20, 100).bytes, Bytes(20, 40));
  EXPECT_EQ(log.Read(40, 100).bytes, "");
  EXPECT_EQ(log.Read(1'000, 100).bytes, "") << "asked for ahead of what was written";
}

TEST(LiveLog, AFloodKeepsItsEndAndTellsWhatIsGone) {
  LiveLog log(100);
  for (int64_t i = 0; i < 1'000; ++i) log.Append(Bytes(7 * i, 7 * (i + 1)));
  const LiveLog::Piece piece = log.Read(0, 1'000);
  EXPECT_EQ(piece.offset + static_cast<int64_t>(piece.bytes.size()), 7'000);
  EXPECT_GE(piece.bytes.size(), 100u);
  EXPECT_LE(piece.bytes.size(), 200u);
  EXPECT_EQ(piece.bytes, Bytes(piece.offset, 7'000));
}

}  // namespace
}  // namespace dynbench::worker
