#include "worker/process/line_channel.h"

#include <sys/socket.h>

#include <cerrno>

namespace dynbench::worker {
namespace {

constexpr size_t kLongestLineBytes = 64 << 20;

}  // namespace

bool LineChannel::Send(std::string_view line, const std::vector<int>& fds) {
  if (!socket_) return false;
  std::string text(line);
  text += '\n';
  return SendWithFds(socket_.get(), text, fds);
}

void LineChannel::Queue(std::string_view line) {
  if (!socket_) return;
  unsent_ += line;
  unsent_ += '\n';
  Flush();
}

bool LineChannel::Flush() {
  size_t sent = 0;
  while (socket_ && sent < unsent_.size()) {
    const ssize_t n = send(socket_.get(), unsent_.data() + sent, unsent_.size() - sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      unsent_.erase(0, sent);
      return false;
    } else if (errno != EINTR) {
      break;
    }
  }
  unsent_.clear();
  return true;
}

bool LineChannel::Receive() {
  if (!socket_ || buffer_.size() > kLongestLineBytes) return false;
  return ReceiveWithFds(socket_.get(), &buffer_, &fds_) != Received::kEnd;
}

std::optional<std::string> LineChannel::TakeLine() {
  const size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  scanned_ = 0;
  return line;
}

}  // namespace dynbench::worker
