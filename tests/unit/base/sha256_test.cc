// Method: digests of FIPS 180-4's examples, whole and in pieces; texts that are nearly digests.
#include "common/base/sha256.h"

#include "gtest/gtest.h"

namespace dynbench {
namespace {

constexpr char kOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256Test, KnownDigests) {
  EXPECT_EQ(Sha256Hex("abc"), kOfAbc);
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256Test, PiecesAreTheWhole) {
  Sha256 digest;
  for (const char* piece : {"a", "", "bc"}) digest.Add(piece);
  EXPECT_EQ(digest.Hex(), kOfAbc);
}

TEST(Sha256Test, OnlyADigestMayBecomeAFilesName) {
  const std::string digest = kOfAbc;
  EXPECT_TRUE(IsSha256Hex(digest));
  for (const std::string& text :
       {std::string(), digest.substr(1), digest + "0", "B" + digest.substr(1),
        "/" + digest.substr(1), "../" + digest.substr(3)}) {
    EXPECT_FALSE(IsSha256Hex(text)) << text;
  }
}

}  // namespace
}  // namespace dynbench
