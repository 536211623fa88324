#include "common/tls/diagnosis.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/tls/folder.h"

namespace dynbench::tls {
namespace {

constexpr unsigned char kHttp2[] = {2, 'h', '2'};  // ALPN; a gRPC server wants it

// OpenSSL writes to the socket without MSG_NOSIGNAL: where the other side hung up, the kernel sends
// this thread a SIGPIPE, which would end a program that has not ignored it. It is taken back here.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

struct HostPort {
  std::string host, port;
};

HostPort Split(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, ""};
  HostPort split{address.substr(0, colon), address.substr(colon + 1)};
  if (split.host.size() > 1 && split.host.front() == '[') {
    split.host = split.host.substr(1, split.host.size() - 2);
  }
  return split;
}

// A socket that closes itself, and the time that is left for everything on it.
class Connection {
 public:
  Connection(const HostPort& to, MonotonicTime deadline) : deadline_(deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found) != 0) return;
    for (const addrinfo* a = found; a != nullptr && fd_ < 0; a = a->ai_next) Try(*a);
    freeaddrinfo(found);
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return fd_; }  // -1: nobody answered

  // False when the time is over.
  bool Await(short events) const {
    const int64_t left_ms = std::max<int64_t>(0, (deadline_ - MonotonicNow()) / kNsPerMs);
    pollfd waited{fd_, events, 0};
    return poll(&waited, 1, static_cast<int>(left_ms)) == 1;
  }

 private:
  void Try(const addrinfo& address) {
    fd_ = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return;
    int error = -1;
    socklen_t size = sizeof error;
    const bool begun =
        connect(fd_, address.ai_addr, address.ai_addrlen) == 0 || errno == EINPROGRESS;
    if (begun && Await(POLLOUT)) getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) return;
    close(fd_);
    fd_ = -1;
  }

  const MonotonicTime deadline_;
  int fd_ = -1;
};

// What the verification of the other side's certificate finds first.
struct Verification {
  int error = X509_V_OK;
  std::optional<Certificate> at;  // the certificate of the chain that is meant
};

int Remember(int fine, X509_STORE_CTX* context) {
  if (fine == 1) return 1;
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* found = static_cast<Verification*>(SSL_get_app_data(ssl));
  if (found->error == X509_V_OK) {
    found->error = X509_STORE_CTX_get_error(context);
    const X509* at = X509_STORE_CTX_get_current_cert(context);
    if (at != nullptr) found->at = Describe(at);
  }
  return 1;  // goes on: what the other side says of us is wanted too
}

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

Context MakeContext(const std::string& folder) {
  Context context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_alpn_protos(context.get(), kHttp2, sizeof kHttp2);
  if (folder.empty()) return context;
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, &Remember);
  SSL_CTX_load_verify_locations(context.get(), AuthorityFile(folder).c_str(), nullptr);
  SSL_CTX_use_certificate_chain_file(context.get(), CertificateFile(folder).c_str());
  SSL_CTX_use_PrivateKey_file(context.get(), KeyFile(folder).c_str(), SSL_FILETYPE_PEM);
  return context;
}

void ExpectName(SSL* session, const std::string& host) {
  in6_addr bytes{};
  if (inet_pton(AF_INET, host.c_str(), &bytes) == 1 ||
      inet_pton(AF_INET6, host.c_str(), &bytes) == 1) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str());
    return;
  }
  SSL_set1_host(session, host.c_str());
  SSL_set_tlsext_host_name(session, host.c_str());
}

enum class Step { kDone, kAlert, kClosed, kNoTls, kTimeOut };

