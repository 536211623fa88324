// What people need to know of an X.509 certificate. Thread-safe: free functions and values.
#pragma once

#include <openssl/x509.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/time.h"

namespace dynbench::tls {

struct Certificate {
  std::string subject;  // one line: "CN = coordinator, O = lab"
  std::string issuer;
  std::vector<std::string> names;  // subject alternative names: host names and addresses
  UnixTimeMs valid_from;
  UnixTimeMs valid_until;
  std::string serial;  // hexadecimal
};

// The first certificate of a PEM file. InvalidArgument names the file and what is wrong with it.
absl::StatusOr<Certificate> ReadCertificate(const std::string& path);

Certificate Describe(const X509* certificate);

// "2026-11-30 12:00 UTC".
std::string Date(UnixTimeMs time);

}  // namespace dynbench::tls
