// When the checks of a slot are due and what they say of it. Pure: times are arguments, monotonic
// milliseconds. Thread-compatible.
//
//   unchecked ──Begin──► checking ──Passed──► healthy
//       ▲                   │                    │ device error, or kTroubles infrastructure
//       │                   ▼                    │ failures in a row, or asked
//       └── due again ── failed ◄────────────────┘ (unchecked)
#pragma once

#include <cstdint>
#include <string>

namespace dynbench::worker {

class SlotHealth {
 public:
  // Infrastructure failures in a row after which a slot is looked at again.
  static constexpr int kTroubles = 3;
  static constexpr int64_t kFirstRecheckMs = 10'000;
  static constexpr int64_t kLastRecheckMs = 600'000;

  explicit SlotHealth(int64_t first_recheck_ms = kFirstRecheckMs)
      : first_recheck_ms_(first_recheck_ms) {}

  // Whether the checks should begin now. False while they run.
  bool Due(int64_t now_ms) const;
  void Begin();
  void Passed();
  // The next look comes after a time that doubles with each failure.
  void Failed(const std::string& check, const std::string& reason, int64_t now_ms);

  void Trouble();      // an infrastructure failure
  void Worked();       // a result: the row of failures is broken
  void DeviceError();  // look before anything else runs
  void Recheck();      // asked: now, and the back-off begins anew

  bool healthy() const { return stage_ == Stage::kHealthy; }
  bool failed() const { return !failed_check_.empty(); }
  // Has it ever passed? Before that, nothing must run.
  bool first() const { return !passed_once_; }
  // Why the slot takes nothing, as a word of the protocol ("preflight", "quarantined"; empty: it
  // takes work) and in words.
  std::string State() const;
  std::string Reason() const;
  const std::string& failed_check() const { return failed_check_; }
  // When to ask Due again; -1: nothing will change by itself.
  int64_t next_ms() const { return stage_ == Stage::kFailed ? due_ms_ : -1; }

 private:
  enum class Stage { kUnchecked, kChecking, kHealthy, kFailed };

  const int64_t first_recheck_ms_;
  Stage stage_ = Stage::kUnchecked;
  bool passed_once_ = false;
  bool again_ = false;  // asked while the checks ran
  int troubles_ = 0;
  int failures_ = 0;
  int64_t due_ms_ = 0;
  std::string failed_check_, reason_;
};

}  // namespace dynbench::worker
