#include "coordinator/web/piece_stream.h"

#include <utility>

#include "common/base/check.h"

namespace dynbench::web {

PieceStream::PieceStream(session::QueryPool* pool, Make make, std::chrono::milliseconds patience)
    : pool_(pool), make_(std::make_shared<const Make>(std::move(make))), patience_(patience) {}

void PieceStream::Begin(size_t ahead) {
  while (begun_.size() < ahead) {
    auto made = std::make_shared<std::promise<absl::StatusOr<Piece>>>();
    Begun& begun = begun_.emplace_back();
    begun.piece = made->get_future();
    begun.queued = pool_->Run([make = make_, made, number = next_++](store::Database& db) {
      made->set_value((*make)(db, number));
    });
  }
}

absl::StatusOr<PieceStream::Piece> PieceStream::Take() {
  CHECK(!begun_.empty()) << "no piece was begun";
  Begun begun = std::move(begun_.front());
  begun_.pop_front();
  if (!begun.queued.ok()) return begun.queued;
  if (begun.piece.wait_for(patience_) != std::future_status::ready) {
    return absl::UnavailableError("the coordinator is too busy to answer; try again");
  }
  return begun.piece.get();
}

}  // namespace dynbench::web
