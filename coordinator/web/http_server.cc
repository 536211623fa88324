#include "coordinator/web/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "common/base/status.h"
#include "common/base/version.h"
#include "common/formats/results_text.h"
#include "coordinator/control/jobs.h"
#include "coordinator/web/pages.h"
#include "nlohmann/json.hpp"

namespace dynbench::web {
namespace {

constexpr int64_t kRowsPerStep = 500;

// Another program on the same port is an error, not a share of its connections.
void SocketOptions(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

int HttpCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
      return 503;
    default:
      return 500;
  }
}

// What bodies are made of. Copied into each request, since a slow one outlives its connection.
struct Parts {
  control::Context context;
  Metrics* metrics = nullptr;
};
using Maker = std::function<absl::StatusOr<std::string>(const Parts&, store::Database&)>;

absl::StatusOr<std::string> MetricsBody(const Parts& parts, store::Database& /*db*/) {
  ASSIGN_OR_RETURN(const session::Totals totals, parts.context.dispatcher->ViewTotals());
  ASSIGN_OR_RETURN(const session::FleetView fleet, parts.context.dispatcher->ViewFleet());
  return parts.metrics->Scrape(totals, fleet, parts.context.ingest->counters());
}

absl::StatusOr<std::string> StatusBody(const Parts& parts, store::Database& db) {
  ASSIGN_OR_RETURN(const auto jobs, control::LoadJobs(parts.context, db, 0));
  return formats::JsonText(formats::StatusJson(jobs));
}

absl::StatusOr<std::string> PageBody(const Parts& parts, store::Database& db) {
  ASSIGN_OR_RETURN(const auto jobs, control::LoadJobs(parts.context, db, 0));
  return JobsPage(jobs, kVersion);
}

absl::StatusOr<std::string> ResultsBody(const Parts& parts, store::Database& db, JobId id) {
  ASSIGN_OR_RETURN(const auto job, control::LoadJob(parts.context, db, id));
  formats::ResultsText text(job.job);
  ExperimentId after;
  while (true) {
    ASSIGN_OR_RETURN(const auto rows, store::ListResults(db, id, after, kRowsPerStep, false,
                                                         store::RowDetail::kPlanAsText));
    for (const store::ResultRow& row : rows) RETURN_IF_ERROR(text.Add(row));
    if (static_cast<int64_t>(rows.size()) < kRowsPerStep) return text.Take();
    after = rows.back().id;
  }
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl() {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_socket_options(SocketOptions);
    server_.set_keep_alive_timeout(1);
    server_.set_read_timeout(5);
    server_.set_write_timeout(5);
    server_.set_payload_max_length(1 << 20);
    server_.set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}});
  }
  ~Impl() { Stop(); }

  absl::Status Bind(const std::string& host, int port) {
    port_ =
        port == 0 ? server_.bind_to_any_port(host) : (server_.bind_to_port(host, port) ? port : -1);
    if (port_ > 0) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat("cannot listen for HTTP on ", host, ":", port, " (",
                                               std::strerror(errno),
                                               "); choose another address with --http"));
  }
  int port() const { return port_; }

  void Serve(const control::Context& context, Metrics* metrics) {
    parts_ = {context, metrics};
    server_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    });
    AnswerWith("/metrics", "text/plain; version=0.0.4", MetricsBody);
    AnswerWith("/api/v1/status", "application/json", StatusBody);
    AnswerWith("/", "text/html; charset=utf-8", PageBody);
    server_.Get(R"(/api/v1/jobs/(\d{1,18})/results)", [this](const httplib::Request& request,
                                                             httplib::Response& response) {
      const JobId job(std::stoll(request.matches[1]));
      Answer(response, "application/json", [job](const Parts& parts, store::Database& db) {
        return ResultsBody(parts, db, job);
      });
    });
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
  }

  void Stop() {
    if (!thread_.joinable()) return;
    // Before its thread accepts, the library's stop does nothing, and nothing would end it later.
    while (!server_.is_running() && !ended_) std::this_thread::yield();
    server_.stop();
    thread_.join();
  }

 private:
  void AnswerWith(const char* path, const char* type, const Maker& make) {
    server_.Get(path, [this, type, make](const httplib::Request&, httplib::Response& response) {
      Answer(response, type, make);
    });
  }

  // Makes the body on the query pool. The maker owns what it uses: it may outlive the request.
  void Answer(httplib::Response& response, const char* type, Maker make) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<std::string>>>();
    auto future = promise->get_future();
    absl::Status status =
        parts_.context.pool->Run([parts = parts_, promise, make = std::move(make)](
                                     store::Database& db) { promise->set_value(make(parts, db)); });
    std::string body;
    if (status.ok() && future.wait_for(kAnswerTime) != std::future_status::ready) {
      status = absl::UnavailableError("the coordinator is too busy to answer; try again");
    }
    if (status.ok()) {
      absl::StatusOr<std::string> made = future.get();
      status = made.status();
      if (made.ok()) body = *std::move(made);
    }
    if (status.ok()) {  // moved: a job's results may have tens of megabytes
      response.body = std::move(body);
      return response.set_header("Content-Type", type);
    }
    response.status = HttpCode(status);
    response.set_content(ErrorJson(std::string(status.message())), "application/json");
  }

  httplib::Server server_;
  int port_ = -1;
  Parts parts_;
  std::atomic<bool> ended_ = false;  // the thread has done all it does
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Bind(const std::string& host, int port) {
  auto impl = std::make_unique<Impl>();
  RETURN_IF_ERROR(impl->Bind(host, port));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const { return impl_->port(); }
void HttpServer::Serve(const control::Context& context, Metrics* metrics) {
  impl_->Serve(context, metrics);
}
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace dynbench::web
