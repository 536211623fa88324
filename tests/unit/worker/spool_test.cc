// Method: a spool is opened, filled and opened again, as a restarted worker does; files are damaged
// in between as a power cut would.
#include "worker/agent/spool.h"

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

v1::AttemptFinished Finished(int64_t experiment, int64_t lease, const std::string& error = "") {
  v1::AttemptFinished finished;
  finished.mutable_attempt()->set_experiment(experiment);
  finished.mutable_attempt()->set_lease(lease);
  finished.mutable_result()->set_outcome("failed");
  finished.mutable_result()->set_error(error);
  finished.set_log(std::string("bytes \0 and \xff\n", 14));
  return finished;
}

AttemptId Id(int64_t experiment, int64_t lease) {
  return {ExperimentId(experiment), LeaseEpoch(lease)};
}

TEST(Spool, ResultsSurviveTheProcessUntilTheyAreAcknowledged) {
  ScratchDir dir;
  {
    auto spool = Spool::Open(dir / "spool");
    ASSERT_TRUE(spool.ok()) << spool.status();
    ASSERT_TRUE(spool->Put(Finished(1, 10)).ok());
    ASSERT_TRUE(spool->Put(Finished(2, 10)).ok());
    spool->Remove(Id(1, 10));
  }
  auto spool = Spool::Open(dir / "spool");
  ASSERT_TRUE(spool.ok());
  ASSERT_EQ(spool->Attempts(), std::vector<AttemptId>{Id(2, 10)});
  EXPECT_EQ(spool->Results()[0]->SerializeAsString(), Finished(2, 10).SerializeAsString());
  spool->Remove(Id(2, 10));
  EXPECT_EQ(Spool::Open(dir / "spool")->size(), 0);
}

TEST(Spool, TheSameAttemptTwiceKeepsTheFirst) {
  ScratchDir dir;
  auto spool = Spool::Open(dir / "spool");
  ASSERT_TRUE(spool->Put(Finished(1, 10, "first")).ok());
  ASSERT_TRUE(spool->Put(Finished(1, 10, "second")).ok());
  EXPECT_EQ(spool->size(), 1);
  EXPECT_EQ(spool->Results()[0]->result().error(), "first");
  EXPECT_EQ(Spool::Open(dir / "spool")->Results()[0]->result().error(), "first");
}

TEST(Spool, TornFilesAreSetAsideAndTheRestIsRead) {
  ScratchDir dir;
  {
    auto spool = Spool::Open(dir / "spool");
    for (int i = 1; i <= 4; ++i) ASSERT_TRUE(spool->Put(Finished(i, 7)).ok());
  }
  const std::string whole = ReadText(dir / "spool/1.7.result");
  WriteText(dir / "spool/1.7.result", whole.substr(0, whole.size() - 1));
  std::string flipped = ReadText(dir / "spool/2.7.result");
  flipped.back() ^= 1;
  WriteText(dir / "spool/2.7.result", flipped);
  WriteText(dir / "spool/3.7.result", "");
  WriteText(dir / "spool/5.7.result.new-1-0", "half a write");
  auto spool = Spool::Open(dir / "spool");
  ASSERT_TRUE(spool.ok());
  EXPECT_EQ(spool->Attempts(), std::vector<AttemptId>{Id(4, 7)});
  EXPECT_EQ(spool->torn(), 3);
  EXPECT_EQ(ReadText(dir / "spool/torn/2.7.result"), flipped);
  EXPECT_FALSE(std::filesystem::exists(dir / "spool/5.7.result.new-1-0"));
}

TEST(Spool, WhatIsBeingWrittenIsOwedButNotSentYet) {
  ScratchDir dir;
  auto spool = Spool::Open(dir / "spool");
  const auto file = spool->Hold(Finished(1, 7));
  ASSERT_TRUE(file.has_value());
  EXPECT_FALSE(spool->Hold(Finished(1, 7, "again")).has_value());
  EXPECT_EQ(spool->Attempts(), std::vector<AttemptId>{Id(1, 7)});
  EXPECT_TRUE(spool->Results().empty());
  EXPECT_EQ(Spool::Open(dir / "spool")->size(), 0);
  spool->Written(Id(1, 7), WriteSpoolFiles({*file}).front());
  EXPECT_TRUE(spool->all_durable());
  EXPECT_EQ(spool->Results().size(), 1u);
  EXPECT_EQ(Spool::Open(dir / "spool")->Results().size(), 1u);
}

TEST(Spool, AGroupOfFilesHasAStatusForEach) {
  ScratchDir dir;
  auto spool = Spool::Open(dir / "spool");
  std::vector<SpoolFile> files = {*spool->Hold(Finished(1, 7)), *spool->Hold(Finished(2, 7)),
                                  *spool->Hold(Finished(3, 7))};
  files[1].path = dir / "nowhere/2.7.result";
  const auto statuses = WriteSpoolFiles(files);
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_FALSE(statuses[1].ok());
  EXPECT_TRUE(statuses[2].ok());
  EXPECT_EQ(Spool::Open(dir / "spool")->Attempts(), (std::vector<AttemptId>{Id(1, 7), Id(3, 7)}));
}

TEST(Spool, WhatCannotBeWrittenIsHeldAndWrittenLater) {
  ScratchDir dir;
  auto spool = Spool::Open(dir / "spool");
  std::filesystem::rename(dir / "spool", dir / "away");
  EXPECT_FALSE(spool->Put(Finished(1, 7)).ok());
  EXPECT_FALSE(spool->all_durable());
  EXPECT_EQ(spool->size(), 1);
  std::filesystem::rename(dir / "away", dir / "spool");
  EXPECT_TRUE(spool->Retry().ok());
  EXPECT_TRUE(spool->all_durable());
  EXPECT_EQ(Spool::Open(dir / "spool")->size(), 1);
}

}  // namespace
}  // namespace dynbench::worker
