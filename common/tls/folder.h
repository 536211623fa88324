// The folder that --tls names. Its files have the names that cert-manager and Kubernetes give them:
//
//   ca.crt   certificates of those that sign for the fleet; whoever they signed for may connect
//   tls.crt  this host's certificate, with the chain up to ca.crt
//   tls.key  its private key; nobody but its owner and group may read it
//
// All in PEM format. They are read again when they change: a renewed certificate needs no restart.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "common/base/time.h"
#include "common/tls/certificate.h"

namespace dynbench::tls {

// Warnings begin that long before a certificate ends.
inline constexpr int64_t kWarnDays = 21;

std::string AuthorityFile(const std::string& folder);
std::string CertificateFile(const std::string& folder);
std::string KeyFile(const std::string& folder);

// Whether the files can be used at `now`. InvalidArgument names the file, what is wrong with it and
// what to do: one is missing or no PEM, the key is open to others or of another certificate, the
// certificate is over or not yet valid.
absl::Status CheckFolder(const std::string& folder, UnixTimeMs now);

// Why a certificate that ends at `certificate.valid_until` is no good at `now`, or a warning when
// it ends within kWarnDays; empty: fine. `whose` begins the sentence.
std::string ValidityText(const Certificate& certificate, const std::string& whose, UnixTimeMs now);
bool IsValid(const Certificate& certificate, UnixTimeMs now);

}  // namespace dynbench::tls
