// Method: real files. A second opener, readers beside a live writer, after a dead one and in a
// folder that cannot be written; a copy of file and log taken in the middle of things stands for a
// power cut.
#include "common/store/store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;

using StoreOpenTest = StoreTest;

std::string Pragma(Database& db, const std::string& name) {
  Statement s(db, "PRAGMA " + name);
  EXPECT_TRUE(*s.Step());
  return s.Text(0);
}

TEST_F(StoreOpenTest, TheWriterIsDurableAndChecksForeignKeys) {
  EXPECT_EQ(Pragma(*db_, "journal_mode"), "wal");
  EXPECT_EQ(Pragma(*db_, "synchronous"), "2");
  EXPECT_EQ(Pragma(*db_, "foreign_keys"), "1");
  EXPECT_EQ(Pragma(*db_, "wal_autocheckpoint"), "0");
  EXPECT_EQ(Pragma(*db_, "integrity_check"), "ok");
}

TEST_F(StoreOpenTest, ASecondCoordinatorIsRefusedUntilTheFirstIsGone) {
  const absl::Status status = Database::Open(Path(), Access::kReadWrite).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("another coordinator (process " + std::to_string(getpid())));
  db_.reset();
  EXPECT_OK(Database::Open(Path(), Access::kReadWrite).status());
}

TEST_F(StoreOpenTest, AReaderSeesCommitsOfALiveCoordinatorAndCannotWrite) {
  const auto reader = OpenOrDie(Path(), Access::kReadOnly);
  EXPECT_TRUE(ListJobs(*reader, 0)->empty());
  Submit(MakeJob({"a"}));
  EXPECT_EQ(ListJobs(*reader, 0)->size(), 1u);
  EXPECT_FALSE(Execute(reader->handle(), "DELETE FROM experiment").ok());
}

TEST_F(StoreOpenTest, AReaderSeesEverythingAfterAStop) {
  Submit(MakeJob({"a"}));
  db_.reset();
  EXPECT_EQ(ListJobs(*OpenOrDie(Path(), Access::kReadOnly), 0)->size(), 1u);
}

// In a child, since root could write everywhere: it becomes somebody else there.
int JobsSeenByNobody(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(100);
    const absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(path, Access::kReadOnly);
    if (!db.ok()) _exit(101);
    const auto jobs = ListJobs(**db, 0);
    _exit(jobs.ok() ? static_cast<int>(jobs->size()) : 102);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(StoreOpenTest, AReaderNeedsNoWritableFolder) {
  Submit(MakeJob({"a"}));
  const std::string folder = std::filesystem::path(Path()).parent_path().string();
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  EXPECT_EQ(JobsSeenByNobody(Path()), 1) << "beside a live coordinator";
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  db_.reset();
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  EXPECT_EQ(JobsSeenByNobody(Path()), 1) << "after it stopped";
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
}

TEST_F(StoreOpenTest, ACopyOfFileAndLogTakenMidwayHoldsWhatWasCommitted) {
  Submit(MakeJob({"a", "b"}));
  ASSERT_OK(Execute(db_->handle(), "BEGIN IMMEDIATE"));
  ASSERT_TRUE(InsertJob(*db_, MakeJob({"c"})).ok());
  const std::string copy = folder_.File("copy.db");
  std::filesystem::copy_file(Path(), copy);
  std::filesystem::copy_file(Path() + "-wal", copy + "-wal");
  ASSERT_OK(Execute(db_->handle(), "COMMIT"));
  for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
    const auto reopened = OpenOrDie(copy, access);
    ASSERT_EQ(ListJobs(*reopened, 0)->size(), 1u);
    EXPECT_EQ(ListResults(*reopened, JobId(1), ExperimentId(), 0, false)->size(), 2u);
    EXPECT_EQ(Pragma(*reopened, "integrity_check"), "ok");
  }
}

TEST_F(StoreOpenTest, AMissingFileSaysWhereToLook) {
  const absl::Status status = Database::Open(folder_.File("none.db"), Access::kReadOnly).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("dynbench.db"));
}

TEST_F(StoreOpenTest, AFileThatIsNoDatabaseIsRefused) {
  const std::string path = folder_.File("text.db");
  FILE* file = fopen(path.c_str(), "w");
  fputs("name,speedup\nresnet50,1.5\nand more than one page header of text, to be sure\n", file);
  fclose(file);
  EXPECT_TRUE(absl::IsDataLoss(Database::Open(path, Access::kReadWrite).status()));
  EXPECT_TRUE(absl::IsDataLoss(Database::Open(path, Access::kReadOnly).status()));
}

TEST_F(StoreOpenTest, ACheckpointEmptiesTheLogAndLosesNothing) {
  Submit(MakeJob({"a"}));
  EXPECT_GT(db_->wal_bytes(), 0);
  ASSERT_OK(db_->Checkpoint(/*truncate=*/true));
  EXPECT_EQ(db_->wal_bytes(), 0);
  EXPECT_EQ(std::filesystem::file_size(Path() + "-wal"), 0u);
  EXPECT_EQ(ListJobs(*db_, 0)->size(), 1u);
}

}  // namespace
}  // namespace dynbench::store
