// Method: lists of steps of our own on real files, so that a second version can be tried before
// there is one; then the real list.
#include "common/store/migrations.h"

#include <sqlite3.h>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::HasSubstr;

class MigrationsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sqlite3_open(folder_.File("m.db").c_str(), &db_), SQLITE_OK); }
  void TearDown() override { sqlite3_close(db_); }

  std::vector<Migration> With(const std::string& step_2) {
    std::vector<Migration> migrations = Migrations();
    migrations.push_back({kSchemaVersion + 1, step_2});
    return migrations;
  }

  TempFolder folder_;
  sqlite3* db_ = nullptr;
};

TEST_F(MigrationsTest, AnEmptyFileBecomesTheNewestSchemaAndStaysSo) {
  EXPECT_EQ(*ReadSchemaVersion(db_), 0);
  ASSERT_OK(Migrate(db_, Migrations()));
  EXPECT_EQ(*ReadSchemaVersion(db_), kSchemaVersion);
  ASSERT_OK(Migrate(db_, Migrations()));
  EXPECT_EQ(*ReadSchemaVersion(db_), kSchemaVersion);
}

TEST_F(MigrationsTest, AnOlderDatabaseIsBroughtForwardWithItsRows) {
  ASSERT_OK(Migrate(db_, Migrations()));
  ASSERT_OK(
      Execute(db_, "INSERT INTO event(kind, subject, text, at_unix_ms) VALUES ('a','b','c',1)"));
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckReadable(db_, With("SELECT 1;"))));
  ASSERT_OK(
      Migrate(db_, With("ALTER TABLE event ADD COLUMN extra TEXT; UPDATE event SET extra='x';")));
  EXPECT_EQ(*ReadSchemaVersion(db_), kSchemaVersion + 1);
  ASSERT_OK(Execute(db_, "CREATE TABLE proof AS SELECT 1 / count(*) FROM event WHERE extra = 'x'"));
}

TEST_F(MigrationsTest, StepTwoWidensTheTestsInPlace) {
  const std::string job =
      "INSERT INTO job(suite, label, user, request, policy, priority, state, planned,"
      " submitted_unix_ms) VALUES ('s', '', '', '{}', 'dynamic', 0, 'running', 9, 1);"
      "INSERT INTO partition(job, number, experiments) VALUES (1, 0, 9);";
  const auto insert = [](const std::string& test) {
    return absl::StrCat(
        "INSERT INTO experiment(job, suite, model, mode, test, configuration, precision, device,"
        " environment, profile, start, series, partition, plan, state) VALUES (1, 's', 'm',"
        " 'inference', '",
        test, "', 'default', 'float32', 'cpu', 'e', 'p', 'cold', 'x', 0, '{}', 'waiting')");
  };
  ASSERT_OK(Migrate(db_, {Migrations().front()}));
  ASSERT_OK(Execute(db_, job));
  ASSERT_OK(Execute(db_, insert("accuracy")));
  EXPECT_FALSE(Execute(db_, insert("tolerance")).ok());
  ASSERT_OK(Migrate(db_, {Migrations()[0], Migrations()[1]}));
  EXPECT_OK(Execute(db_, insert("tolerance")));
  EXPECT_OK(Execute(db_, insert("batch_size")));
  EXPECT_FALSE(Execute(db_, insert("other")).ok());
  ASSERT_OK(Migrate(db_, Migrations()));
  ASSERT_OK(Execute(db_, "CREATE TABLE proof AS SELECT 1 / (count(*) = 3) FROM v_results"));
}

