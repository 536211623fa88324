// Method: certificates that the test makes, and files that hold none.
#include "common/tls/certificate.h"

#include "gmock/gmock.h"
#include "tests/unit/tls/test_certificates.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::tls {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadCertificate, TellsWhoseItIsAndForWhichNames) {
  const worker::ScratchDir dir;
  TestAuthority("Größe").Write(dir / "tls", {"kiste", "DNS:kiste.lab,IP:10.0.0.7,IP:fd00::7"});
  const auto found = ReadCertificate(CertificateFile(dir / "tls"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->subject, "CN = kiste");
  EXPECT_EQ(found->issuer, "CN = Größe");
  EXPECT_THAT(found->names, ElementsAre("kiste.lab", "10.0.0.7", "fd00::7"));
  const int64_t now_ms = UnixNow().ms;
  EXPECT_NEAR(static_cast<double>(found->valid_from.ms), static_cast<double>(now_ms - kDayS * 1000),
              60'000);
  EXPECT_NEAR(static_cast<double>(found->valid_until.ms),
              static_cast<double>(now_ms + 365 * kDayS * 1000), 60'000);
  EXPECT_NE(found->serial, "");
}

TEST(ReadCertificate, NamesTheFileThatHoldsNone) {
  const worker::ScratchDir dir;
  EXPECT_THAT(std::string(ReadCertificate(dir / "none.crt").status().message()),
              HasSubstr("none.crt: No such file"));
  worker::WriteText(dir / "der.crt", std::string("0\x82\0", 3));
  EXPECT_THAT(std::string(ReadCertificate(dir / "der.crt").status().message()),
              HasSubstr("der.crt: no certificate in PEM format"));
}

TEST(Date, IsInUtc) { EXPECT_EQ(Date({1'796'040'000'000}), "2026-11-30 12:00 UTC"); }

}  // namespace
}  // namespace dynbench::tls
