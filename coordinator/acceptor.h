// The coordinator's listening sockets, and the thread that accepts from them. gRPC's own (1.51)
// stop listening for ever when they once find no file descriptor left for a connection. These
// refuse connections while few descriptors are left, so that the store, files and the sessions that
// there are keep working, and go on when there is room again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/address.h"

namespace dynbench {

// Descriptors out of `limit` that no connection may use: 64, and a quarter where there are few.
int ReservedDescriptors(int limit);

// Raises the soft limit of open files to the hard one: every connection takes a descriptor.
void RaiseDescriptorLimit();

class Acceptor {
 public:
  // Binds every address that the host's name stands for, port 0 to one free port. Connections wait
  // until Start. Unavailable: the address is in use or unknown, with the reason.
  static absl::StatusOr<std::unique_ptr<Acceptor>> Listen(const Address& address);
  ~Acceptor();  // stops
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  int port() const { return port_; }

  // `connected` owns the descriptor (non-blocking); it is called on the acceptor's thread.
  void Start(std::function<void(int fd)> connected);
  // Closes the sockets; `connected` is not called afterwards.
  void Stop();

 private:
  Acceptor() = default;
  void Run();
  // False when nothing waits there any more, or no descriptor is left.
  bool AcceptOne(int listener);
  void SayFull(int limit);

  std::vector<int> listeners_;
  int port_ = 0;
  int stop_fd_ = -1;  // an eventfd
  std::function<void(int fd)> connected_;
  std::thread thread_;
  int64_t said_full_ns_ = 0;  // the thread's
};

}  // namespace dynbench
