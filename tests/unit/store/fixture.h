// What the tests of the store and of ingest share: a folder that goes away, a real database file in
// it, and jobs and results of known content.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/store/queries.h"
#include "common/store/statement.h"
#include "common/store/store.h"
#include "common/store/writes.h"
#include "gtest/gtest.h"

namespace dynbench::store {

#define EXPECT_OK(expression)                               \
  do {                                                      \
    const absl::Status& expect_ok_status = (expression);    \
    EXPECT_TRUE(expect_ok_status.ok()) << expect_ok_status; \
  } while (false)
#define ASSERT_OK(expression)                               \
  do {                                                      \
    const absl::Status& assert_ok_status = (expression);    \
    ASSERT_TRUE(assert_ok_status.ok()) << assert_ok_status; \
  } while (false)

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "dynbench-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<Database> OpenOrDie(const std::string& path, Access access) {
  absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(path, access);
  EXPECT_TRUE(db.ok()) << db.status();
  return db.ok() ? *std::move(db) : nullptr;
}

inline plan::Experiment MakeExperiment(const std::string& model,
                                       plan::Test test = plan::Test::kPerformance) {
  plan::Experiment e;
  e.suite = "timm";
  e.model = model;
  e.test = test;
  e.source = {"timm", model, "", ""};
  e.batch_size = 8;
  return e;
}

inline NewJob MakeJob(const std::vector<std::string>& models) {
  NewJob job;
  job.request.suite = "timm";
  job.submitted_at = {1'000};
  for (const std::string& model : models) job.plan.experiments.push_back(MakeExperiment(model));
  return job;
}

// A result with every kind of field set.
inline plan::Result MakeResult() {
  plan::Result r;
  r.outcome = plan::Outcome::kPassed;
  r.status = "measured";
  r.batch_size = 8;
  r.weights = "random";
  r.threads = 2;
  r.cores = "0-1";
  r.metrics.speedup = 1.25;
  r.metrics.abs_latency_ms = 0;  // zero is a measurement, unset is none
  r.metrics.unique_graphs = 3;
  r.phases = {{plan::Phase::kLoad, 5, 0}, {plan::Phase::kCompile, int64_t{1} << 40, 7}};
  r.eager_ns = {100, 200, -1};
  r.compiled_ns = {50};
  r.start_proof = {0, 1, 2, true};
  r.in_force = {{"env.OMP_NUM_THREADS", "2"}};
  r.notes = {"guard miss"};
  return r;
}

// A writing connection on a new database with one worker of two slots.
class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    db_ = OpenOrDie(Path(), Access::kReadWrite);
    ASSERT_NE(db_, nullptr);
    ASSERT_OK(Write([&] { return AddWorker("w"); }));
  }

  std::string Path() const { return folder_.File("dynbench.db"); }

  absl::Status AddWorker(const std::string& id) {
    WorkerRow worker{WorkerId(id),
                     "host-" + id,
                     "1",
                     R"({"cores":2})",
                     R"([{"name":"default","hash":"abc","torch_version":"2.14.1"}])",
                     {"cpu", "cpu"}};
    return UpsertWorker(*db_, worker, {1'000});
  }

  // One transaction around `change`, as ingest makes it.
  template <typename Change>
  absl::Status Write(Change&& change) {
    absl::Status status = Execute(db_->handle(), "BEGIN IMMEDIATE");
    if (!status.ok()) return status;
    status = change();
    const absl::Status end = Execute(db_->handle(), status.ok() ? "COMMIT" : "ROLLBACK");
    return status.ok() ? end : status;
  }

  InsertedJob Submit(const NewJob& job) {
    InsertedJob inserted;
    EXPECT_OK(Write([&] {
      absl::StatusOr<InsertedJob> done = InsertJob(*db_, job);
      if (done.ok()) inserted = *done;
      return done.status();
    }));
    return inserted;
  }

  absl::Status Lease(int64_t epoch, const std::vector<ExperimentId>& experiments, int slot = 0,
                     const std::string& worker = "w") {
    return Write([&] {
      return InsertLease(*db_, LeaseEpoch(epoch), {WorkerId(worker), slot}, experiments, {2'000});
    });
  }

  absl::StatusOr<Acceptance> Record(ExperimentId experiment, int64_t epoch,
                                    const plan::Result& result = MakeResult(),
                                    const std::string& log = "") {
    absl::StatusOr<Acceptance> acceptance = absl::UnknownError("not run");
    const absl::Status status = Write([&] {
      acceptance = RecordResult(*db_, {experiment, LeaseEpoch(epoch)}, result, log, {3'000},
                                {7'000}, {8'000});
      return acceptance.status();
    });
    if (!status.ok()) return status;
    return acceptance;
  }

  Coverage CoverageOf(JobId job) {
    absl::StatusOr<JobRow> row = GetJob(*db_, job);
    EXPECT_TRUE(row.ok()) << row.status();
    return row.ok() ? row->coverage : Coverage();
  }

  int64_t Number(const std::string& sql) {
    Statement s(*db_, sql);
    absl::StatusOr<bool> row = s.Step();
    EXPECT_TRUE(row.ok() && *row) << row.status();
    return s.Int(0);
  }

  TempFolder folder_;
  std::unique_ptr<Database> db_;
};

}  // namespace dynbench::store
