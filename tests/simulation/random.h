// Random numbers that are the same on every machine for the same seed (the distributions of the
// standard library are not). SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014. Thread-compatible.
#pragma once

#include <cmath>
#include <cstdint>

namespace dynbench::simulation {

struct Range {
  double low = 0, high = 0;
};

inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Bits() { return Mix(state_++); }
  double Fraction() { return static_cast<double>(Bits() >> 11) * 0x1.0p-53; }  // [0, 1)
  bool Chance(double probability) { return Fraction() < probability; }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }
  double In(const Range& range) { return range.low + Fraction() * (range.high - range.low); }
  int64_t WholeIn(const Range& range) {
    const auto low = static_cast<int64_t>(range.low);
    return low + Below(static_cast<int64_t>(range.high) - low + 1);
  }
  // The time to the next event of a Poisson process, in units of 1 / rate.
  double UntilNext(double rate) { return -std::log(1 - Fraction()) / rate; }

 private:
  uint64_t state_;
};

}  // namespace dynbench::simulation
