#include "worker/agent/live_log.h"

#include <algorithm>

namespace dynbench::worker {

void LiveLog::Append(std::string_view bytes) {
  MutexLock lock(mu_);
  kept_.append(bytes);
  // Trimmed by halves, so that a flood moves each byte once.
  if (kept_.size() <= 2 * cap_bytes_) return;
  const size_t excess = kept_.size() - cap_bytes_;
  kept_.erase(0, excess);
  dropped_ += static_cast<int64_t>(excess);
}

LiveLog::Piece LiveLog::Read(int64_t offset, size_t limit) const {
  MutexLock lock(mu_);
  Piece piece;
  piece.offset = std::max(offset, dropped_);
  const size_t begin = static_cast<size_t>(piece.offset - dropped_);
  if (begin < kept_.size()) piece.bytes = kept_.substr(begin, limit);
  return piece;
}

}  // namespace dynbench::worker
