// One worker as the coordinator sees it, without a host behind it: it speaks the session protocol
// of docs/protocol.md, takes leases and answers each experiment with a result that has the size of
// a real one (30 samples a side, figures, phases). Hundreds of them share a thread and a completion
// queue. For the benches of tests/bench only.
//
// Like a real worker it keeps what is not acknowledged, names its leases when it reconnects, sends
// unacknowledged results again, and dials by the same rules (proto/dynbench/reconnect.h).
// Thread-compatible: the thread of its queue owns it.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "dynbench/v1/session.grpc.pb.h"

namespace dynbench::load {

// What all workers of a run share and report to.
struct Totals {
  int64_t connected = 0;     // welcomed and not lost since
  int64_t acknowledged = 0;  // results
  int64_t leases = 0;        // received
  int64_t leased = 0;        // experiments in them
  int64_t revoked = 0;       // experiments that the coordinator took back
  int64_t lost_streams = 0;
  int64_t refused = 0;
  // From the acknowledgement of a lease's last result to the next lease, as received.
  std::vector<int64_t> assignment_ns;
};

class LoadWorker;

// Results that may be sent now or, with a rate, when their turn comes.
struct Ready {
  LoadWorker* worker;
  int64_t experiment;
  int64_t lease;
};

struct Shared {
  grpc::CompletionQueue queue;
  Totals totals;
  std::deque<Ready> ready;
  std::multimap<MonotonicTime, LoadWorker*> redials;  // who opens a stream again, and when
  std::minstd_rand random{std::random_device{}()};
  v1::Result result;    // what every attempt answers
  bool starts = false;  // AttemptStarted before each result
  bool stopping = false;
  int64_t process_start_unix_ms = 0;
};

// A result of a performance test, with `samples` a side.
v1::Result MakeResult(int samples);

class LoadWorker {
 public:
  enum class Op { kStart, kRead, kWrite, kFinish };
  struct Tag {
    LoadWorker* worker;
    Op op;
  };

  LoadWorker(std::string id, v1::WorkerSession::Stub* stub, Shared* shared);
  LoadWorker(const LoadWorker&) = delete;
  LoadWorker& operator=(const LoadWorker&) = delete;

  // Opens a stream; where that fails, again after a while, for ever.
  void Connect();
  // An event of the completion queue.
  void Proceed(Op op, bool ok);
  // Also ends a stream on which nothing was heard for too long.
  void Beat();
  // Sends the result, unless it was revoked meanwhile.
  void Complete(int64_t experiment, int64_t lease);
  // Ends the stream for good.
  void Stop();

  bool welcomed() const { return welcomed_; }
  bool over() const { return stream_ == nullptr; }

 private:
  using Stream = grpc::ClientAsyncReaderWriter<v1::WorkerMessage, v1::CoordinatorMessage>;

  v1::WorkerMessage Hello() const;
  void Send(v1::WorkerMessage message);
  void WriteNext();
  void OnMessage();
  void OnLease(const v1::Lease& lease);
  void OnAcknowledged(const v1::AttemptId& attempt);
  void OnRevoke(const v1::Revoke& revoke);
  void Drop(int64_t experiment, int64_t lease);
  // An operation failed: once none is under way, the stream is finished and opened again.
  void Fail();
  void RedialLater();

  struct Held {
    std::map<int64_t, bool> experiments;  // id -> its result was sent, not acknowledged
  };

  const std::string id_;
  v1::WorkerSession::Stub* const stub_;
  Shared* const shared_;
  Tag start_{this, Op::kStart}, read_{this, Op::kRead}, write_{this, Op::kWrite},
      finish_{this, Op::kFinish};
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<Stream> stream_;
  grpc::Status status_;
  v1::CoordinatorMessage incoming_;
  std::deque<v1::WorkerMessage> outgoing_;
  bool writing_ = false;
  bool reading_ = false;
  bool failed_ = false;
  bool welcomed_ = false;
  int failures_ = 0;  // to be welcomed, in a row
  MonotonicTime last_heard_;
  std::map<int64_t, Held> leases_;
  int64_t freed_ns_ = 0;  // when the last result of a lease was acknowledged; 0: no slot is free
};

}  // namespace dynbench::load
