// Why a connection to a coordinator fails, in words. gRPC says "failed to connect to all addresses"
// or lets the deadline pass, whatever it was; this makes one handshake of its own and looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/tls/certificate.h"

namespace dynbench::tls {

struct Diagnosis {
  // With the next step. Empty: TLS is not what is wrong, or nothing answers at the address.
  std::string cause;
  // The coordinator's certificate, where it showed one.
  std::optional<Certificate> peer;
};

// Connects to HOST:PORT as `folder` says (empty: without TLS), for `timeout_ms` at most. Blocks.
// Thread-safe. The coordinator learns nothing but that somebody connected and left.
Diagnosis Diagnose(const std::string& address, const std::string& folder,
                   int64_t timeout_ms = 2000);

}  // namespace dynbench::tls
