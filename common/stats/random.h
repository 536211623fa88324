// Random numbers that are the same everywhere: the standard fixes the bits of std::mt19937_64 but
// not what its distributions make of them, so these are our own. A verdict that rests on a
// simulation or a bootstrap is then the same on every machine.
//
// The generator is the caller's, passed in and advanced; thread-compatible through it.
#pragma once

#include <cstddef>
#include <random>

namespace dynbench::stats {

using Generator = std::mt19937_64;

// In [0, 1), with 53 random bits.
double Uniform(Generator& generator);

// In [0, n), n > 0 (checked, std::invalid_argument). The bias of scaling is below n / 2^53.
size_t UniformIndex(Generator& generator, size_t n);

// Standard normal (Box and Muller, "A Note on the Generation of Random Normal Deviates", The Annals
// of Mathematical Statistics 29, 1958); two uniform numbers each, none kept.
double Normal(Generator& generator);

}  // namespace dynbench::stats
