// Where the time of slots went: spans that follow one another without gaps or overlaps, each with
// its one reason (docs/glossary.md). The writes run inside the caller's transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/store.h"

namespace dynbench::store {

struct SlotSpan {
  SlotId slot;
  UnixTimeMs since, until;
  std::string reason;
};

// In this order. A span that begins where a recorded one does takes its place (an open span is
// recorded again and again while it grows, and may turn out shorter); one without length removes
// it. FailedPrecondition: an unknown reason or worker, or an overlap with an earlier span.
absl::Status RecordSpans(Database& db, const std::vector<SlotSpan>& spans);

// The newest span of each slot that its worker offers.
absl::StatusOr<std::vector<SlotSpan>> LastSpans(Database& db);

struct SlotSeconds {
  SlotId slot;
  std::string reason;
  double seconds = 0;
};
// What lies between the two times, by slot and reason; slots in order, the longest reason first.
absl::StatusOr<std::vector<SlotSeconds>> SecondsByReason(Database& db, UnixTimeMs since,
                                                         UnixTimeMs until);

}  // namespace dynbench::store
