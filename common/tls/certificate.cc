#include "common/tls/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace dynbench::tls {
namespace {

std::string OneLine(const X509_NAME* name) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(BIO_new(BIO_s_mem()), &BIO_free_all);
  // Commas between parts, and letters beyond ASCII as they are.
  X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
  char* data = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : "(no name)";
}

UnixTimeMs TimeOf(const ASN1_TIME* time) {
  tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return {timegm(&parts) * int64_t{1000}};
}

std::string AddressText(const ASN1_OCTET_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return "?";
  inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof text);
  return text;
}

std::vector<std::string> NamesOf(const X509* certificate) {
  std::vector<std::string> names;
  auto* found = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(found); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found, i);
    if (name->type == GEN_DNS) {
      const ASN1_IA5STRING* text = name->d.dNSName;
      names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                         static_cast<size_t>(ASN1_STRING_length(text)));
    } else if (name->type == GEN_IPADD) {
      names.push_back(AddressText(name->d.iPAddress));
    }
  }
  GENERAL_NAMES_free(found);
  return names;
}

std::string SerialOf(const X509* certificate) {
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  char* hex = BN_bn2hex(number);
  std::string serial = hex == nullptr ? "" : hex;
  OPENSSL_free(hex);
  BN_free(number);
  return serial;
}

}  // namespace

Certificate Describe(const X509* certificate) {
  return {OneLine(X509_get_subject_name(certificate)),
          OneLine(X509_get_issuer_name(certificate)),
          NamesOf(certificate),
          TimeOf(X509_get0_notBefore(certificate)),
          TimeOf(X509_get0_notAfter(certificate)),
          SerialOf(certificate)};
}

absl::StatusOr<Certificate> ReadCertificate(const std::string& path) {
  const std::unique_ptr<FILE, decltype(&fclose)> file(fopen(path.c_str(), "re"), &fclose);
  if (file == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_X509(file.get(), nullptr, nullptr, nullptr), &X509_free);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no certificate in PEM format (-----BEGIN CERTIFICATE-----)"));
  }
  return Describe(certificate.get());
}

std::string Date(UnixTimeMs time) {
  const time_t seconds = time.ms / 1000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

}  // namespace dynbench::tls
