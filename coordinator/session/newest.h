// The newest values of something, up to a number: an older one makes room. In no order.
#pragma once

#include <cstddef>
#include <vector>

namespace dynbench::session {

template <typename T>
class Newest {
 public:
  // `kept` is the same in every call.
  void Add(T value, size_t kept) {
    if (values_.size() < kept) {
      values_.push_back(value);
      return;
    }
    values_[oldest_] = value;
    oldest_ = (oldest_ + 1) % kept;
  }

  const std::vector<T>& values() const { return values_; }

 private:
  std::vector<T> values_;
  size_t oldest_ = 0;
};

}  // namespace dynbench::session
