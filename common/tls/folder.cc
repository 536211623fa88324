#include "common/tls/folder.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace dynbench::tls {
namespace {

constexpr int64_t kMsPerDay = 86'400'000;

absl::Status Refused(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--tls: ", path, ": ", why));
}

absl::Status CheckKeyMode(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Refused(path, std::strerror(errno));
  if ((info.st_mode & (S_IRWXO | S_IWGRP)) == 0) return absl::OkStatus();
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", info.st_mode & 07777U);
  return Refused(path, absl::StrCat("the private key is open to others (mode ", mode,
                                    "); chmod 600 it, and renew it if others were here"));
}

// The key reads and belongs to the certificate.
absl::Status CheckKey(const std::string& folder) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()),
                                                                  &SSL_CTX_free);
  if (SSL_CTX_use_certificate_chain_file(context.get(), CertificateFile(folder).c_str()) != 1) {
    return Refused(CertificateFile(folder), "cannot be used as a certificate");
  }
  // A key with a passphrase is not asked for one.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  const std::unique_ptr<FILE, decltype(&fclose)> file(fopen(KeyFile(folder).c_str(), "re"),
                                                      &fclose);
  if (file == nullptr) return Refused(KeyFile(folder), std::strerror(errno));
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_PrivateKey(
          file.get(), nullptr, [](char*, int, int, void*) { return 0; }, nullptr),
      &EVP_PKEY_free);
  if (key == nullptr) {
    return Refused(KeyFile(folder), "no private key in PEM format without a passphrase");
  }
  if (X509_check_private_key(SSL_CTX_get0_certificate(context.get()), key.get()) != 1) {
    return Refused(KeyFile(folder), absl::StrCat("is the key of another certificate than ",
                                                 CertificateFile(folder)));
  }
  return absl::OkStatus();
}

}  // namespace

std::string AuthorityFile(const std::string& folder) { return folder + "/ca.crt"; }
std::string CertificateFile(const std::string& folder) { return folder + "/tls.crt"; }
std::string KeyFile(const std::string& folder) { return folder + "/tls.key"; }

bool IsValid(const Certificate& certificate, UnixTimeMs now) {
  return certificate.valid_from <= now && now < certificate.valid_until;
}

std::string ValidityText(const Certificate& certificate, const std::string& whose, UnixTimeMs now) {
  if (now < certificate.valid_from) {
    return absl::StrCat(whose, " is valid from ", Date(certificate.valid_from), " only, and it is ",
                        Date(now), " here; is this host's clock right?");
  }
  if (now >= certificate.valid_until) {
    return absl::StrCat(whose, " expired on ", Date(certificate.valid_until), " (it is ", Date(now),
                        " here); renew it, no restart is needed");
  }
  const int64_t days = (certificate.valid_until.ms - now.ms) / kMsPerDay;
  if (days >= kWarnDays) return "";
  return absl::StrCat(whose, " expires on ", Date(certificate.valid_until), ", in ", days,
                      days == 1 ? " day" : " days", "; renew it, no restart is needed");
}

absl::Status CheckFolder(const std::string& folder, UnixTimeMs now) {
  for (const std::string& path : {AuthorityFile(folder), CertificateFile(folder)}) {
    const auto certificate = ReadCertificate(path);
    if (!certificate.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--tls: ", std::string(certificate.status().message()),
                       "; the folder wants ca.crt, tls.crt and tls.key"));
    }
    if (!IsValid(*certificate, now)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--tls: ", ValidityText(*certificate, path, now)));
    }
  }
  RETURN_IF_ERROR(CheckKeyMode(KeyFile(folder)));
  return CheckKey(folder);
}

}  // namespace dynbench::tls
