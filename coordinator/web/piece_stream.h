// A text that is made in pieces on the query pool, several at once. Who begins some before sending
// the one before has a text of any length in the memory of a few pieces, and sent while it is made.
//
// Thread-compatible: the HTTP thread of its request has it.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/session/query_pool.h"

namespace dynbench::web {

class PieceStream {
 public:
  struct Piece {
    std::string text;
    bool last = false;
  };
  // Makes the piece of this number, from 0 on; one beyond the last, which nobody takes, may be
  // begun. Runs on the pool's threads, for several pieces at once where several were begun, and may
  // outlive the stream.
  using Make = std::function<absl::StatusOr<Piece>(store::Database&, int number)>;

  // `patience`: how long Take waits.
  PieceStream(session::QueryPool* pool, Make make, std::chrono::milliseconds patience);

  // Has further pieces made until `ahead` are begun that were not taken yet.
  void Begin(size_t ahead = 1);
  // The oldest of those; there must be one. Unavailable: it was not made in time;
  // ResourceExhausted: the pool is full; else what `make` returned.
  absl::StatusOr<Piece> Take();

 private:
  struct Begun {
    absl::Status queued;
    std::future<absl::StatusOr<Piece>> piece;
  };

  session::QueryPool* const pool_;
  const std::shared_ptr<const Make> make_;
  const std::chrono::milliseconds patience_;
  std::deque<Begun> begun_;
  int next_ = 0;
};

}  // namespace dynbench::web
