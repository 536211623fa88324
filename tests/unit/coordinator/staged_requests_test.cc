// Method: requests are put and asked for at times that the test chooses; a real coordinator takes
// one that no single message could hold.
#include "coordinator/control/staged_requests.h"

#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using control::StagedRequests;

TEST(StagedRequestsTest, KeptForAWhileAndThenForgotten) {
  StagedRequests staged;
  const std::string sha256 = staged.Put("{}", {0});
  EXPECT_EQ(sha256.size(), 64u);
  EXPECT_EQ(**staged.Get(sha256, {StagedRequests::kKeptNs}), "{}");
  EXPECT_TRUE(absl::IsNotFound(staged.Get(sha256, {StagedRequests::kKeptNs + 1}).status()));
}

TEST(StagedRequestsTest, TheOldestMakeRoomForTheNewest) {
  StagedRequests staged;
  const size_t third = StagedRequests::kTotalLimitBytes / 3 + 1;
  const std::string a = staged.Put(std::string(third, 'a'), {0});
  const std::string b = staged.Put(std::string(third, 'b'), {0});
  const std::string c = staged.Put(std::string(third, 'c'), {0});
  EXPECT_FALSE(staged.Get(a, {1}).ok());
  EXPECT_TRUE(staged.Get(b, {1}).ok());
  EXPECT_TRUE(staged.Get(c, {1}).ok());
}

TEST(StagedRequestsTest, AMessageHoldsItOrNamesIt) {
  StagedRequests staged;
  EXPECT_EQ(**staged.TextOf("{}", ""), "{}");
  const std::string sha256 = staged.Put("[]", MonotonicNow());
  EXPECT_EQ(**staged.TextOf("", sha256), "[]");
  EXPECT_TRUE(absl::IsInvalidArgument(staged.TextOf("{}", sha256).status()));
}

// A suite of 14,000 programs: 10 MB of request, more than a message holds.
class LargeRequestTest : public CoordinatorTest {};

plan::Request LargeRequest(int models) {
  plan::Request request;
  request.inline_suite.emplace();
  request.inline_suite->name = "large";
  request.inline_suite->loader = "timm";
  request.engine = "command";
  request.command = {"/bin/true"};
  request.tests = {plan::Test::kPerformance};
  for (int i = 0; i < models; ++i) {
    plan::ModelRules& model = request.inline_suite->models.emplace_back();
    model.name = "model_" + std::to_string(i);
  }
  return request;
}

TEST_F(LargeRequestTest, FourteenThousandExperimentsAreSubmittedPlannedAndLeasedInParts) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  EXPECT_EQ(worker->Welcome().verdict(), v1::Welcome::OK);
  constexpr int kModels = 14'000;
  plan::Request request = LargeRequest(kModels);
  request.policy = plan::PartitionPolicy::kStatic;  // all of it is one lease
  const std::string json = plan::ToJson(request);
  ASSERT_GT(json.size(), size_t{8} << 20);
  v1::PutRequestReply put;
  {
    grpc::ClientContext context;
    const auto writer = client().stub().PutRequest(&context, &put);
    for (size_t sent = 0; sent < json.size(); sent += 1 << 20) {
      v1::PutRequestChunk chunk;
      chunk.set_data(json.substr(sent, 1 << 20));
      ASSERT_TRUE(writer->Write(chunk));
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  v1::SubmitRequest message;
  message.set_request_sha256(put.sha256());
  {
    grpc::ClientContext context;
    std::vector<v1::PlanPage> pages;
    const grpc::Status status = Client::Drain(*client().stub().Plan(&context, message), &pages);
    ASSERT_TRUE(status.ok()) << status.error_message();
    int planned = 0;
    for (const v1::PlanPage& page : pages) {
      planned += page.experiments_size();
      EXPECT_LT(page.ByteSizeLong(), size_t{4} << 20);
    }
    EXPECT_EQ(planned, kModels);
  }
  grpc::ClientContext context;
  v1::SubmitReply reply;
  const grpc::Status status = client().stub().Submit(&context, message, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.planned(), kModels);
  // Answered after the commit: another process would find it.
  auto db = store::Database::Open(server_->database(), store::Access::kReadOnly);
  ASSERT_TRUE(db.ok()) << db.status();
  EXPECT_EQ(store::GetJob(**db, JobId(reply.job()))->coverage.waiting, kModels);
  int leased = 0;
  int64_t epoch = 0;
  while (leased < kModels) {
    const v1::Lease lease = worker->NextLease();
    ASSERT_GT(lease.experiments_size(), 0) << "after " << leased;
    EXPECT_LT(lease.ByteSizeLong(), size_t{4} << 20);
    if (epoch != 0) {
      EXPECT_EQ(lease.epoch(), epoch) << "one lease in several messages";
    }
    epoch = lease.epoch();
    leased += lease.experiments_size();
  }
  EXPECT_EQ(leased, kModels);
}

TEST_F(LargeRequestTest, OneThatWasNeverSentIsNotFound) {
  StartServer();
  v1::SubmitRequest message;
  message.set_request_sha256(std::string(64, 'a'));
  grpc::ClientContext context;
  v1::SubmitReply reply;
  const grpc::Status status = client().stub().Submit(&context, message, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace dynbench