TEST_F(MigrationsTest, StepThreeKeepsWorkersAndJobs) {
  ASSERT_OK(Migrate(db_, {Migrations()[0], Migrations()[1]}));
  ASSERT_OK(
      Execute(db_,
              "INSERT INTO fingerprint(hash, inventory, first_seen_unix_ms) VALUES ('f', '{}', 1);"
              "INSERT INTO worker(id, host, version, fingerprint, environments, first_seen_unix_ms,"
              " last_seen_unix_ms) VALUES ('w', 'h', '1', 'f', '[]', 1, 1);"
              "INSERT INTO job(suite, label, user, request, policy, priority, state, planned,"
              " submitted_unix_ms) VALUES ('s', '', '', '{}', 'dynamic', 0, 'running', 9, 1);"));
  ASSERT_OK(Migrate(db_, Migrations()));
  ASSERT_OK(Execute(db_,
                    "CREATE TABLE proof AS SELECT 1 / count(*) FROM job, worker"
                    " WHERE deadline_unix_ms IS NULL AND labels = '{}' AND clock_skew_ms = 0"));
  EXPECT_OK(Execute(db_, "INSERT INTO slot_span VALUES ('w', 0, 1000, 2000, 'no_work')"));
  EXPECT_OK(Execute(db_, "CREATE TABLE more AS SELECT 1 / count(*) FROM v_idle"));
}

TEST_F(MigrationsTest, StepFourKeepsRequestsBesideTheirJobs) {
  ASSERT_OK(Migrate(db_, {Migrations()[0], Migrations()[1], Migrations()[2]}));
  ASSERT_OK(Execute(
      db_,
      "INSERT INTO job(suite, label, user, request, policy, priority, state, planned,"
      " submitted_unix_ms) VALUES ('s', '', '', '{\"x\": 1}', 'dynamic', 0, 'running', 9, 1)"));
  ASSERT_OK(Migrate(db_, Migrations()));
  EXPECT_OK(Execute(db_,
                    "CREATE TABLE proof AS SELECT 1 / count(*) FROM job JOIN request ON job = id"
                    " WHERE text = '{\"x\": 1}'"));
  EXPECT_FALSE(Execute(db_, "SELECT request FROM job").ok());
}

