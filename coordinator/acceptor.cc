#include "coordinator/acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/time.h"
#include "proto/dynbench/keepalive.h"
#include "spdlog/spdlog.h"

namespace dynbench {
namespace {

constexpr int kReserved = 64;
constexpr int kRestMs = 100;  // when a connection could not be accepted
constexpr int64_t kSayFullEveryNs = 60 * kNsPerSecond;

int DescriptorLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 1024;
  return static_cast<int>(std::min<rlim_t>(files.rlim_cur, 1 << 30));
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port)
                                       : ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// A socket that listens, or -1 with errno.
int ListenOn(const addrinfo& info, int port) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_storage address{};
  memcpy(&address, info.ai_addr, info.ai_addrlen);
  if (info.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address)->sin6_port = htons(static_cast<uint16_t>(port));
  } else {
    reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<uint16_t>(port));
  }
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), info.ai_addrlen) == 0 &&
      listen(fd, SOMAXCONN) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// As gRPC sets up the connections that it accepts itself.
void Prepare(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const int timeout_ms = proto::kKeepaliveTimeoutMs;
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
}

}  // namespace

int ReservedDescriptors(int limit) { return std::min(kReserved, limit / 4); }

void RaiseDescriptorLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(const Address& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  std::string why;
  std::unique_ptr<Acceptor> acceptor(new Acceptor());
  const int code =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (code != 0) why = gai_strerror(code);
  acceptor->port_ = address.port;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6) continue;
    const int fd = ListenOn(*info, acceptor->port_);
    if (fd >= 0) {
      acceptor->listeners_.push_back(fd);
      acceptor->port_ = PortOf(fd);
    } else if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL) {
      why = std::strerror(errno);
      break;  // half of a name would be somebody else's
    } else if (why.empty()) {
      why = std::strerror(errno);
    }
  }
  if (found != nullptr) freeaddrinfo(found);
  acceptor->stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const bool in_use = !why.empty() && why == std::strerror(EADDRINUSE);
  if (!acceptor->listeners_.empty() && !in_use && acceptor->stop_fd_ >= 0) return acceptor;
  return absl::UnavailableError(absl::StrCat(
      "cannot listen on ", address.ToString(), " (", why.empty() ? "unknown reason" : why,
      "); stop the program that uses it or choose another address with --listen"));
}

Acceptor::~Acceptor() {
  Stop();
  if (stop_fd_ >= 0) close(stop_fd_);
}

void Acceptor::Start(std::function<void(int fd)> connected) {
  connected_ = std::move(connected);
  thread_ = std::thread([this] { Run(); });
}

void Acceptor::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(stop_fd_, &one, sizeof one);
    thread_.join();
  }
  for (const int fd : std::exchange(listeners_, {})) close(fd);
}

void Acceptor::Run() {
  std::vector<pollfd> ready;
  for (const int fd : listeners_) ready.push_back({fd, POLLIN, 0});
  ready.push_back({stop_fd_, POLLIN, 0});
  while (true) {
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    if (ready.back().revents != 0) return;
    for (size_t i = 0; i + 1 < ready.size(); ++i) {
      while (ready[i].revents != 0 && AcceptOne(ready[i].fd)) {
      }
    }
  }
}

bool Acceptor::AcceptOne(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    if (error == EINTR || error == ECONNABORTED) return true;
    if (error == EAGAIN || error == EWOULDBLOCK) return false;
    if (error == EMFILE || error == ENFILE) SayFull(DescriptorLimit());
    pollfd stop{stop_fd_, POLLIN, 0};
    poll(&stop, 1, kRestMs);
    return false;
  }
  // The lowest free number is given, so it says how many are in use. The limit can be changed from
  // outside, and is read each time.
  const int limit = DescriptorLimit();
  if (fd >= limit - ReservedDescriptors(limit)) {
    close(fd);
    SayFull(limit);
    return true;
  }
  Prepare(fd);
  connected_(fd);
  return true;
}

void Acceptor::SayFull(int limit) {
  const int64_t now_ns = MonotonicNow().ns;
  if (said_full_ns_ != 0 && now_ns - said_full_ns_ < kSayFullEveryNs) return;
  said_full_ns_ = now_ns;
  spdlog::warn(
      "refuses connections: nearly all of the {} file descriptors are in use; raise the limit "
      "(ulimit -n, LimitNOFILE=)",
      limit);
}

}  // namespace dynbench
