// Method: the real writer thread on a real file. The writer is held inside a change where a batch
// has to gather behind it; a second connection holds the lock; a limit on the size of files makes a
// commit fail as a full disk does.
#include "coordinator/ingest/ingest.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::ingest {
namespace {

using store::Database;
using store::TempFolder;

Change Event(const std::string& subject) {
  return [subject](Database& db) { return store::RecordEvent(db, "test", subject, "", {1}); };
}

class IngestTest : public testing::Test {
 protected:
  void SetUp() override {
    ingest_ = std::make_unique<Ingest>(store::OpenOrDie(Path(), store::Access::kReadWrite));
    reader_ = store::OpenOrDie(Path(), store::Access::kReadOnly);
  }

  std::string Path() const { return folder_.File("dynbench.db"); }

  std::vector<std::string> Stored() {
    store::Statement s(*reader_, "SELECT subject FROM event ORDER BY id");
    std::vector<std::string> subjects;
    while (*s.Step()) subjects.push_back(s.Text(0));
    return subjects;
  }

  // Runs `fill` while the writer is busy with a change, so that what it applies is one batch.
  template <typename Fill>
  void AsOneBatch(Fill&& fill) {
    std::promise<void> entered, go_on;
    ingest_->Apply(
        [&](Database&) {
          entered.set_value();
          go_on.get_future().wait();
          return absl::OkStatus();
        },
        nullptr);
    entered.get_future().wait();
    fill();
    go_on.set_value();
  }

  std::future<absl::Status> Apply(Change change) {
    auto promise = std::make_shared<std::promise<absl::Status>>();
    ingest_->Apply(std::move(change),
                   [promise](const absl::Status& status) { promise->set_value(status); });
    return promise->get_future();
  }

  TempFolder folder_;
  std::unique_ptr<Ingest> ingest_;
  std::unique_ptr<Database> reader_;
};

TEST_F(IngestTest, TheCallerHearsAfterTheCommit) {
  std::vector<std::string> seen;
  std::promise<void> done;
  ingest_->Apply(Event("a"), [&](const absl::Status& status) {
    EXPECT_OK(status);
    seen = Stored();  // another connection: what is committed
    done.set_value();
  });
  done.get_future().wait();
  EXPECT_EQ(seen, std::vector<std::string>{"a"});
}

TEST_F(IngestTest, ChangesOfABatchKeepTheirOrderAndShareOneCommit) {
  std::vector<std::future<absl::Status>> answers;
  std::vector<std::string> expected;
  AsOneBatch([&] {
    for (int i = 0; i < 20; ++i) {
      expected.push_back(std::to_string(i));
      answers.push_back(Apply(Event(expected.back())));
    }
  });
  for (auto& answer : answers) EXPECT_OK(answer.get());
  EXPECT_EQ(Stored(), expected);
  EXPECT_LE(ingest_->counters().batches, 1 + 3);  // a slow machine may cut it by time
  EXPECT_EQ(ingest_->counters().changes, 21);
}

TEST_F(IngestTest, NoBatchIsLargerThanTheLimit) {
  std::vector<std::future<absl::Status>> answers;
  AsOneBatch([&] {
    for (size_t i = 0; i < 3 * kBatchLimit; ++i) answers.push_back(Apply(Event("x")));
  });
  for (auto& answer : answers) EXPECT_OK(answer.get());
  EXPECT_GE(ingest_->counters().batches, 1 + 3);
}

TEST_F(IngestTest, AChangeThatFailsLeavesNothingAndHarmsNoNeighbour) {
  std::future<absl::Status> before, failing, constraint, after;
  AsOneBatch([&] {
    before = Apply(Event("before"));
    failing = Apply([](Database& db) {
      EXPECT_OK(store::RecordEvent(db, "test", "half", "", {1}));
      return absl::InvalidArgumentError("no");
    });
    constraint = Apply([](Database& db) { return store::RecordEvent(db, "", "x", "", {1}); });
    after = Apply(Event("after"));
  });
  EXPECT_OK(before.get());
  EXPECT_TRUE(absl::IsInvalidArgument(failing.get()));
  EXPECT_TRUE(absl::IsFailedPrecondition(constraint.get()));
  EXPECT_OK(after.get());
  EXPECT_EQ(Stored(), (std::vector<std::string>{"before", "after"}));
}

TEST_F(IngestTest, AChangeThatFailsAloneLeavesNothing) {
  EXPECT_TRUE(absl::IsAborted(ingest_->ApplyAndWait([](Database& db) {
    EXPECT_OK(store::RecordEvent(db, "test", "half", "", {1}));
    return absl::AbortedError("no");
  })));
  EXPECT_OK(ingest_->ApplyAndWait(Event("next")));
  EXPECT_EQ(Stored(), std::vector<std::string>{"next"});
}

// Another process with the write lock, for as long as it likes.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    EXPECT_OK(store::Execute(db_, "BEGIN IMMEDIATE"));
  }
  void Release() { EXPECT_OK(store::Execute(db_, "COMMIT")); }
  ~Holder() { sqlite3_close(db_); }

 private:
  sqlite3* db_ = nullptr;
};

