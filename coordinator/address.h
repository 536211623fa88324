// HOST:PORT as typed.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace dynbench {

struct Address {
  std::string host;  // without brackets
  int port = 0;

  std::string ToString() const;  // [HOST]:PORT for IPv6
  bool IsLoopback() const;       // localhost, 127.0.0.0/8, ::1
};

// InvalidArgument names `flag`.
absl::StatusOr<Address> ParseAddress(const std::string& text, const std::string& flag);

}  // namespace dynbench
