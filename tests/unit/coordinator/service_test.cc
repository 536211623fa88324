// Method: a real coordinator in this process, asked over real gRPC as dynbenchctl asks it. Each
// test checks what a user reads: rows, counts, and the text and code of errors.
#include "coordinator/control/service.h"

#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using ::testing::HasSubstr;

constexpr char kModel[] = "mobilenetv2_100";

class ServiceTest : public CoordinatorTest {
 protected:
  void SetUp() override { StartServer(); }

  grpc::Status Plan(const plan::Request& request, std::vector<v1::PlanPage>* pages) {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::SubmitRequest message;
    message.set_request_json(plan::ToJson(request));
    return Client::Drain(*client().stub().Plan(&context, message), pages);
  }
  grpc::Status Retry(int64_t job, v1::SubmitReply* reply) {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::RetryJobRequest request;
    request.set_job(job);
    request.set_failed(true);
    return client().stub().RetryJob(&context, request, reply);
  }
  grpc::Status Put(const std::vector<std::string>& chunks, std::string* sha256) {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::PutFileReply reply;
    auto writer = client().stub().PutFile(&context, &reply);
    for (const std::string& chunk : chunks) {
      v1::PutFileChunk message;
      message.set_name("model.py");
      message.set_data(chunk);
      if (!writer->Write(message)) break;
    }
    writer->WritesDone();
    grpc::Status status = writer->Finish();
    *sha256 = reply.sha256();
    return status;
  }
};

TEST_F(ServiceTest, InfoSaysWhereThingsAreAndWhoIsThere) {
  auto worker = Join(HelloOf("a"));
  worker->Welcome();
  ASSERT_TRUE(Eventually([&] { return client().Workers().size() == 1; }));
  grpc::ClientContext context;
  v1::Info info;
  ASSERT_TRUE(client().stub().GetInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.database(), server_->database());
  EXPECT_EQ("http://" + info.http_address(), server_->http_url());
  EXPECT_EQ(info.workers_connected(), 1);
  EXPECT_EQ(info.slots(), 1);
}

TEST_F(ServiceTest, APlanIsShownAndNothingIsStored) {
  auto worker = Join(HelloOf("a"));
  worker->Welcome();
  std::vector<v1::PlanPage> pages;
  const grpc::Status status = Plan(RequestFor({kModel, "repvgg_a2"}), &pages);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(pages.size(), 1u);
  EXPECT_EQ(pages[0].experiments_size(), 2);
  EXPECT_LT(pages[0].expected_s(), 0) << "nothing was ever measured, so nothing can be predicted";
  ASSERT_EQ(pages[0].placements_size(), 1);
  EXPECT_EQ(pages[0].placements(0), "2 experiments can run on worker a slot 0");
  EXPECT_TRUE(client().Jobs().empty());
}

TEST_F(ServiceTest, APlanWithoutAWorkerSaysWhatIsMissing) {
  std::vector<v1::PlanPage> pages;
  ASSERT_TRUE(Plan(RequestFor({kModel}), &pages).ok());
  ASSERT_EQ(pages.at(0).placements_size(), 1);
  EXPECT_THAT(pages[0].placements(0), HasSubstr("no slot now: device cpu, environment default"));
}

TEST_F(ServiceTest, AnUnknownModelIsRefusedWithTheNearestName) {
  v1::SubmitReply reply;
  const grpc::Status status = client().TrySubmit(RequestFor({"mobilenetv2_10"}), &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("did you mean"));
  EXPECT_THAT(status.error_message(), HasSubstr(kModel));
  EXPECT_TRUE(client().Jobs().empty());
}

TEST_F(ServiceTest, TheSameKeyIsTheSameJob) {
  const int64_t first = client().Submit(RequestFor({kModel}), "key").job();
  EXPECT_EQ(client().Submit(RequestFor({kModel}), "key").job(), first);
  server_.reset();
  StartServer();  // also after a restart
  EXPECT_EQ(client().Submit(RequestFor({kModel}), "key").job(), first);
  EXPECT_EQ(client().Jobs().size(), 1u);
}

TEST_F(ServiceTest, AJobWithoutAWorkerWaitsAndSaysWhy) {
  const int64_t job = client().Submit(RequestFor({kModel})).job();
  const v1::Job row = client().Job(job);
  EXPECT_EQ(row.coverage().waiting(), 1);
  EXPECT_LT(row.eta_s(), 0);
  ASSERT_GE(row.waiting_reasons_size(), 1);
  EXPECT_THAT(row.waiting_reasons(0), HasSubstr("1 experiment (device cpu"));
}

TEST_F(ServiceTest, RetryRepeatsWhatFailedAndLinksIt) {
  auto worker = Join(HelloOf("a"));
  const int64_t job = client().Submit(RequestFor({kModel, "repvgg_a2"})).job();
  std::string failed_model;
  for (int done = 0; done < 2;) {
    const v1::Lease lease = worker->NextLease();
    ASSERT_GT(lease.experiments_size(), 0);
    for (int i = 0; i < lease.experiments_size(); ++i, ++done) {
      if (done == 0) failed_model = plan::ExperimentFromJson(lease.experiments(i).json())->model;
      worker->Finish(AttemptOf(lease, i), done == 0 ? "failed" : "passed");
    }
  }
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));

  v1::SubmitReply reply;
  const grpc::Status status = Retry(job, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.planned(), 1);
  EXPECT_EQ(client().Job(reply.job()).retries(), job);
  const v1::Lease lease = worker->NextLease();
  ASSERT_EQ(lease.experiments_size(), 1);
  EXPECT_EQ(plan::ExperimentFromJson(lease.experiments(0).json())->model, failed_model);
  worker->Finish(AttemptOf(lease));
  ASSERT_TRUE(Eventually([&] { return client().Job(reply.job()).state() == "finished"; }));

  v1::SubmitReply nothing;
  const grpc::Status refused = Retry(reply.job(), &nothing);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("nothing to retry"));
}

