// Strong types for the identifiers of dynbench, so that two of them are never mixed up.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

namespace dynbench {

// An integer identifier. 0 means "none"; real ones begin at 1.
template <typename Tag>
struct IntId {
  int64_t value = 0;

  constexpr IntId() = default;
  constexpr explicit IntId(int64_t v) : value(v) {}
  explicit operator bool() const { return value != 0; }
  auto operator<=>(const IntId&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const IntId& id) { return out << id.value; }
};

// A textual identifier. Empty means "none".
template <typename Tag>
struct TextId {
  std::string value;

  TextId() = default;
  explicit TextId(std::string v) : value(std::move(v)) {}
  explicit operator bool() const { return !value.empty(); }
  auto operator<=>(const TextId&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const TextId& id) { return out << id.value; }
};

using JobId = IntId<struct JobTag>;                // one submission
using ExperimentId = IntId<struct ExperimentTag>;  // one planned measurement, unique over all jobs
using LeaseEpoch = IntId<struct LeaseTag>;         // a lease; never repeats in the life of a store
using WorkerId = TextId<struct WorkerTag>;         // persistent: one per host and state folder

// One execution of one experiment: the experiment under the lease that carried it. At most one
// attempt exists per (experiment, lease), so the pair is the attempt's identity everywhere.
struct AttemptId {
  ExperimentId experiment;
  LeaseEpoch lease;

  auto operator<=>(const AttemptId&) const = default;
};

// A slot of a worker: `index` counts from 0 on each worker.
struct SlotId {
  WorkerId worker;
  int index = 0;

  auto operator<=>(const SlotId&) const = default;
};

}  // namespace dynbench

template <typename Tag>
struct std::hash<dynbench::IntId<Tag>> {
  size_t operator()(const dynbench::IntId<Tag>& id) const noexcept {
    return std::hash<int64_t>{}(id.value);
  }
};
template <typename Tag>
struct std::hash<dynbench::TextId<Tag>> {
  size_t operator()(const dynbench::TextId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.value);
  }
};
