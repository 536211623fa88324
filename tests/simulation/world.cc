#include "tests/simulation/world.h"

#include "absl/strings/str_format.h"

namespace dynbench::simulation {
namespace {

constexpr size_t kKept = 120;  // events that a failure prints

}  // namespace

void World::Note(const char* what, int64_t who, int64_t a, int64_t b) {
  // The text stands for itself by its first letters: addresses differ between two runs.
  hash_ = Mix(hash_ ^ static_cast<uint64_t>(now().ns) ^ (static_cast<uint64_t>(what[0]) << 56) ^
              (static_cast<uint64_t>(who) << 40) ^ (static_cast<uint64_t>(a) << 20) ^
              static_cast<uint64_t>(b));
  const Noted noted{now(), what, who, a, b};
  if (ring_.size() < kKept) {
    ring_.push_back(noted);
  } else {
    ring_[next_] = noted;
    next_ = (next_ + 1) % kKept;
  }
}

std::string World::Trace() const {
  std::string text;
  for (size_t i = 0; i < ring_.size(); ++i) {
    const Noted& n = ring_[(next_ + i) % ring_.size()];
    absl::StrAppendFormat(&text, "%14.6f  %-34s", static_cast<double>(n.at.ns) / kNsPerSecond,
                          n.what);
    if (n.who >= 0) absl::StrAppendFormat(&text, " worker %d", n.who);
    if (n.a != 0) absl::StrAppendFormat(&text, " experiment %d", n.a);
    if (n.b != 0) absl::StrAppendFormat(&text, " lease %d", n.b);
    text += '\n';
  }
  return text;
}

void World::Violate(const std::string& what) {
  if (!violated()) violation_ = what;
}

}  // namespace dynbench::simulation