Change ShortTries() {
  return [](Database& db) {
    sqlite3_busy_timeout(db.handle(), 10);
    return absl::OkStatus();
  };
}

TEST_F(IngestTest, ALockedDatabaseIsWaitedForBeyondTheBusyTimeout) {
  ASSERT_OK(ingest_->ApplyAndWait(ShortTries()));
  Holder holder(Path());
  std::future<absl::Status> first = Apply(Event("a"));
  std::future<absl::Status> second = Apply(Event("b"));
  while (ingest_->counters().busy_waits < 5) std::this_thread::yield();
  EXPECT_EQ(first.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_TRUE(Stored().empty());
  holder.Release();
  EXPECT_OK(first.get());
  EXPECT_OK(second.get());
  EXPECT_EQ(Stored(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(IngestTest, AStopGivesUpOnALockedDatabaseAndSaysSo) {
  ingest_.reset();
  ingest_ = std::make_unique<Ingest>(store::OpenOrDie(Path(), store::Access::kReadWrite), 0);
  ASSERT_OK(ingest_->ApplyAndWait(ShortTries()));
  Holder holder(Path());
  std::future<absl::Status> answer = Apply(Event("a"));
  ingest_.reset();
  EXPECT_TRUE(absl::IsUnavailable(answer.get()));
  EXPECT_TRUE(Stored().empty());
}

TEST_F(IngestTest, AStopCommitsWhatWasHandedIn) {
  std::vector<std::future<absl::Status>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(Apply(Event("x")));
  ingest_.reset();
  for (auto& answer : answers) EXPECT_OK(answer.get());
  EXPECT_EQ(Stored().size(), 100u);
}

// Writes beyond `bytes` of a file fail, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(IngestTest, AFullDiskIsReportedToEveryCallerOfTheBatchAndTheWriterGoesOn) {
  ASSERT_OK(ingest_->ApplyAndWait(Event("before")));
  std::vector<std::future<absl::Status>> answers;
  {
    FileSizeLimit limit(std::filesystem::file_size(Path() + "-wal") + 4096);
    AsOneBatch([&] {
      for (int i = 0; i < 3; ++i) answers.push_back(Apply(Event(std::string(1 << 20, 'x'))));
    });
    for (auto& answer : answers) {
      const absl::Status status = answer.get();
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(std::string(status.message()), testing::HasSubstr("nothing was stored"));
    }
  }
  EXPECT_GE(ingest_->counters().failed_commits, 1);
  EXPECT_TRUE(Stored() == std::vector<std::string>{"before"});  // not printed: they are long
  EXPECT_OK(ingest_->ApplyAndWait(Event("after")));
  EXPECT_TRUE(Stored() == (std::vector<std::string>{"before", "after"}));
}

TEST_F(IngestTest, ALazyChangeKeepsItsPlaceAndGoesByItselfWhenNothingFollows) {
  ingest_->ApplyLazily(Event("first"), nullptr);
  ASSERT_OK(ingest_->ApplyAndWait(Event("second")));
  EXPECT_EQ(Stored(), (std::vector<std::string>{"first", "second"}));
  std::promise<absl::Status> alone;
  ingest_->ApplyLazily(Event("third"),
                       [&alone](const absl::Status& status) { alone.set_value(status); });
  EXPECT_OK(alone.get_future().get());
  EXPECT_EQ(Stored().size(), 3u);
}

TEST_F(IngestTest, ALongLogIsCheckpointedWhileThereIsWork) {
  const std::string big(1 << 20, 'x');
  // Twice: a log that was copied as a whole is written again from its start. The copying is beside
  // the writer, which goes on meanwhile, so nobody knows how many it takes; 800 would be a defect.
  size_t written = 0;
  for (; ingest_->counters().checkpoints < 2 && written < 800; ++written) {
    ASSERT_OK(ingest_->ApplyAndWait(
        [&big](Database& db) { return store::RecordEvent(db, "big", "b", big, {1}); }));
  }
  EXPECT_EQ(ingest_->counters().checkpoints, 2);
  EXPECT_LT(std::filesystem::file_size(Path() + "-wal"), written << 20);
  EXPECT_EQ(Stored().size(), written);
}

}  // namespace
}  // namespace dynbench::ingest
