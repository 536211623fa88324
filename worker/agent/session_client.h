// The worker's end of the session: one bidirectional stream that it opens, and opens again for
// ever.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dynbench/v1/session.grpc.pb.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

// Methods and handlers belong to the agent's loop, which outlives the client.
class SessionClient {
 public:
  struct Handlers {
    std::function<v1::Hello()> hello;  // for each new stream
    std::function<void(const v1::Welcome&)> welcome;
    std::function<void(const v1::CoordinatorMessage&)> message;  // all others
    std::function<void(const std::string& reason)> lost;         // once for each stream
  };

  // `tls`: folder with certificates (common/tls/folder.h); empty: no TLS.
  SessionClient(EventLoop* loop, std::string coordinator, std::string tls, Handlers handlers);
  ~SessionClient();  // ends the stream and waits for it

  void Start();
  // Messages before Welcome, and while there is no stream, are dropped: what matters is in the
  // spool or in the next Hello.
  void Send(v1::WorkerMessage message);
  bool connected() const { return welcomed_; }
  // What is still to be written to the network. Thread-safe.
  bool flushed() const;

  // For calls of others beside the stream.
  std::shared_ptr<grpc::Channel> channel() const { return channel_; }

  // Fetches a file whole. Blocks (at most a minute); thread-safe.
  absl::StatusOr<std::string> FetchFile(const std::string& sha256);

 private:
  class Stream;

  void Open();
  void OnMessage(int64_t generation, const v1::CoordinatorMessage& message);
  void OnDone(int64_t generation, const std::string& reason);
  void CheckSilence();
  // What `reason`, of a stream on which nobody answered, comes of, in words where TLS is it. On
  // gRPC's thread; blocks for a second at most.
  std::string LookIntoFailure(std::string reason);

  EventLoop* loop_;
  const std::string coordinator_;
  const std::string tls_;
  const Handlers handlers_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkerSession::Stub> stub_;
  std::unique_ptr<Stream> stream_;  // until its end is told
  int64_t generation_ = 0;          // of the stream; what an older one says is ignored
  bool welcomed_ = false;
  int failures_ = 0;
  // Of LookIntoFailure, and so of one stream after the other.
  int64_t diagnosed_ns_ = 0;  // 0: never
  std::string cause_;
  int64_t last_heard_ns_ = 0;
  int64_t beat_interval_ms_ = 5'000;
  EventLoop::TimerId reconnect_timer_ = 0;
  EventLoop::TimerId silence_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dynbench::worker
