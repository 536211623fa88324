#include "coordinator/web/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <thread>
#include <utility>

#include "common/base/status.h"
#include "common/base/version.h"
#include "coordinator/control/jobs.h"
#include "coordinator/web/pages.h"

namespace dynbench::web {
namespace {

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
    context_ = context;
    metrics_ = metrics;
    server_.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    });
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      Answer(response, "text/plain; version=0.0.4",
             [](const control::Context& c, Metrics* metrics,
                store::Database&) -> absl::StatusOr<std::string> {
               ASSIGN_OR_RETURN(const session::Totals totals, c.dispatcher->ViewTotals());
               ASSIGN_OR_RETURN(const session::FleetView fleet, c.dispatcher->ViewFleet());
               return metrics->Scrape(totals, fleet, c.ingest->counters());
             });
    });
    server_.Get("/api/v1/status", [this](const httplib::Request&, httplib::Response& response) {
      Answer(response, "application/json",
             [](const control::Context& c, Metrics*,
                store::Database& db) -> absl::StatusOr<std::string> {
               ASSIGN_OR_RETURN(const auto jobs, control::LoadJobs(c, db, 0));
               return StatusJson(jobs);
             });
    });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      Answer(response, "text/html; charset=utf-8",
             [](const control::Context& c, Metrics*,
                store::Database& db) -> absl::StatusOr<std::string> {
               ASSIGN_OR_RETURN(const auto jobs, control::LoadJobs(c, db, 0));
               return JobsPage(jobs, kVersion);
             });
    });
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }

  void Stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  using Maker = std::function<absl::StatusOr<std::string>(const control::Context&, Metrics*,
                                                          store::Database&)>;

  // Makes the body on the query pool. The maker owns what it uses: it may outlive the request.
  void Answer(httplib::Response& response, const char* type, Maker make) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<std::string>>>();
    auto future = promise->get_future();
    absl::Status status = context_.pool->Run([context = context_, metrics = metrics_, promise,
                                              make = std::move(make)](store::Database& db) {
      promise->set_value(make(context, metrics, db));
    });
    std::string body;
    if (status.ok() && future.wait_for(kAnswerTime) != std::future_status::ready) {
      status = absl::UnavailableError("the coordinator is too busy to answer; try again");
    }
    if (status.ok()) {
      absl::StatusOr<std::string> made = future.get();
      status = made.status();
      if (made.ok()) body = *std::move(made);
    }
    if (status.ok()) return response.set_content(body, type);
    response.status = HttpCode(status);
    response.set_content(ErrorJson(std::string(status.message())), "application/json");
  }

  httplib::Server server_;
  int port_ = -1;
  control::Context context_;
  Metrics* metrics_ = nullptr;
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
