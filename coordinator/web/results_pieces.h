// A job's results (dynbench.results/1) as the pieces of a PieceStream: what comes before the rows,
// then the rows of a range of ids each, then the end.
//
// Thread-safe once the first piece is made.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/store/queries.h"
#include "coordinator/control/context.h"
#include "coordinator/web/piece_stream.h"

namespace dynbench::web {

class ResultsPieces {
 public:
  ResultsPieces(control::Context context, JobId job) : context_(std::move(context)), job_(job) {}

  // As PieceStream::Make; the first piece is made before others are begun. NotFound (of the first
  // one) names the newest job.
  absl::StatusOr<PieceStream::Piece> Make(store::Database& db, int number);

 private:
  absl::StatusOr<PieceStream::Piece> Head(store::Database& db);
  absl::StatusOr<PieceStream::Piece> Rows(store::Database& db, const store::ExperimentRange& range,
                                          bool first) const;

  const control::Context context_;
  const JobId job_;
  store::ExperimentRange ids_;  // of all rows; the first piece sets it
};

}  // namespace dynbench::web
