#include "common/store/blob.h"

#include <bit>

#include "common/base/status.h"

namespace dynbench::store {
namespace {

// Their place in this list is in databases: append only.
constexpr int64_t kPhases = static_cast<int64_t>(plan::Phase::kReport) + 1;

}  // namespace

std::string EncodeInt64s(const std::vector<int64_t>& values) {
  std::string bytes;
  if constexpr (std::endian::native == std::endian::little) {
    bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * 8);
    return bytes;
  }
  bytes.reserve(values.size() * 8);
  for (const int64_t value : values) {
    const auto bits = static_cast<uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) {
      bytes += static_cast<char>((bits >> shift) & 0xff);
    }
  }
  return bytes;
}

absl::StatusOr<std::vector<int64_t>> DecodeInt64s(std::string_view bytes) {
  if (bytes.size() % 8 != 0) {
    return absl::DataLossError(
        absl::StrCat("a blob of int64 has ", bytes.size(), " bytes, which is no multiple of 8"));
  }
  std::vector<int64_t> values;
  values.reserve(bytes.size() / 8);
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) {
      bits |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    }
    values.push_back(static_cast<int64_t>(bits));
  }
  return values;
}

std::string EncodePhases(const std::vector<plan::PhaseSpan>& phases) {
  std::vector<int64_t> values;
  values.reserve(phases.size() * 3);
  for (const plan::PhaseSpan& span : phases) {
    values.push_back(static_cast<int64_t>(span.phase));
    values.push_back(span.duration_ns);
    values.push_back(span.frozen_ns);
  }
  return EncodeInt64s(values);
}

absl::StatusOr<std::vector<plan::PhaseSpan>> DecodePhases(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> values, DecodeInt64s(bytes));
  if (values.size() % 3 != 0) {
    return absl::DataLossError(absl::StrCat("phases have ", values.size(), " numbers, not 3 each"));
  }
  std::vector<plan::PhaseSpan> phases;
  for (size_t at = 0; at < values.size(); at += 3) {
    if (values[at] < 0 || values[at] >= kPhases) {
      return absl::DataLossError(absl::StrCat("there is no phase number ", values[at]));
    }
    phases.push_back({static_cast<plan::Phase>(values[at]), values[at + 1], values[at + 2]});
  }
  return phases;
}

}  // namespace dynbench::store
