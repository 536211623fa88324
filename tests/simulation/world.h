// What everything in one simulated episode shares: time, chance, a trace of what happened and the
// first broken promise. Thread-compatible.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "tests/simulation/random.h"
#include "tests/simulation/timeline.h"

namespace dynbench::simulation {

enum class Side { kWorker, kCoordinator };
enum class Moment { kBeforeSend, kAfterSend, kBeforeReceive, kAfterReceive };

// One message at one end of its way; for the kill matrix, which ends a process there.
struct MessageMoment {
  Moment moment = Moment::kBeforeSend;
  Side from = Side::kWorker;
  const char* message = "";  // its field in WorkerMessage or CoordinatorMessage
  int worker = 0;
  std::string detail = {};  // of an environment: the order's action, the report's state
};

class World {
 public:
  explicit World(uint64_t seed) : random(seed), seed_(seed) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Timeline timeline;
  Random random;
  // Called at every moment of every message when set.
  std::function<void(const MessageMoment&)> tap;

  uint64_t seed() const { return seed_; }
  MonotonicTime now() const { return timeline.now(); }
  // The calendar, which jumps while time goes on.
  UnixTimeMs unix_now() const {
    return {1'790'000'000'000 + now().ns / kNsPerMs + calendar_offset_ms};
  }
  int64_t calendar_offset_ms = 0;

  // `what` is a literal. The last events of a failed episode are printed.
  void Note(const char* what, int64_t who, int64_t a = 0, int64_t b = 0);
  std::string Trace() const;
  // Over all events; two runs of one seed have the same.
  uint64_t trace_hash() const { return hash_; }

  // A promise was broken. The first one counts.
  void Violate(const std::string& what);
  bool violated() const { return !violation_.empty(); }
  const std::string& violation() const { return violation_; }

 private:
  struct Noted {
    MonotonicTime at;
    const char* what;
    int64_t who, a, b;
  };

  const uint64_t seed_;
  std::vector<Noted> ring_;
  size_t next_ = 0;
  uint64_t hash_ = 0;
  std::string violation_;
};

}  // namespace dynbench::simulation