TEST_F(ServiceTest, TheHistoryOfAModelComesWithMachineAndBuild) {
  auto worker = Join(HelloOf("a"));
  worker->Welcome();
  client().Submit(RequestFor({kModel}));
  worker->Finish(AttemptOf(worker->NextLease()));
  const auto ask = [&](const v1::ListHistoryRequest& request, std::vector<v1::HistoryPage>* pages) {
    grpc::ClientContext context;
    Client::Arm(context);
    return Client::Drain(*client().stub().ListHistory(&context, request), pages);
  };
  v1::ListHistoryRequest request;
  request.set_model(kModel);
  request.set_newest(10);
  std::vector<v1::HistoryPage> pages;
  ASSERT_TRUE(Eventually([&] {
    pages.clear();
    return ask(request, &pages).ok() && pages.size() == 1 && pages[0].rows_size() == 1;
  }));
  EXPECT_EQ(pages[0].rows(0).job(), 1);
  EXPECT_EQ(pages[0].inventories_size(), 1);
  EXPECT_TRUE(pages[0].inventories().contains(pages[0].rows(0).fingerprint()));
  EXPECT_EQ(pages[0].hosts_size(), 0);

  v1::ListHistoryRequest since;
  since.set_limit(100);
  pages.clear();
  ASSERT_TRUE(ask(since, &pages).ok());
  ASSERT_EQ(pages.size(), 1u);
  ASSERT_EQ(pages[0].hosts_size(), 1);
  EXPECT_EQ(pages[0].hosts(0).attempts(), 1);
  EXPECT_EQ(pages[0].hosts(0).failures(), 0);

  pages.clear();
  EXPECT_EQ(ask({}, &pages).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServiceTest, FiveThousandRowsComeInPages) {
  plan::Request request;
  request.inline_suite.emplace();
  request.inline_suite->name = "big";
  request.inline_suite->loader = "timm";
  for (int i = 10000; i < 15000; ++i) {
    plan::ModelRules& model = request.inline_suite->models.emplace_back();
    model.name = "model_" + std::to_string(i);
    model.batch_size = 1;
  }
  request.tests = {plan::Test::kPerformance};
  const v1::SubmitReply reply = client().Submit(request);
  ASSERT_EQ(reply.planned(), 5000);
  int64_t rows = 0, last = 0;
  for (const v1::ResultPage& page : client().Pages(reply.job())) {
    EXPECT_LE(page.rows_size(), 200);
    EXPECT_LT(page.ByteSizeLong(), 2u << 20);
    for (const v1::ResultRow& row : page.rows()) {
      EXPECT_GT(row.experiment().id(), last);
      last = row.experiment().id();
      ++rows;
    }
  }
  EXPECT_EQ(rows, 5000);
  std::vector<v1::PlanPage> pages;
  ASSERT_TRUE(Plan(request, &pages).ok());
  EXPECT_EQ(pages.size(), 25u);
}

TEST_F(ServiceTest, AJobThatIsNotThereNamesTheNewest) {
  client().Submit(RequestFor({kModel}));
  grpc::ClientContext context;
  v1::CancelJobRequest request;
  request.set_job(9);
  request.set_reason("x");
  v1::Job reply;
  const grpc::Status status = client().stub().CancelJob(&context, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("the newest is 1"));
}

TEST_F(ServiceTest, AModelFileTravelsWholeAndOnlyUpToTheLimit) {
  const std::string chunk(300 << 10, 'x');
  std::string sha256;
  ASSERT_TRUE(Put({chunk, chunk, "end"}, &sha256).ok());
  EXPECT_EQ(sha256.size(), 64u);
  auto sessions = v1::WorkerSession::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  Client::Arm(context);
  v1::FetchFileRequest request;
  request.set_sha256(sha256);
  std::vector<v1::FileChunk> chunks;
  ASSERT_TRUE(Client::Drain(*sessions->FetchFile(&context, request), &chunks).ok());
  std::string fetched;
  for (const v1::FileChunk& part : chunks) {
    EXPECT_LE(part.data().size(), 256u << 10);
    fetched += part.data();
  }
  EXPECT_EQ(fetched, chunk + chunk + "end");

  const std::vector<std::string> large(65, std::string(1 << 20, 'y'));
  const grpc::Status refused = Put(large, &sha256);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error_message(), HasSubstr("64 MiB"));
}

TEST_F(ServiceTest, AModelFileThatWasNotSentIsRefused) {
  plan::Request request;
  request.path_models = {{"path", "Net", std::string(64, 'a'), "net.py"}};
  request.tests = {plan::Test::kPerformance};
  v1::SubmitReply reply;
  const grpc::Status status = client().TrySubmit(request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("net.py"));
}

}  // namespace
}  // namespace dynbench
