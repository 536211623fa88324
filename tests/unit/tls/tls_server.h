// A gRPC server of a --tls folder (empty: without TLS) on a free port, whose methods are all
// unimplemented: who is told so has passed.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "common/tls/credentials.h"
#include "dynbench/v1/control.grpc.pb.h"

namespace dynbench::tls {

class TlsServer {
 public:
  explicit TlsServer(const std::string& folder) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", ServerCredentials(folder), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
  }

  std::string At(const std::string& host) const { return host + ":" + std::to_string(port_); }
  std::string address() const { return At("127.0.0.1"); }

 private:
  int port_ = 0;
  v1::Control::Service service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace dynbench::tls
