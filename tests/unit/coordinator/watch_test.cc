// Method: a watcher on a real stream beside a scripted worker; what it hears must lead from the
// state at its start to the end of the job, and then the stream must end by itself.
#include "coordinator/control/watch.h"

#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

class WatchTest : public CoordinatorTest {
 protected:
  void SetUp() override { StartServer(); }

  std::unique_ptr<grpc::ClientReader<v1::WatchEvent>> Watch(grpc::ClientContext& context,
                                                            int64_t job) {
    Client::Arm(context);
    v1::WatchJobRequest request;
    request.set_job(job);
    request.set_rows(true);
    return client().stub().WatchJob(&context, request);
  }
};

TEST_F(WatchTest, FollowsAJobToItsEnd) {
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({"mobilenetv2_100"})).job();
  grpc::ClientContext context;
  auto reader = Watch(context, job);
  v1::WatchEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.job().coverage().planned(), 1);

  const v1::AttemptId attempt = AttemptOf(worker->NextLease());
  worker->Start(attempt);
  worker->Phase(attempt, "compile");
  std::string phase;
  while (phase != "compile" && reader->Read(&event)) {
    for (const v1::ResultRow& row : event.rows()) phase = row.phase();
  }
  EXPECT_EQ(phase, "compile");
  worker->Finish(attempt);
  v1::ResultRow last_row;
  v1::Job last_job;
  while (reader->Read(&event)) {
    if (event.rows_size() > 0) last_row = event.rows(event.rows_size() - 1);
    if (event.has_job()) last_job = event.job();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last_row.state(), "done");
  EXPECT_EQ(last_row.result().outcome(), "passed");
  EXPECT_EQ(last_job.state(), "finished");
  EXPECT_EQ(last_job.coverage().passed(), 1);
}

TEST_F(WatchTest, AFinishedJobIsToldAtOnce) {
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({"mobilenetv2_100"})).job();
  worker->Finish(AttemptOf(worker->NextLease()));
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
  grpc::ClientContext context;
  std::vector<v1::WatchEvent> events;
  EXPECT_TRUE(Client::Drain(*Watch(context, job), &events).ok());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].job().state(), "finished");
  EXPECT_EQ(events[1].rows(0).state(), "done");
}

TEST_F(WatchTest, AStoppingCoordinatorEndsTheWatchAsUnavailable) {
  const int64_t job = client().Submit(RequestFor({"mobilenetv2_100"})).job();
  grpc::ClientContext context;
  auto reader = Watch(context, job);
  v1::WatchEvent event;
  ASSERT_TRUE(reader->Read(&event));
  server_.reset();
  while (reader->Read(&event)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(WatchTest, AnUnknownJobIsNotFound) {
  grpc::ClientContext context;
  std::vector<v1::WatchEvent> events;
  EXPECT_EQ(Client::Drain(*Watch(context, 5), &events).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(WatchTest, AWatcherThatGoesAwayLeavesTheJobAlone) {
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({"mobilenetv2_100"})).job();
  {
    grpc::ClientContext context;
    auto reader = Watch(context, job);
    v1::WatchEvent event;
    ASSERT_TRUE(reader->Read(&event));
    context.TryCancel();
    while (reader->Read(&event)) {
    }
    reader->Finish();
  }
  worker->Finish(AttemptOf(worker->NextLease()));
  EXPECT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));
}

}  // namespace
}  // namespace dynbench
