// gRPC credentials of a --tls folder: TLS with certificates on both sides. An empty folder is no
// TLS. The files are looked at every second, so that new connections use renewed certificates;
// connections that are there go on. Check the folder first (CheckFolder): gRPC says nothing.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

namespace dynbench::tls {

// Clients must show a certificate that ca.crt signed.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const std::string& folder);

// The server's certificate must be signed by ca.crt and name the host that was dialled.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const std::string& folder);

}  // namespace dynbench::tls
