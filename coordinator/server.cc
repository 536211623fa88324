#include "coordinator/server.h"

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/base/object_folder.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/catalog.h"
#include "common/store/writes.h"
#include "common/tls/credentials.h"
#include "common/tls/expiry_watch.h"
#include "common/tls/folder.h"
#include "coordinator/acceptor.h"
#include "coordinator/address.h"
#include "coordinator/control/service.h"
#include "coordinator/control/tables.h"
#include "coordinator/session/worker_session.h"
#include "coordinator/web/http_server.h"
#include "nlohmann/json.hpp"
#include "proto/dynbench/keepalive.h"
#include "spdlog/spdlog.h"

namespace dynbench {
namespace {

constexpr int kQueryThreads = 4;           // a query waits for the disk, not for a core
constexpr int64_t kRestartGuessMs = 5000;  // what workers are told to expect
constexpr std::chrono::seconds kCallGrace{1};

absl::Status MakeStateDir(const std::string& dir) {
  if (dir.empty()) return absl::InvalidArgumentError("--state-dir is empty");
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create the state folder ", dir, ": ",
                                                      error.message(),
                                                      "; choose another with --state-dir"));
  }
  if (chmod(dir.c_str(), 0700) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the state folder ", dir, " belongs to somebody else (", std::strerror(errno),
                     "); choose another with --state-dir"));
  }
  return absl::OkStatus();
}

// Nothing is open to other machines that nobody asked for.
absl::Status CheckReach(const ServerOptions& options, const Address& listen, const Address& http) {
  const bool listen_open = !listen.IsLoopback() && options.tls.empty();
  const bool http_open = !http.IsLoopback();
  if (options.insecure) {
    if (listen_open) {
      spdlog::warn("listens without TLS and authentication on {} (--insecure)", listen.ToString());
    }
    if (http_open) {
      spdlog::warn("shows its pages to everybody who reaches {} (--insecure)", http.ToString());
    }
    return absl::OkStatus();
  }
  if (listen_open) {
    return absl::InvalidArgumentError(absl::StrCat(
        listen.ToString(),
        " is reachable from other machines; name a folder with certificates (--tls DIR), listen on "
        "127.0.0.1, or accept that anybody who reaches the port can run code: --insecure"));
  }
  if (http_open) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--http ", http.ToString(),
        " is reachable from other machines and the pages have no TLS; use 127.0.0.1 and a tunnel, "
        "or accept that anybody who reaches the port can read them: --insecure"));
  }
  return absl::OkStatus();
}

void WriteAtomically(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::ofstream(temporary) << text;
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    spdlog::error("cannot write {}: {}", path, std::strerror(errno));
  }
}

}  // namespace

class Server::Impl {
 public:
  absl::Status Start(const ServerOptions& options);
  void Stop();

  std::string address_;
  std::string http_url_;
  std::string database_;

 private:
  absl::Status OpenStore(const ServerOptions& options);
  absl::Status KeepInstalledFiles();
  absl::Status Listen(const Address& listen, const std::string& tls);
  void WriteReady() const;

  std::string ready_file_;
  plan::Catalog catalog_;
  web::Metrics metrics_;
  session::ChangeFeed feed_;
  session::Predictions predictions_;
  std::unique_ptr<ObjectFolder> objects_;
  std::unique_ptr<ingest::Ingest> ingest_;
  std::unique_ptr<ingest::RetentionKeeper> retention_;
  std::unique_ptr<session::QueryPool> pool_;
  std::unique_ptr<session::Dispatcher> dispatcher_;
  std::unique_ptr<web::HttpServer> http_;
  std::unique_ptr<control::ControlService> control_;
  std::unique_ptr<control::TablesService> tables_;
  std::unique_ptr<session::WorkerSessionService> sessions_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<tls::ExpiryWatch> expiry_;
};

