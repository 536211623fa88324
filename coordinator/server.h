// The whole coordinator in one object: store, ingest, dispatcher, gRPC services and HTTP server, in
// the order in which they need one another. Used by main.cc and, in process, by tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/ingest/retention_keeper.h"
#include "coordinator/session/dispatcher.h"

namespace dynbench {

struct ServerOptions {
  std::string listen = "127.0.0.1:7411";  // HOST:PORT; port 0: any
  std::string http;                       // empty: the same host and the next port, or any
  std::string state_dir;                  // created with mode 0700
  std::string suites_dir;                 // empty: plan::FindSuitesFolder
  bool insecure = false;                  // an address that is not loopback, without TLS
  session::DispatcherOptions dispatcher;
  ingest::RetentionOptions retention;
  std::string tls;  // folder with ca.crt, tls.crt and tls.key (common/tls/folder.h); empty: no TLS
};

class Server {
 public:
  // Returns when workers and clients are served and STATE_DIR/coordinator.json is written.
  // InvalidArgument: usage (an address that is not loopback without TLS or `insecure`, no
  // HOST:PORT, a TLS folder that cannot be used). Unavailable: an address is in use.
  // FailedPrecondition: another coordinator has the database, or it cannot be used.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);

  // Tells workers and watchers, stops accepting, commits what is under way, removes
  // coordinator.json.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& address() const;  // HOST:PORT as bound
  const std::string& http_url() const;
  const std::string& database() const;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynbench
