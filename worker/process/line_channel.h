// Text lines over a stream socket, descriptors beside them: the transport of
// worker/runner/PROTOCOL.md. Only std and POSIX: the runner compiles this file too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/process/fd_passing.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// One end of a conversation. Thread-compatible: one thread reads and writes.
class LineChannel {
 public:
  LineChannel() = default;
  explicit LineChannel(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool open() const { return static_cast<bool>(socket_); }
  void Close() { socket_.reset(); }

  // Sends `line` (without its end) and `fds` beside it. False when the peer is gone.
  bool Send(std::string_view line, const std::vector<int>& fds = {});

  // Sends `line` and never waits for the peer: what the socket does not take is kept for Flush. Not
  // to be mixed with Send, which knows nothing of what is kept.
  void Queue(std::string_view line);
  // False when something is still kept. What is kept for a peer that is gone is dropped.
  bool Flush();

  // Receives once (waits when the socket is blocking). False at end of file, on an error, or when a
  // line passes 64 MiB; lines that came before can still be taken.
  bool Receive();

  // The next whole line, without its end; nothing when none is complete. Lines before descriptors:
  // those that came so far are in TakeFds, in order.
  std::optional<std::string> TakeLine();
  std::vector<UniqueFd> TakeFds() { return std::move(fds_); }

 private:
  UniqueFd socket_;
  std::string unsent_;
  std::string buffer_;
  size_t scanned_ = 0;  // no line end before this
  std::vector<UniqueFd> fds_;
};

}  // namespace dynbench::worker
