#include "coordinator/address.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace dynbench {

std::string Address::ToString() const {
  return host.find(':') == std::string::npos ? absl::StrCat(host, ":", port)
                                             : absl::StrCat("[", host, "]:", port);
}

bool Address::IsLoopback() const {
  return host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

absl::StatusOr<Address> ParseAddress(const std::string& text, const std::string& flag) {
  Address address;
  const size_t colon = text.rfind(':');
  bool good = colon != std::string::npos && colon > 0 &&
              absl::SimpleAtoi(text.substr(colon + 1), &address.port) && address.port >= 0 &&
              address.port <= 65535;
  if (good) {
    address.host = text.substr(0, colon);
    const bool bracketed = address.host.front() == '[' && address.host.back() == ']';
    if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
    good = !address.host.empty() && (bracketed || address.host.find(':') == std::string::npos);
  }
  if (good) return address;
  return absl::InvalidArgumentError(absl::StrCat(
      flag, " ", text, " is no HOST:PORT; write for example 127.0.0.1:7411 or [::1]:7411"));
}

}  // namespace dynbench
