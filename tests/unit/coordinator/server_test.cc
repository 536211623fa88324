// Method: real servers on port 0 in temporary folders; checks what a user or a script meets at the
// edges: the ready file, refusals, the HTTP answers.
#include "coordinator/server.h"

#include <httplib.h>
#include <sys/stat.h>

#include <fstream>

#include "coordinator/address.h"
#include "coordinator/web/pages.h"
#include "nlohmann/json.hpp"
#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ServerTest : public CoordinatorTest {
 protected:
  std::string ReadyFile() const { return options_.state_dir + "/coordinator.json"; }
};

TEST_F(ServerTest, TheReadyFileIsThereWhileItServes) {
  StartServer();
  const json ready = json::parse(std::ifstream(ReadyFile()));
  EXPECT_EQ(ready["schema"], "dynbench.coordinator/1");
  EXPECT_EQ(ready["address"], server_->address());
  EXPECT_EQ(ready["metrics_url"], server_->http_url() + "/metrics");
  EXPECT_EQ(ready["database"], server_->database());
  struct stat info {};
  ASSERT_EQ(stat(options_.state_dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(ReadyFile()));
}

TEST_F(ServerTest, ASecondCoordinatorOnTheSameStateIsRefused) {
  StartServer();
  const auto second = Server::Start(options_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--state-dir"));
  EXPECT_TRUE(std::filesystem::exists(ReadyFile())) << "the first one still serves";
}

TEST_F(ServerTest, AnAddressInUseIsNamed) {
  StartServer();
  TempDir other;
  ServerOptions options = TestOptions(other);
  options.listen = server_->address();
  options.http = "127.0.0.1:0";
  const auto second = Server::Start(options);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("Address already in use"));
}

TEST_F(ServerTest, AnAddressBeyondThisMachineNeedsInsecure) {
  options_.listen = "0.0.0.0:0";
  const auto refused = Server::Start(options_);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--insecure"));
  options_.insecure = true;
  EXPECT_TRUE(Server::Start(options_).ok());
}

TEST_F(ServerTest, HttpAnswersStatusResultsMetricsAndAPage) {
  StartServer();
  auto worker = Join(HelloOf("a"));
  plan::Request request = RequestFor({"mobilenetv2_100"});
  request.label = "<b>bold</b>";
  const int64_t job = client().Submit(request).job();
  worker->Finish(AttemptOf(worker->NextLease()));
  ASSERT_TRUE(Eventually([&] { return client().Job(job).state() == "finished"; }));

  httplib::Client http(server_->http_url());
  EXPECT_EQ(http.Get("/healthz")->body, "ok\n");
  const json status = json::parse(http.Get("/api/v1/status")->body);
  EXPECT_EQ(status["schema"], "dynbench.status/1");
  EXPECT_EQ(status["jobs"][0]["passed"], 1);
  const json results = json::parse(http.Get("/api/v1/jobs/1/results")->body);
  EXPECT_EQ(results["schema"], "dynbench.results/1");
  EXPECT_EQ(results["results"][0]["experiment"]["model"], "mobilenetv2_100");
  EXPECT_EQ(http.Get("/api/v1/jobs/7/results")->status, 404);
  const std::string metrics = http.Get("/metrics")->body;
  EXPECT_THAT(metrics, HasSubstr("dynbench_results_total{outcome=\"passed\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("dynbench_workers_connected 1"));
  const std::string page = http.Get("/")->body;
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;bold"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
}

TEST(AddressTest, ReadsHostAndPort) {
  EXPECT_EQ(ParseAddress("[::1]:7411", "--listen")->ToString(), "[::1]:7411");
  EXPECT_TRUE(ParseAddress("[::1]:7411", "--listen")->IsLoopback());
  EXPECT_FALSE(ParseAddress("10.0.0.1:7411", "--listen")->IsLoopback());
  for (const char* bad : {"7411", ":7411", "host:", "host:99999", "::1:7411", "host:-1"}) {
    EXPECT_FALSE(ParseAddress(bad, "--listen").ok()) << bad;
  }
}

}  // namespace
}  // namespace dynbench
