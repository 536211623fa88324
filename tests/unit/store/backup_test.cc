// Method: a database is copied while a writer is in the middle of a transaction; the copy must
// open, hold exactly what was committed, and never appear half or over something that is there.
#include "common/store/backup.h"

#include <fstream>

#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;

class BackupTest : public StoreTest {};

TEST_F(BackupTest, TheCopyHoldsWhatWasCommitted) {
  Submit(MakeJob({"a", "b"}));
  const auto reader = OpenOrDie(Path(), Access::kReadOnly);
  ASSERT_OK(Execute(db_->handle(), "BEGIN IMMEDIATE; UPDATE job SET label = 'later'"));
  const auto bytes = Backup(*reader, folder_.File("copy.db"));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_GT(*bytes, 10'000);
  ASSERT_OK(Execute(db_->handle(), "COMMIT"));

  const auto copy = OpenOrDie(folder_.File("copy.db"), Access::kReadOnly);
  ASSERT_NE(copy, nullptr);
  EXPECT_OK(QuickCheck(*copy, 10'000));
  const auto jobs = ListJobs(*copy, 0);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_EQ(jobs->front().label, "");
  EXPECT_FALSE(std::filesystem::exists(folder_.File("copy.db.part")));
}

TEST_F(BackupTest, NothingIsReplacedAndNothingIsLeftOfAFailure) {
  std::ofstream(folder_.File("there")) << "mine";
  EXPECT_TRUE(absl::IsAlreadyExists(Backup(*db_, folder_.File("there")).status()));
  const absl::Status nowhere = Backup(*db_, folder_.File("no/folder/copy.db")).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(nowhere));
  EXPECT_THAT(std::string(nowhere.message()), HasSubstr("make it first"));
  EXPECT_TRUE(absl::IsFailedPrecondition(Backup(*db_, "relative.db").status()));
}

TEST_F(BackupTest, ADamagedDatabaseIsNamed) {
  Submit(MakeJob({"a"}));
  ASSERT_OK(Execute(db_->handle(),
                    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage ="
                    " (SELECT rootpage FROM sqlite_schema WHERE name = 'job')"
                    " WHERE name = 'job_open'; PRAGMA writable_schema = RESET;"));
  const absl::Status status = QuickCheck(*db_, 10'000);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("restore a backup"));
  EXPECT_FALSE(Backup(*db_, folder_.File("bad.db")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.File("bad.db")));
}

}  // namespace
}  // namespace dynbench::store
