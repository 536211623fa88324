// Method: a real pool of two threads over a real database; what makes the pieces waits where a test
// needs it to.
#include "coordinator/web/piece_stream.h"

#include <future>
#include <vector>

#include "tests/unit/coordinator/testing.h"

namespace dynbench::web {
namespace {

using std::chrono::milliseconds;

class PieceStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = dir_.path() + "/store.db";
    ASSERT_TRUE(store::Database::Open(path, store::Access::kReadWrite).ok());
    pool_ = *session::QueryPool::Open(path, /*threads=*/2);
  }

  TempDir dir_;
  std::unique_ptr<session::QueryPool> pool_;
};

TEST_F(PieceStreamTest, GivesThePiecesInOrderThoughALaterOneIsMadeFirst) {
  std::promise<void> later;
  std::vector<std::future<void>> wait;
  wait.push_back(later.get_future());
  PieceStream stream(
      pool_.get(),
      [&](store::Database&, int number) -> absl::StatusOr<PieceStream::Piece> {
        if (number == 0) wait[0].wait();
        if (number == 1) later.set_value();
        if (number == 3) return std::nullopt;
        return std::string(1, "abc"[number]);
      },
      kDeadline);
  for (int i = 0; i < 4; ++i) stream.Begin();
  EXPECT_EQ(stream.begun(), 4u);
  for (const PieceStream::Piece& wanted : {PieceStream::Piece("a"), PieceStream::Piece("b"),
                                           PieceStream::Piece("c"), PieceStream::Piece()}) {
    const auto piece = stream.Take();
    ASSERT_TRUE(piece.ok()) << piece.status();
    EXPECT_EQ(*piece, wanted);
  }
}

TEST_F(PieceStreamTest, WhatCannotBeMadeIsItsOwnError) {
  PieceStream stream(
      pool_.get(), [](store::Database&, int) { return absl::DataLossError("row 7"); }, kDeadline);
  stream.Begin();
  EXPECT_EQ(stream.Take().status(), absl::DataLossError("row 7"));
}

TEST_F(PieceStreamTest, ASlowPieceIsNotWaitedForAndOutlivesItsStream) {
  std::promise<void> go;
  auto kept = std::make_shared<int>(0);
  {
    PieceStream stream(
        pool_.get(),
        [kept, wait = go.get_future().share()](store::Database&, int) {
          wait.wait();
          ++*kept;
          return PieceStream::Piece("late");
        },
        milliseconds(1));
    stream.Begin();
    EXPECT_EQ(stream.Take().status().code(), absl::StatusCode::kUnavailable);
  }
  go.set_value();
  pool_.reset();  // runs what is queued
  EXPECT_EQ(*kept, 1);
}

TEST_F(PieceStreamTest, AFullPoolSaysSo) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  while (pool_->Run([gone](store::Database&) { gone.wait(); }).ok()) {
  }
  PieceStream stream(
      pool_.get(), [](store::Database&, int) { return PieceStream::Piece("never"); }, kDeadline);
  stream.Begin();
  EXPECT_EQ(stream.Take().status().code(), absl::StatusCode::kResourceExhausted);
  go.set_value();
}

}  // namespace
}  // namespace dynbench::web
