// Method: a child process writes results and tells which ones were acknowledged; it is killed with
// SIGKILL somewhere in the middle, several times on the same database. Everything acknowledged must
// be there, once, and the counts must agree with the rows.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "coordinator/ingest/ingest.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::ingest {
namespace {

using store::Access;
using store::Database;

constexpr int kExperiments = 2'000;

// The child: leases all that waits and records results, each acknowledgement written to `out`.
[[noreturn]] void WriteUntilKilled(const std::string& path, int out) {
  absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(path, Access::kReadWrite);
  if (!db.ok()) _exit(1);
  const absl::StatusOr<store::OpenWork> work = store::LoadOpenWork(**db);
  if (!work.ok()) _exit(2);
  Ingest ingest(*std::move(db));
  const LeaseEpoch epoch(work->last_epoch.value + 1);
  std::vector<ExperimentId> open;
  for (const auto& experiment : work->experiments) open.push_back(experiment.id);
  const absl::Status leased = ingest.ApplyAndWait([&](Database& d) -> absl::Status {
    for (const auto& e : work->experiments) {
      if (!e.lease) continue;
      absl::Status status = store::Requeue(d, e.id, e.lease, "killed", {1});
      if (!status.ok()) return status;
    }
    return store::InsertLease(d, epoch, {WorkerId("w"), 0}, open, {1});
  });
  if (!leased.ok()) _exit(3);
  for (const ExperimentId id : open) {
    ingest.Apply(
        [id, epoch](Database& d) {
          return store::RecordResult(d, {id, epoch}, store::MakeResult(), "log", {1}, {2}, {3})
              .status();
        },
        [id, out](const absl::Status& status) {
          if (status.ok() && write(out, &id.value, sizeof id.value) < 0) _exit(4);
        });
  }
  while (true) pause();
}

class CrashTest : public store::StoreTest {};

TEST_F(CrashTest, WhatWasAcknowledgedSurvivesKills) {
  std::vector<std::string> models(kExperiments, "m");
  const auto job = Submit(store::MakeJob(models));
  db_.reset();
  std::set<int64_t> acknowledged;
  for (const size_t kill_after : {size_t{1}, size_t{150}, size_t{700}}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) WriteUntilKilled(Path(), ends[1]);
    close(ends[1]);
    int64_t id = 0;
    size_t heard = 0;
    while (read(ends[0], &id, sizeof id) == sizeof id) {
      EXPECT_TRUE(acknowledged.insert(id).second) << id << " was acknowledged twice";
      if (++heard == kill_after) kill(child, SIGKILL);
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);
    EXPECT_GE(heard, kill_after);
  }
  db_ = store::OpenOrDie(Path(), Access::kReadWrite);
  ASSERT_LT(acknowledged.size(), size_t{kExperiments}) << "killed too late to prove anything";
  std::set<int64_t> stored;
  store::Statement rows(*db_, "SELECT experiment FROM result");
  while (*rows.Step()) stored.insert(rows.Int(0));
  for (const int64_t id : acknowledged) EXPECT_EQ(stored.count(id), 1u) << "lost: " << id;
  EXPECT_EQ(CoverageOf(job.job).passed, static_cast<int64_t>(stored.size()));
  EXPECT_EQ(Number("SELECT count(*) FROM experiment WHERE state = 'done'"),
            static_cast<int64_t>(stored.size()));
  EXPECT_EQ(Number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

}  // namespace
}  // namespace dynbench::ingest
