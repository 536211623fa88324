// The end of a running attempt's log, for whoever watches it. The engine appends, the agent takes;
// a flood costs no more memory than the cap.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/mutex.h"

namespace dynbench::worker {

// Thread-safe.
class LiveLog {
 public:
  explicit LiveLog(size_t cap_bytes = 1 << 20) : cap_bytes_(cap_bytes) {}

  void Append(std::string_view bytes) EXCLUDES(mu_);

  struct Piece {
    int64_t offset =
        0;  // of the first byte; larger than asked for when what is between was dropped
    std::string bytes;
  };
  // At most `limit` bytes from `offset` on.
  Piece Read(int64_t offset, size_t limit) const EXCLUDES(mu_);

 private:
  const size_t cap_bytes_;
  mutable Mutex mu_;
  std::string kept_ GUARDED_BY(mu_);
  int64_t dropped_ GUARDED_BY(mu_) = 0;  // bytes before kept_
};

}  // namespace dynbench::worker
