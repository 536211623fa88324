#include "common/base/sha256.h"

#include <openssl/evp.h>

#include "common/base/check.h"

namespace dynbench {

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) == 1);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(size_t{2} * size);
  for (unsigned int i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

}  // namespace dynbench
