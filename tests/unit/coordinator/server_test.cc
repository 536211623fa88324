// Method: real servers on port 0 in temporary folders; checks what a user or a script meets at the
// edges: the ready file, refusals, the HTTP answers.
#include "coordinator/server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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

  // Head and body, as they come.
  std::string AnswerOfHttp10(const std::string& path) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string url = server_->http_url();
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    std::string answer;
    char bytes[4096];
    for (ssize_t n = 0; (n = read(fd, bytes, sizeof(bytes))) > 0;) {
      answer.append(bytes, static_cast<size_t>(n));
    }
    close(fd);
    return answer;
  }
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

// Results come in pieces of three hundred rows.
TEST_F(ServerTest, HttpResultsOfALargeJobAreWholeOrCutOff) {
  StartServer();
  plan::Request request = RequestFor({});
  request.suite.clear();
  plan::Suite& suite = request.inline_suite.emplace();
  suite.name = "mine";
  suite.loader = "timm";
  for (int i = 0; i < 1000; ++i) suite.models.emplace_back().name = "m" + std::to_string(1000 + i);
  const int64_t job = client().Submit(request).job();
  const std::vector<v1::ResultRow> rows = client().Rows(job);
  ASSERT_EQ(rows.size(), 1000u);
  httplib::Client http(server_->http_url());
  const std::string path = "/api/v1/jobs/" + std::to_string(job) + "/results";
  json results = json::parse(http.Get(path)->body)["results"];
  ASSERT_EQ(results.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const v1::PlannedExperiment& planned = rows[i].experiment();
    ASSERT_EQ(results[i]["id"], planned.id());
    ASSERT_EQ(results[i]["series"], plan::SeriesKey(*plan::ExperimentFromJson(planned.json())));
  }
  EXPECT_EQ(http.Head(path)->status, 200);
  const auto ranged = http.Get(path, {{"Range", "bytes=0-9"}});
  EXPECT_EQ(ranged->status, 200);
  EXPECT_EQ(json::parse(ranged->body)["results"].size(), rows.size());
  const std::string old = AnswerOfHttp10(path);
  EXPECT_THAT(old.substr(0, old.find("\r\n\r\n")), Not(HasSubstr("Transfer-Encoding")));
  EXPECT_EQ(json::parse(old.substr(old.find("\r\n\r\n")))["results"].size(), rows.size());

  const auto change = [&](const std::string& sql, size_t first, size_t last) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(server_->database().c_str(), &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 60'000);
    const std::string range = " BETWEEN " + std::to_string(rows[first].experiment().id()) +
                              " AND " + std::to_string(rows[last].experiment().id());
    EXPECT_EQ(sqlite3_exec(db, (sql + range).c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  };
  change("DELETE FROM experiment WHERE id", 250, 799);  // more than a piece
  results = json::parse(http.Get(path)->body)["results"];
  ASSERT_EQ(results.size(), 450u);
  EXPECT_EQ(results[250]["id"], rows[800].experiment().id());

  change("UPDATE experiment_plan SET plan = '{' WHERE experiment", 999, 999);
  EXPECT_FALSE(http.Get(path)) << "a part was passed off as the whole";
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
