// The blocks of a round of a pair: its samples are taken in as many windows, base and new in turn,
// so that block i of either side was measured within moments of the other side's. The row says so
// in `in_force`, with the median of each block, which outlive the samples. The runner writes them
// and the judge reads them. Pure.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dynbench {

// Entries of `in_force`.
inline constexpr char kWindowBlocks[] = "pair.window_blocks";        // how many; absent: one
inline constexpr char kEagerBlocks[] = "pair.eager_block_ns";        // medians, "812300,815100"
inline constexpr char kCompiledBlocks[] = "pair.compiled_block_ns";  // likewise
inline constexpr char kBlockOrder[] = "pair.block_order";            // "base new, new base, …"

// Of `pairs` samples in `blocks` blocks: the first of block `block`; that of the next is its end.
inline size_t FirstOfBlock(size_t block, size_t blocks, size_t pairs) {
  return block * pairs / blocks;
}

// Medians in nanoseconds, rounded to whole ones.
inline std::string BlockMediansText(const std::vector<double>& medians_ns) {
  std::string text;
  for (const double ns : medians_ns) {
    text += (text.empty() ? "" : ",") + std::to_string(std::llround(ns));
  }
  return text;
}

// Back again; empty where the text is none, or a median is not above 0.
inline std::vector<double> ReadBlockMedians(std::string_view text) {
  std::vector<double> medians;
  while (!text.empty()) {
    int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error != std::errc() || ns <= 0) return {};
    medians.push_back(static_cast<double>(ns));
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) break;
    if (text.front() != ',' || text.size() == 1) return {};
    text.remove_prefix(1);
  }
  return medians;
}

}  // namespace dynbench
