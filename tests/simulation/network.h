// The network between one worker and the coordinator: streams over a cable that is slow, blocked or
// cut. A stream is ordered, as TCP's are: messages are late or lost from some point on, never
// repeated or exchanged; what repeats is what the spool sends again on a new stream.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dynbench/v1/session.pb.h"
#include "tests/simulation/world.h"

namespace dynbench::simulation {

// What lies between a worker and the coordinator, whatever stream goes over it.
struct Cable {
  Range delay_ms{0.2, 2};
  // Nothing arrives before; then all of it does, unless an end gave up meanwhile.
  MonotonicTime up_blocked_until, down_blocked_until;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Ends {
    std::function<void(const v1::WorkerMessage&)> to_coordinator;
    std::function<void()> coordinator_ended;  // once; the stream is over there
    std::function<void(const v1::CoordinatorMessage&)> to_worker;
    std::function<void()> worker_ended;
  };

  Connection(World* world, Cable* cable, int worker)
      : world_(world), cable_(cable), worker_(worker) {}
  void SetEnds(Ends ends) { ends_ = std::move(ends); }

  void SendUp(v1::WorkerMessage message);
  void SendDown(v1::CoordinatorMessage message);

  // This side ends it; `flush`: after what it sent. The other side hears of it in time.
  void End(Side side, bool flush);
  // This side's process is gone: it hears nothing any more. `silent`: nor does the other side,
  // whose host does not even get a reset.
  void Die(Side side, bool silent);
  // The network ends it: some of what is under way still arrives, on either side.
  void Cut(bool silent);

  bool over(Side side) const { return ends_of(side).over; }

 private:
  struct End_ {
    bool over = false;  // nothing is sent or heard here any more
    bool told = false;
    // Of the messages to this end.
    uint64_t next = 0, limit = UINT64_MAX;
    MonotonicTime last;
  };

  const End_& ends_of(Side side) const {
    return side == Side::kWorker ? worker_end_ : coordinator_end_;
  }
  End_& ends_of(Side side) { return side == Side::kWorker ? worker_end_ : coordinator_end_; }
  static Side Other(Side side) {
    return side == Side::kWorker ? Side::kCoordinator : Side::kWorker;
  }
  // When something sent now arrives at `to`, after all that was sent before.
  MonotonicTime Arrival(Side to);
  template <typename Message>
  void Send(Side from, Message message);
  // From now on only a random part of what is under way to `to` arrives.
  void LoseSome(Side to);
  void TellEnd(Side side, MonotonicTime when);
  void Tap(Moment moment, Side from, const char* message, const std::string& detail);

  World* const world_;
  Cable* const cable_;
  const int worker_;
  Ends ends_;
  End_ worker_end_, coordinator_end_;
  bool silent_ = false;
};

}  // namespace dynbench::simulation
