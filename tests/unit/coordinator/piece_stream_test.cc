// Method: a real pool of two threads over a real database; what makes the pieces waits where a test
// needs it to.
#include "coordinator/web/piece_stream.h"

#include <atomic>
#include <future>

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
  std::future<void> made = later.get_future();
  std::atomic<int> begun = 0;
  PieceStream stream(
      pool_.get(),
      [&](store::Database&, int number) -> absl::StatusOr<PieceStream::Piece> {
        ++begun;
        if (number == 0) made.wait();
        if (number == 1) later.set_value();
        return PieceStream::Piece{std::string(1, "abc"[number]), number == 2};
      },
      kDeadline);
  stream.Begin(3);
  stream.Begin(3);  // no more than that
  for (const char* wanted : {"a", "b", "c"}) {
    const auto piece = stream.Take();
    ASSERT_TRUE(piece.ok()) << piece.status();
    EXPECT_EQ(piece->text, wanted);
    EXPECT_EQ(piece->last, piece->text == "c");
  }
  EXPECT_EQ(begun, 3);
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
          return PieceStream::Piece{"late"};
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
      pool_.get(), [](store::Database&, int) { return PieceStream::Piece{"never"}; }, kDeadline);
  stream.Begin();
  EXPECT_EQ(stream.Take().status().code(), absl::StatusCode::kResourceExhausted);
  go.set_value();
}

}  // namespace
}  // namespace dynbench::web
