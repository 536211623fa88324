#include "common/tls/credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "common/tls/folder.h"

namespace dynbench::tls {
namespace {

constexpr unsigned kLookAgainS = 1;  // gRPC's least

std::shared_ptr<grpc::experimental::CertificateProviderInterface> Files(const std::string& folder) {
  return std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      KeyFile(folder), CertificateFile(folder), AuthorityFile(folder), kLookAgainS);
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const std::string& folder) {
  if (folder.empty()) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions options(Files(folder));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const std::string& folder) {
  if (folder.empty()) return grpc::InsecureChannelCredentials();
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(Files(folder));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace dynbench::tls
