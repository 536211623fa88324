// SHA-256, for content addresses and keys.
#pragma once

#include <string>
#include <string_view>

namespace dynbench {

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// Whether `text` is what Sha256Hex answers; only such a text may become a file's name.
bool IsSha256Hex(std::string_view text);

// The same over bytes that come in pieces. Thread-compatible.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Add(std::string_view bytes);
  // Of everything added; once.
  std::string Hex();

 private:
  void* context_;  // OpenSSL's EVP_MD_CTX
};

}  // namespace dynbench
