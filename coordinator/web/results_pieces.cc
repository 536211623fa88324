#include "coordinator/web/results_pieces.h"

#include <algorithm>

#include "common/base/status.h"
#include "common/formats/results_text.h"
#include "coordinator/control/jobs.h"

namespace dynbench::web {
namespace {

constexpr int64_t kRowsPerPiece = 300;  // about half a megabyte of text

}  // namespace

absl::StatusOr<PieceStream::Piece> ResultsPieces::Make(store::Database& db, int number) {
  if (number == 0) return Head(db);
  const int64_t ids = ids_.last ? ids_.last.value - ids_.first.value + 1 : 0;
  const int64_t pieces = (ids + kRowsPerPiece - 1) / kRowsPerPiece;
  if (number > pieces) return PieceStream::Piece{formats::ResultsTail(), /*last=*/true};
  const int64_t first = ids_.first.value + (number - 1) * kRowsPerPiece;
  const int64_t last = std::min(first + kRowsPerPiece - 1, ids_.last.value);
  return Rows(db, {ExperimentId(first), ExperimentId(last)}, number == 1);
}

absl::StatusOr<PieceStream::Piece> ResultsPieces::Head(store::Database& db) {
  ASSIGN_OR_RETURN(const auto job, control::LoadJob(context_, db, job_));
  ASSIGN_OR_RETURN(ids_, store::RangeOf(db, job_));
  return PieceStream::Piece{formats::ResultsHead(job.job)};
}

absl::StatusOr<PieceStream::Piece> ResultsPieces::Rows(store::Database& db,
                                                       const store::ExperimentRange& range,
                                                       bool first) const {
  formats::ResultsText text(first);
  RETURN_IF_ERROR(store::VisitResults(
      db, job_, range, [&text](const store::ResultRow& row) { return text.Add(row); }));
  return PieceStream::Piece{text.Take()};
}

}  // namespace dynbench::web