// Repeats `operation` (a call of OpenSSL) until it is done or fails.
template <typename Operation>
Step Drive(const Connection& connection, SSL* session, Operation operation, unsigned long* error) {
  for (;;) {
    ERR_clear_error();
    const int result = operation();
    if (result > 0) return Step::kDone;
    switch (SSL_get_error(session, result)) {
      case SSL_ERROR_WANT_READ:
        if (!connection.Await(POLLIN)) return Step::kTimeOut;
        continue;
      case SSL_ERROR_WANT_WRITE:
        if (!connection.Await(POLLOUT)) return Step::kTimeOut;
        continue;
      case SSL_ERROR_SSL:
        *error = ERR_peek_error();
        if (ERR_GET_REASON(*error) >= SSL_AD_REASON_OFFSET) return Step::kAlert;
        if (ERR_GET_REASON(*error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return Step::kClosed;
        return Step::kNoTls;
      default:
        return Step::kClosed;
    }
  }
}

std::string VerificationText(const Verification& found, const std::optional<Certificate>& peer,
                             const HostPort& to, const std::string& folder) {
  const std::string whose = "the coordinator's certificate";
  switch (found.error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return ValidityText(
          found.at.value_or(Certificate{}),
          absl::StrCat(whose, " (", found.at ? found.at->subject : std::string("?"), ")"),
          UnixNow());
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::string names =
          !peer || peer->names.empty() ? "no name at all" : absl::StrJoin(peer->names, ", ");
      return absl::StrCat(whose, " is for ", names, " and not for ", to.host,
                          "; use one of these names in --coordinator, or renew it with ", to.host,
                          " among its subject alternative names");
    }
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return absl::StrCat(whose, " is signed by ", peer ? peer->issuer : std::string("?"),
                          ", which ", AuthorityFile(folder),
                          " does not hold; copy the ca.crt of the coordinator's fleet");
    default:
      return absl::StrCat(whose, " is not accepted: ", X509_verify_cert_error_string(found.error));
  }
}

std::string RefusedText(const std::string& folder, unsigned long error) {
  const auto own = ReadCertificate(CertificateFile(folder));
  const char* said = ERR_reason_error_string(error);
  return absl::StrCat("the coordinator does not accept this host's certificate ",
                      CertificateFile(folder), " (signed by ",
                      own.ok() ? own->issuer : std::string("?"), ")",
                      said == nullptr ? std::string() : absl::StrCat(": ", said),
                      "; its ca.crt must hold who signed it");
}

std::optional<Certificate> PeerOf(const SSL* session) {
  const std::unique_ptr<X509, decltype(&X509_free)> peer(SSL_get1_peer_certificate(session),
                                                         &X509_free);
  if (peer == nullptr) return std::nullopt;
  return Describe(peer.get());
}

}  // namespace

Diagnosis Diagnose(const std::string& address, const std::string& folder, int64_t timeout_ms) {
  if (!folder.empty()) {
    const absl::Status usable = CheckFolder(folder, UnixNow());
    if (!usable.ok()) return {std::string(usable.message()), std::nullopt};
  }
  const NoPipeSignal no_signal;
  const HostPort to = Split(address);
  const Connection connection(to, MonotonicNow() + timeout_ms * kNsPerMs);
  if (connection.fd() < 0) return {};
  const Context context = MakeContext(folder);
  const Session session(SSL_new(context.get()), &SSL_free);
  Verification verification;
  SSL_set_app_data(session.get(), &verification);
  if (!folder.empty()) ExpectName(session.get(), to.host);
  SSL_set_fd(session.get(), connection.fd());

  unsigned long error = 0;
  Step step = Drive(
      connection, session.get(), [&] { return SSL_connect(session.get()); }, &error);
  Diagnosis found{"", PeerOf(session.get())};
  if (folder.empty()) {
    if (step == Step::kDone || step == Step::kAlert) {
      found.cause = absl::StrCat("the coordinator at ", address,
                                 " expects TLS; name the folder with ca.crt, tls.crt and tls.key: "
                                 "--tls DIR or DYNBENCH_TLS");
    }
    return found;
  }
  if (verification.error != X509_V_OK) {
    found.cause = VerificationText(verification, found.peer, to, folder);
    return found;
  }
  if (step == Step::kNoTls) {
    found.cause = absl::StrCat("what listens at ", address,
                               " speaks no TLS; start the coordinator with --tls, or leave --tls "
                               "(DYNBENCH_TLS) out here");
    return found;
  }
  // With TLS 1.3 the other side looks at our certificate when the handshake is over for us; it
  // begins to speak when it is content.
  char byte = 0;
  if (step == Step::kDone) {
    step = Drive(
        connection, session.get(), [&] { return SSL_read(session.get(), &byte, 1); }, &error);
  }
  if (step == Step::kAlert || (step == Step::kClosed && found.peer)) {
    found.cause = RefusedText(folder, error);
  }
  return found;
}

}  // namespace dynbench::tls
