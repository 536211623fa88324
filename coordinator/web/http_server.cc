#include "coordinator/web/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "common/base/status.h"
#include "common/base/version.h"
#include "coordinator/control/jobs.h"
#include "coordinator/web/pages.h"
#include "coordinator/web/piece_stream.h"
#include "coordinator/web/results_pieces.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace dynbench::web {
namespace {

// One answer has three of the pool's four threads at most: two make pieces on two cores, the third
// is ahead of the sender.
constexpr size_t kPiecesAhead = 3;

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
      auto results =
          std::make_shared<ResultsPieces>(parts_.context, JobId(std::stoll(request.matches[1])));
      Stream(request, response, "application/json",
             [results](store::Database& db, int number) { return results->Make(db, number); });
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
    PieceStream body(
        parts_.context.pool,
        [parts = parts_, make = std::move(make)](
            store::Database& db, int /*number*/) -> absl::StatusOr<PieceStream::Piece> {
          ASSIGN_OR_RETURN(std::string text, make(parts, db));
          return PieceStream::Piece{std::move(text), /*last=*/true};
        },
        kAnswerTime);
    body.Begin();
    absl::StatusOr<PieceStream::Piece> whole = body.Take();
    if (!whole.ok()) return Refuse(response, whole.status());
    response.set_content(whole->text, type);
  }

  // A body in pieces. An error in the first is an answer of its own; one in a later piece ends the
  // connection, so that nobody takes what is there for the whole.
  void Stream(const httplib::Request& request, httplib::Response& response, const char* type,
              PieceStream::Make make) {
    auto pieces = std::make_shared<PieceStream>(parts_.context.pool, std::move(make), kAnswerTime);
    pieces->Begin();
    auto piece = std::make_shared<absl::StatusOr<PieceStream::Piece>>(pieces->Take());
    if (!piece->ok()) return Refuse(response, piece->status());
    if (request.version == "HTTP/1.0") return Whole(response, type, *pieces, std::move(*piece));
    // The length is not known, so no part of it can be asked for; the library would say 206.
    response.status = 200;
    response.set_header("Accept-Ranges", "none");
    response.set_chunked_content_provider(
        type, [pieces, piece, path = request.path](size_t /*offset*/, httplib::DataSink& sink) {
          if (!piece->ok()) {
            spdlog::warn("the answer to {} was cut off: {}", path, piece->status().ToString());
            return false;
          }
          const bool last = (*piece)->last;
          if (!last) pieces->Begin(kPiecesAhead);
          const std::string& text = (*piece)->text;
          // An empty chunk would be the last.
          if (!text.empty() && !sink.write(text.data(), text.size())) return false;
          if (last) {
            sink.done();
          } else {
            *piece = pieces->Take();
          }
          return true;
        });
  }

  // For who knows no chunks.
  static void Whole(httplib::Response& response, const char* type, PieceStream& pieces,
                    absl::StatusOr<PieceStream::Piece> piece) {
    std::string text;
    while (piece.ok()) {
      text += piece->text;
      if (piece->last) return response.set_content(text, type);
      pieces.Begin(kPiecesAhead);
      piece = pieces.Take();
    }
    Refuse(response, piece.status());
  }

  static void Refuse(httplib::Response& response, const absl::Status& status) {
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
