#include "worker/process/fd_passing.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace dynbench::worker {
namespace {

union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kMaxPassedFds)];
};

}  // namespace

std::pair<UniqueFd, UniqueFd> SocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return {};
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

bool SendWithFds(int socket, std::string_view bytes, const std::vector<int>& fds) {
  if (fds.size() > kMaxPassedFds) return false;
  size_t sent = 0;
  while (sent < bytes.size()) {
    iovec part{const_cast<char*>(bytes.data()) + sent, bytes.size() - sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlBuffer control;
    if (sent == 0 && !fds.empty()) {
      memset(&control, 0, sizeof control);
      message.msg_control = control.bytes;
      message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
    }
    const ssize_t n = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait{socket, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Received ReceiveWithFds(int socket, std::string* bytes, std::vector<UniqueFd>* fds) {
  char buffer[65536];
  iovec part{buffer, sizeof buffer};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t n;
  do {
    n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Received::kNothingNow;
  if (n <= 0) return Received::kEnd;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds->emplace_back(fd);
    }
  }
  bytes->append(buffer, static_cast<size_t>(n));
  return Received::kBytes;
}

}  // namespace dynbench::worker
