// Method: followers on real streams beside a scripted worker that sends log bytes when it is asked.
#include "coordinator/control/log_stream.h"

#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using ::testing::HasSubstr;

class LogStreamTest : public CoordinatorTest {
 protected:
  void SetUp() override { StartServer(); }

  std::unique_ptr<grpc::ClientReader<v1::GetLogChunk>> Open(grpc::ClientContext& context,
                                                            int64_t experiment, bool follow) {
    Client::Arm(context);
    v1::GetLogRequest request;
    request.set_experiment(experiment);
    request.set_follow(follow);
    return client().stub().GetLog(&context, request);
  }
  static std::string Text(const std::vector<v1::GetLogChunk>& chunks) {
    std::string text;
    for (const v1::GetLogChunk& chunk : chunks) text += chunk.data();
    return text;
  }
  static bool Asked(ScriptedWorker& worker, bool watch) {
    return worker
        .Next([&](const auto& m) { return m.has_watch_log() && m.watch_log().watch() == watch; })
        .has_value();
  }
};

TEST_F(LogStreamTest, AStoredLogComesInChunks) {
  auto worker = Join(HelloOf("a"));
  client().Submit(RequestFor({"mobilenetv2_100"}));
  const v1::AttemptId attempt = AttemptOf(worker->NextLease());
  const std::string log(200'000, 'l');
  worker->Finish(attempt, "passed", log);
  ASSERT_TRUE(worker->Acknowledged(attempt));
  grpc::ClientContext context;
  std::vector<v1::GetLogChunk> chunks;
  ASSERT_TRUE(Client::Drain(*Open(context, attempt.experiment(), false), &chunks).ok());
  EXPECT_EQ(chunks.size(), 4u);
  EXPECT_EQ(Text(chunks), log);
}

TEST_F(LogStreamTest, TwoFollowersHearAllBytesOnceAndEndWithTheAttempt) {
  auto worker = Join(HelloOf("a"));
  client().Submit(RequestFor({"mobilenetv2_100"}));
  const v1::AttemptId attempt = AttemptOf(worker->NextLease());
  grpc::ClientContext early_context, late_context;
  auto early = Open(early_context, attempt.experiment(), true);  // before it starts
  worker->Start(attempt);
  ASSERT_TRUE(Asked(*worker, true));
  worker->Log(attempt, 0, "one ");
  v1::GetLogChunk chunk;
  ASSERT_TRUE(early->Read(&chunk));
  EXPECT_EQ(chunk.data(), "one ");

  auto late = Open(late_context, attempt.experiment(), true);
  ASSERT_TRUE(Asked(*worker, true));
  worker->Log(attempt, 0, "one two ");  // asked again: from the first byte
  worker->Finish(attempt, "passed", "one two three");
  std::vector<v1::GetLogChunk> rest, all;
  EXPECT_TRUE(Client::Drain(*early, &rest).ok());
  EXPECT_TRUE(Client::Drain(*late, &all).ok());
  EXPECT_EQ(Text(rest), "two three");
  EXPECT_EQ(Text(all), "one two three");
}

TEST_F(LogStreamTest, TheWorkerStopsSendingWhenNobodyFollows) {
  auto worker = Join(HelloOf("a"));
  client().Submit(RequestFor({"mobilenetv2_100"}));
  const v1::AttemptId attempt = AttemptOf(worker->NextLease());
  worker->Start(attempt);
  grpc::ClientContext context;
  auto reader = Open(context, attempt.experiment(), true);
  ASSERT_TRUE(Asked(*worker, true));
  context.TryCancel();
  EXPECT_TRUE(Asked(*worker, false));
  v1::GetLogChunk chunk;
  while (reader->Read(&chunk)) {
  }
  reader->Finish();
}

TEST_F(LogStreamTest, WithoutFollowARunningExperimentSaysWhatToDo) {
  const int64_t job = client().Submit(RequestFor({"mobilenetv2_100"})).job();
  grpc::ClientContext context;
  std::vector<v1::GetLogChunk> chunks;
  const int64_t experiment = client().Rows(job).at(0).experiment().id();
  const grpc::Status status = Client::Drain(*Open(context, experiment, false), &chunks);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("-f"));
}

}  // namespace
}  // namespace dynbench