absl::Status Server::Impl::Start(const ServerOptions& options) {
  ASSIGN_OR_RETURN(Address listen, ParseAddress(options.listen, "--listen"));
  Address http{listen.host, listen.port == 0 ? 0 : listen.port + 1};
  if (!options.tls.empty()) {
    RETURN_IF_ERROR(tls::CheckFolder(options.tls, UnixNow()));
    // Pages and metrics have neither TLS nor people yet: not beyond this machine by default.
    if (!options.insecure && !listen.IsLoopback()) http.host = "127.0.0.1";
  }
  if (!options.http.empty()) {
    ASSIGN_OR_RETURN(http, ParseAddress(options.http, "--http"));
  }
  RETURN_IF_ERROR(CheckReach(options, listen, http));
  RETURN_IF_ERROR(MakeStateDir(options.state_dir));
  std::string suites = options.suites_dir;
  if (suites.empty()) {
    ASSIGN_OR_RETURN(suites, plan::FindSuitesFolder());
  }
  ASSIGN_OR_RETURN(catalog_, plan::LoadCatalog(suites));
  for (const auto& [name, suite] : catalog_.suites) predictions_.LearnTypical(suite);
  RETURN_IF_ERROR(OpenStore(options));
  RETURN_IF_ERROR(KeepInstalledFiles());
  objects_ = std::make_unique<ObjectFolder>(options.state_dir + "/objects");
  objects_->SweepUnfinished(0);  // what a killed coordinator was being sent
  ASSIGN_OR_RETURN(http_, web::HttpServer::Bind(http.host, http.port));
  http.port = http_->port();
  http_url_ = "http://" + http.ToString();

  control::Context context;
  context.dispatcher = dispatcher_.get();
  context.ingest = ingest_.get();
  context.pool = pool_.get();
  context.feed = &feed_;
  context.predictions = &predictions_;
  context.catalog = &catalog_;
  context.objects = objects_.get();
  context.database = database_;
  context.http_address = http.ToString();
  context.started_unix_ms = UnixNow().ms;
  control_ = std::make_unique<control::ControlService>(context);
  tables_ = std::make_unique<control::TablesService>(pool_.get());
  sessions_ = std::make_unique<session::WorkerSessionService>(dispatcher_.get(), pool_.get(),
                                                              objects_.get());
  RETURN_IF_ERROR(Listen(listen, options.tls));
  http_->Serve(context, &metrics_);
  retention_ = std::make_unique<ingest::RetentionKeeper>(options.retention, ingest_.get());
  ready_file_ = options.state_dir + "/coordinator.json";
  WriteReady();
  expiry_ = std::make_unique<tls::ExpiryWatch>(options.tls);
  spdlog::info("coordinator {}{} on {}, database {}", address_, options.tls.empty() ? "" : " (TLS)",
               http_url_, database_);
  return absl::OkStatus();
}

absl::Status Server::Impl::OpenStore(const ServerOptions& options) {
  database_ = options.state_dir + "/dynbench.db";
  ASSIGN_OR_RETURN(auto writer, store::Database::Open(database_, store::Access::kReadWrite));
  ingest_ = std::make_unique<ingest::Ingest>(std::move(writer));
  ASSIGN_OR_RETURN(pool_, session::QueryPool::Open(database_, kQueryThreads));
  dispatcher_ = std::make_unique<session::Dispatcher>(options.dispatcher, ingest_.get(), &feed_,
                                                      &predictions_, &metrics_);
  ASSIGN_OR_RETURN(auto reader, store::Database::Open(database_, store::Access::kReadOnly));
  return dispatcher_->Start(*reader);
}

// Model files of installed suites are served as those that travel with a job. Files of an earlier
// version stay, since the jobs that were planned with them may be retried.
absl::Status Server::Impl::KeepInstalledFiles() {
  return ingest_->ApplyAndWait([this](store::Database& db) {
    for (const auto& [suite, files] : catalog_.model_files) {
      for (const auto& [path, file] : files) {
        RETURN_IF_ERROR(store::PutFile(db, file.sha256, file.name, file.bytes, UnixNow()));
      }
    }
    return absl::OkStatus();
  });
}

absl::Status Server::Impl::Listen(const Address& listen, const std::string& tls) {
  ASSIGN_OR_RETURN(acceptor_, Acceptor::Listen(listen));
  grpc::ServerBuilder builder;
  connections_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      tls::ServerCredentials(tls));
  builder.RegisterService(control_.get());
  builder.RegisterService(tables_.get());
  builder.RegisterService(sessions_.get());
  builder.SetMaxReceiveMessageSize(proto::kReceiveLimitBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, proto::kCoordinatorKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, proto::kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             proto::kLeastPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  grpc_ = builder.BuildAndStart();
  if (grpc_ == nullptr) return absl::InternalError("gRPC does not start");
  acceptor_->Start([this](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    connections_->HandleNewConnection(&connection);
  });
  address_ = Address{listen.host, acceptor_->port()}.ToString();
  return absl::OkStatus();
}

void Server::Impl::WriteReady() const {
  const nlohmann::json ready = {{"schema", "dynbench.coordinator/1"},
                                {"pid", getpid()},
                                {"address", address_},
                                {"http_url", http_url_},
                                {"metrics_url", http_url_ + "/metrics"},
                                {"database", database_}};
  WriteAtomically(ready_file_,
                  ready.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

// From the outside in: nobody is answered by a part whose foundation is gone already.
void Server::Impl::Stop() {
  if (acceptor_ != nullptr) acceptor_->Stop();
  if (grpc_ != nullptr) {
    dispatcher_->AnnounceRestart(kRestartGuessMs);
    feed_.Close();
    grpc_->Shutdown(std::chrono::system_clock::now() + kCallGrace);
    grpc_->Wait();
  }
  if (http_ != nullptr) http_->Stop();
  retention_.reset();
  pool_.reset();
  if (dispatcher_ != nullptr) dispatcher_->Stop();
  ingest_.reset();  // commits what was handed in
  if (!ready_file_.empty()) unlink(ready_file_.c_str());
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { impl_->Stop(); }

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  std::unique_ptr<Server> server(new Server(std::make_unique<Impl>()));
  RETURN_IF_ERROR(server->impl_->Start(options));
  return server;
}

const std::string& Server::address() const { return impl_->address_; }
const std::string& Server::http_url() const { return impl_->http_url_; }
const std::string& Server::database() const { return impl_->database_; }

}  // namespace dynbench
