// Fisher's exact test of two shares, one-sided: is the first larger than the second? (Fisher, "The
// Logic of Inductive Inference", Journal of the Royal Statistical Society 98, 1935.) For counts so
// small that no approximation holds.
//
// Preconditions (checked, std::invalid_argument): no count is negative, hits are at most their
// number. Thread-safe: no state.
#pragma once

#include <cstdint>

namespace dynbench::stats {

struct Share {
  int64_t hits = 0, of = 0;
};

// The probability of as many hits in `one` or more, had both the same share; 1 when either is
// empty.
double FisherGreater(Share one, Share other);

}  // namespace dynbench::stats
