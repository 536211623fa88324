#include "worker/runner/phases.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace dynbench::runner {

int64_t NowNs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

Phases::Phases(Send send) : send_(std::move(send)) {}

void Phases::Begin(const std::string& phase) {
  End();
  current_ = phase;
  begin_ns_ = NowNs();
  send_({{"type", "phase"}, {"phase", phase}, {"t_ns", begin_ns_}});
}

void Phases::End() {
  if (current_.empty()) return;
  ended_.push_back({{"phase", current_}, {"duration_ns", NowNs() - begin_ns_}, {"frozen_ns", 0}});
}

nlohmann::json Phases::Finish() {
  End();
  current_.clear();
  return ended_;
}

void Phases::AddSpan(const std::string& name, int64_t begin_ns, int64_t end_ns) {
  spans_[name] = {begin_ns, end_ns};
}

int64_t Phases::FrozenWithin(int64_t begin_ns, int64_t end_ns) const {
  // A process that waits for a window may be frozen in the same moment: what overlaps counts once.
  auto spans = frozen_;
  std::sort(spans.begin(), spans.end());
  int64_t total_ns = 0, counted_to_ns = begin_ns;
  for (const auto& [begin, end] : spans) {
    const int64_t from_ns = std::max(begin, counted_to_ns), to_ns = std::min(end, end_ns);
    if (to_ns <= from_ns) continue;
    total_ns += to_ns - from_ns;
    counted_to_ns = to_ns;
  }
  return total_ns;
}

}  // namespace dynbench::runner
