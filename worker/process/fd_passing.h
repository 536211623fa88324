// Socket pairs and descriptors sent beside bytes (SCM_RIGHTS). Only std and POSIX: the runner
// compiles this file too.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/process/unique_fd.h"

namespace dynbench::worker {

// The most descriptors that travel beside one message.
inline constexpr int kMaxPassedFds = 16;

// Two connected stream sockets, both close-on-exec. Both empty on failure (errno says why).
std::pair<UniqueFd, UniqueFd> SocketPair();

// Sends all of `bytes`, `fds` beside the first byte. Waits when the socket is full, also when it is
// non-blocking. False when the peer is gone. Never raises SIGPIPE. The caller keeps its
// descriptors.
bool SendWithFds(int socket, std::string_view bytes, const std::vector<int>& fds);

enum class Received { kBytes, kNothingNow, kEnd };
// One recvmsg: appends what came to `bytes` and `fds` (close-on-exec). kNothingNow only on a
// non-blocking socket; kEnd at end of file or on an error.
Received ReceiveWithFds(int socket, std::string* bytes, std::vector<UniqueFd>* fds);

}  // namespace dynbench::worker
