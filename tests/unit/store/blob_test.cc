// Method: bytes are written out by hand, as docs/schema.md promises them to readers of the file.
#include "common/store/blob.h"

#include "gtest/gtest.h"

namespace dynbench::store {
namespace {

TEST(Blob, Int64sAreLittleEndianWithoutHeader) {
  const std::string bytes = EncodeInt64s({1, -2, 0x0102030405060708});
  EXPECT_EQ(bytes, std::string("\x01\0\0\0\0\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff"
                               "\x08\x07\x06\x05\x04\x03\x02\x01",
                               24));
  EXPECT_EQ(*DecodeInt64s(bytes), (std::vector<int64_t>{1, -2, 0x0102030405060708}));
}

TEST(Blob, ATornBlobIsRefused) {
  EXPECT_TRUE(absl::IsDataLoss(DecodeInt64s("1234567").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodePhases(EncodeInt64s({1, 2})).status()));
}

TEST(Blob, PhasesComeBackAndAnUnknownOneIsRefused) {
  const std::vector<plan::PhaseSpan> phases = {{plan::Phase::kPrepare, 1, 2},
                                               {plan::Phase::kReport, 3, 4}};
  EXPECT_EQ(*DecodePhases(EncodePhases(phases)), phases);
  EXPECT_TRUE(absl::IsDataLoss(DecodePhases(EncodeInt64s({9, 1, 1})).status()));
}

}  // namespace
}  // namespace dynbench::store