TEST_F(MigrationsTest, StepTenMovesPlansAndKeepsEveryRuleOfTheTablesThatItRewrites) {
  std::vector<Migration> before = Migrations();
  before.resize(9);
  ASSERT_OK(Migrate(db_, before));
  ASSERT_OK(Execute(
      db_,
      "INSERT INTO fingerprint(hash, inventory, first_seen_unix_ms) VALUES ('f', '{}', 1);"
      "INSERT INTO worker(id, host, version, fingerprint, environments, first_seen_unix_ms,"
      " last_seen_unix_ms) VALUES ('w', 'h', '1', 'f', '[]', 1, 1);"
      "INSERT INTO job(suite, label, user, policy, priority, state, planned, submitted_unix_ms)"
      " VALUES ('s', '', '', 'dynamic', 0, 'running', 2, 1);"
      "INSERT INTO partition(job, number, experiments) VALUES (1, 0, 2);"
      "INSERT INTO lease(epoch, worker, slot, fingerprint, state, granted_unix_ms)"
      " VALUES (1, 'w', 0, 'f', 'live', 1);"));
  for (const std::string name : {"a", "b"}) {
    ASSERT_OK(Execute(
        db_, absl::StrCat(
                 "INSERT INTO experiment(job, suite, model, mode, test, configuration, precision,"
                 " device, environment, profile, start, series, partition, plan, state, lease)"
                 " VALUES (1, 's', '",
                 name,
                 "', 'inference', 'accuracy', 'default', 'float32', 'cpu', 'e', 'p', 'cold', 'x',"
                 " 0, 'plan of ",
                 name, "', 'waiting', 1)")));
  }
  ASSERT_OK(Execute(db_,
                    "INSERT INTO attempt(experiment, lease, state)"
                    " VALUES (1, 1, 'leased'), (2, 1, 'leased')"));
  ASSERT_OK(Migrate(db_, Migrations()));
  ASSERT_OK(Execute(db_,
                    "CREATE TABLE plans AS SELECT 1 / (count(*) = 2) FROM experiment"
                    " JOIN experiment_plan ON experiment = id WHERE plan = 'plan of ' || model"));
  // A replacement that finds nothing would leave the old text.
  ASSERT_OK(Execute(db_,
                    "CREATE TABLE texts AS SELECT 1 / (count(*) = 0) FROM sqlite_schema"
                    " WHERE name IN ('job', 'lease', 'experiment', 'attempt', 'result')"
                    " AND sql LIKE '% IN (%'"));
  const auto refused = [&](const std::string& sql) {
    const absl::Status status = Execute(db_, sql);
    return absl::StrContains(std::string(status.message()), "CHECK constraint failed");
  };
  EXPECT_TRUE(refused("UPDATE job SET state = 'other'"));
  EXPECT_TRUE(refused("UPDATE job SET policy = 'other'"));
  EXPECT_TRUE(refused("UPDATE lease SET state = 'other'"));
  for (const char* column : {"mode", "test", "precision", "start", "state"}) {
    EXPECT_TRUE(refused(absl::StrCat("UPDATE experiment SET ", column, " = 'other'"))) << column;
  }
  EXPECT_TRUE(refused("UPDATE attempt SET state = 'other'"));
  EXPECT_TRUE(refused("UPDATE attempt SET cause = 'other'"));
  const auto result = [](int experiment, const std::string& outcome, const std::string& phase,
                         const std::string& blame, int proven) {
    return absl::StrCat(
        "INSERT INTO result(experiment, lease, outcome, status, phase, blame, error, detail,"
        " exit_code, exit_signal, batch_size, weights, threads, cores, accuracy_rule,"
        " accuracy_function_hash, phases, cache_files_before, cache_hits, cache_misses,"
        " start_proven, in_force, notes, started_unix_ms, finished_unix_ms, received_unix_ms)"
        " VALUES (",
        experiment, ", 1, '", outcome, "', 'pass', '", phase, "', '", blame,
        "', '', '', 0, 0, 1, '', 1, '', '', '', x'', 0, 0, 0, ", proven, ", '{}', '[]', 1, 1, 1)");
  };
  EXPECT_TRUE(refused(result(1, "other", "report", "none", 1)));
  EXPECT_TRUE(refused(result(1, "passed", "other", "none", 1)));
  EXPECT_TRUE(refused(result(1, "passed", "report", "other", 1)));
  EXPECT_TRUE(refused(result(1, "passed", "report", "none", 2)));
  // The start that was never told is counted with the result; one that was told is not again.
  ASSERT_OK(Execute(db_, result(1, "passed", "report", "none", 1)));
  ASSERT_OK(Execute(db_,
                    "UPDATE attempt SET state = 'running' WHERE experiment = 2;"
                    "UPDATE experiment SET state = 'running', attempts = 1 WHERE id = 2"));
  ASSERT_OK(Execute(db_, result(2, "failed", "compile", "compiler", 0)));
  EXPECT_OK(Execute(db_,
                    "CREATE TABLE proof AS SELECT 1 / (count(*) = 2) FROM experiment"
                    " WHERE attempts = 1 AND state = 'done' AND lease IS NULL"));
  EXPECT_OK(Execute(db_,
                    "CREATE TABLE counts AS SELECT 1 / count(*) FROM job"
                    " WHERE passed = 1 AND failed = 1 AND running = 0 AND state = 'finished'"));
}

TEST_F(MigrationsTest, AStepThatFailsLeavesNothingBehind) {
  ASSERT_OK(Migrate(db_, Migrations()));
  const absl::Status status = Migrate(db_, With("CREATE TABLE half (a); SELECT * FROM missing;"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("migration to schema ", kSchemaVersion + 1)));
  EXPECT_EQ(*ReadSchemaVersion(db_), kSchemaVersion);
  EXPECT_FALSE(Execute(db_, "SELECT * FROM half").ok());
}

TEST_F(MigrationsTest, ANewerSchemaIsRefusedWithWhatToDo) {
  ASSERT_OK(Migrate(db_, With("CREATE TABLE future (a);")));
  for (const absl::Status& status : {CheckMigratable(db_, Migrations()), Migrate(db_, Migrations()),
                                     CheckReadable(db_, Migrations())}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("has schema ", kSchemaVersion + 1, ", this program knows ",
                                       kSchemaVersion)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("use the newer dynbench"));
  }
}

TEST_F(MigrationsTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  ASSERT_OK(Execute(db_, "CREATE TABLE theirs (a)"));
  const absl::Status status = Migrate(db_, Migrations());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is not a dynbench database"));
}

}  // namespace
}  // namespace dynbench::store
