// Method: the verdict on a Hello is a pure function; one test sees it arrive over a real stream.
#include "coordinator/session/worker_session.h"

#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using ::testing::HasSubstr;

v1::Welcome Judge(int theirs, int ours, const std::string& id = "a") {
  v1::Hello hello = HelloOf(id);
  hello.set_protocol_version(theirs);
  return session::JudgeHello(hello, ours);
}

TEST(JudgeHelloTest, VersionsThatFitWorkAndOthersSayWhatToUpgrade) {
  EXPECT_EQ(Judge(3, 3).verdict(), v1::Welcome::OK);
  EXPECT_EQ(Judge(2, 3).verdict(), v1::Welcome::DEGRADED);
  EXPECT_THAT(Judge(2, 3).reason(), HasSubstr("upgrade the worker"));
  EXPECT_EQ(Judge(1, 3).verdict(), v1::Welcome::REFUSED);
  EXPECT_THAT(Judge(1, 3).reason(), HasSubstr("upgrade the worker"));
  EXPECT_EQ(Judge(4, 3).verdict(), v1::Welcome::REFUSED);
  EXPECT_THAT(Judge(4, 3).reason(), HasSubstr("upgrade the coordinator"));
  EXPECT_EQ(Judge(0, 1).verdict(), v1::Welcome::REFUSED);
}

TEST(JudgeHelloTest, IdsThatNoStateFolderMakesAreRefused) {
  for (const std::string& id : {std::string(), std::string("a b"), std::string(200, 'a')}) {
    EXPECT_EQ(Judge(1, 1, id).verdict(), v1::Welcome::REFUSED) << '"' << id << '"';
  }
}

class WorkerSessionTest : public CoordinatorTest {
 protected:
  void SetUp() override { StartServer(); }
};

TEST_F(WorkerSessionTest, ANewerWorkerIsToldWhyAndTheStreamEnds) {
  v1::Hello hello = HelloOf("a");
  hello.set_protocol_version(proto::kProtocolVersion + 1);
  auto worker = Join(hello);
  EXPECT_EQ(worker->Welcome().verdict(), v1::Welcome::REFUSED);
  EXPECT_TRUE(worker->Ended());
  EXPECT_TRUE(client().Workers().empty());
}

TEST_F(WorkerSessionTest, WelcomeCarriesTheTimesThatTheWorkerKeeps) {
  auto worker = Join(HelloOf("a"));
  const v1::Welcome welcome = worker->Welcome();
  EXPECT_EQ(welcome.beat_interval_ms(), 60'000);
  EXPECT_EQ(welcome.lease_ttl_ms(), 120'000);
}

TEST_F(WorkerSessionTest, AStreamThatBeginsWithoutHelloIsEnded) {
  auto stub = v1::WorkerSession::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  Client::Arm(context);
  auto stream = stub->Connect(&context);
  v1::WorkerMessage message;
  message.mutable_beat();
  stream->Write(message);
  v1::CoordinatorMessage answer;
  EXPECT_FALSE(stream->Read(&answer));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("Hello"));
}

}  // namespace
}  // namespace dynbench
