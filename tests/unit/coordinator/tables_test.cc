// Method: a real coordinator in this process, asked over real gRPC for a job of several pages; the
// rows put together again are those of the whole list.
#include "coordinator/control/tables.h"

#include "common/plan/experiment_reader.h"
#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

class TablesTest : public CoordinatorTest {
 protected:
  void SetUp() override { StartServer(); }

  std::vector<v1::TablePage> Pages(int64_t job) {
    const auto tables = v1::Tables::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    Client::Arm(context);
    v1::ListTableRowsRequest request;
    request.set_job(job);
    std::vector<v1::TablePage> pages;
    const grpc::Status status = Client::Drain(*tables->ListTableRows(&context, request), &pages);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return pages;
  }
};

TEST_F(TablesTest, SayWhatTheWholeRowsSayOfPlanAndState) {
  plan::Request request = RequestFor({"mobilenetv2_100", "repvgg_a2"});
  request.tests = {plan::Test::kPerformance, plan::Test::kAccuracy};
  const int64_t job = client().Submit(request).job();
  const std::vector<v1::ResultRow> wholes = client().Rows(job);
  ASSERT_EQ(wholes.size(), 4u);
  const std::vector<v1::TablePage> pages = Pages(job);
  ASSERT_EQ(pages.size(), 1u);
  ASSERT_EQ(pages[0].rows_size(), 4);
  plan::ExperimentReader reader;
  for (int i = 0; i < 4; ++i) {
    const v1::TableRow& row = pages[0].rows(i);
    const v1::ResultRow& whole = wholes[static_cast<size_t>(i)];
    EXPECT_EQ(row.id(), whole.experiment().id());
    EXPECT_EQ(row.state(), whole.state());
    EXPECT_EQ(row.has_result(), whole.has_result());
    EXPECT_EQ(row.plan().empty(), i > 0);
    const absl::Status read =
        i > 0 ? reader.ReadChanges(row.plan_changes()) : reader.Read(row.plan());
    ASSERT_TRUE(read.ok()) << read;
    plan::Experiment experiment = reader.experiment();
    const auto wanted = plan::ExperimentFromJson(whole.experiment().json());
    ASSERT_TRUE(wanted.ok());
    experiment.source = wanted->source;
    EXPECT_EQ(plan::ToJson(experiment), whole.experiment().json());
  }
}

TEST_F(TablesTest, AJobThatDoesNotExistHasNoRows) { EXPECT_TRUE(Pages(9).empty()); }

}  // namespace
}  // namespace dynbench
