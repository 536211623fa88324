// Real certificates for tests: an authority, and --tls folders whose certificates it signs.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/tls/folder.h"
#include "gtest/gtest.h"

namespace dynbench::tls {

inline constexpr int64_t kDayS = 86'400;

struct Wanted {
  std::string name = "host";
  std::string alternative_names = "DNS:localhost,IP:127.0.0.1";  // empty: none
  int64_t from_s = -kDayS;                                       // from now
  int64_t until_s = 365 * kDayS;
};

class TestAuthority {
 public:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Signed = std::unique_ptr<X509, decltype(&X509_free)>;

  explicit TestAuthority(const std::string& name = "Lab", int64_t until_s = 365 * kDayS)
      : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free),
        own_(Sign({name, "", -kDayS, until_s}, *key_, nullptr)) {}

  // Makes `folder` a --tls folder, or renews what is there (file by file, each at once).
  void Write(const std::string& folder, const Wanted& wanted = {}) const {
    std::filesystem::create_directories(folder);
    const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    const Signed certificate = Sign(wanted, *key, own_.get());
    Replace(AuthorityFile(folder), 0644, [&](FILE* f) { PEM_write_X509(f, own_.get()); });
    Replace(KeyFile(folder), 0600, [&](FILE* f) {
      PEM_write_PrivateKey(f, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    Replace(CertificateFile(folder), 0644, [&](FILE* f) { PEM_write_X509(f, certificate.get()); });
  }

  // Only ca.crt: `folder` trusts this authority from now on.
  void WriteAuthority(const std::string& folder) const {
    Replace(AuthorityFile(folder), 0644, [&](FILE* f) { PEM_write_X509(f, own_.get()); });
  }

 private:
  template <typename Write>
  static void Replace(const std::string& path, mode_t mode, Write write) {
    const std::string temporary = path + ".new";
    FILE* file = fopen(temporary.c_str(), "we");
    ASSERT_NE(file, nullptr) << path;
    write(file);
    fclose(file);
    chmod(temporary.c_str(), mode);
    std::filesystem::rename(temporary, path);
  }

  // `issuer`: this authority's certificate, or nullptr for that one itself.
  Signed Sign(const Wanted& wanted, EVP_PKEY& key, const X509* issuer) const {
    static long serial = 1000;
    Signed made(X509_new(), &X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), wanted.from_s);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), wanted.until_s);
    X509_set_pubkey(made.get(), &key);
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(wanted.name.c_str()), -1, -1,
                               0);
    X509_set_issuer_name(made.get(), issuer == nullptr ? name : X509_get_subject_name(issuer));
    AddExtension(made.get(), NID_basic_constraints,
                 issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
    if (!wanted.alternative_names.empty()) {
      AddExtension(made.get(), NID_subject_alt_name, wanted.alternative_names);
    }
    X509_sign(made.get(), key_.get(), EVP_sha256());
    return made;
  }

  static void AddExtension(X509* to, int kind, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(to, extension, -1);
    X509_EXTENSION_free(extension);
  }

  const Key key_;
  const Signed own_;
};

}  // namespace dynbench::tls
