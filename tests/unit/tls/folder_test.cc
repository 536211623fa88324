// Method: a folder that is good, and one thing after the other that is wrong with it.
#include "common/tls/folder.h"

#include "gmock/gmock.h"
#include "tests/unit/tls/test_certificates.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::tls {
namespace {

using testing::HasSubstr;

class FolderTest : public testing::Test {
 protected:
  std::string Refusal(UnixTimeMs now = UnixNow()) const {
    const absl::Status status = CheckFolder(folder_, now);
    EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  const worker::ScratchDir dir_;
  const std::string folder_ = dir_ / "tls";
  const TestAuthority authority_;
};

TEST_F(FolderTest, AGoodOneIsUsed) {
  authority_.Write(folder_);
  EXPECT_EQ(Refusal(), "");
  chmod(KeyFile(folder_).c_str(), 0640);  // a service's group
  EXPECT_EQ(Refusal(), "");
}

TEST_F(FolderTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(Refusal(), HasSubstr("tls/ca.crt: No such file"));
  EXPECT_THAT(Refusal(), HasSubstr("wants ca.crt, tls.crt and tls.key"));
  authority_.Write(folder_);
  std::filesystem::remove(KeyFile(folder_));
  EXPECT_THAT(Refusal(), HasSubstr("tls/tls.key: No such file"));
}

TEST_F(FolderTest, AKeyThatOthersReadIsRefused) {
  authority_.Write(folder_);
  for (const mode_t mode : {0644U, 0604U, 0660U}) {
    chmod(KeyFile(folder_).c_str(), mode);
    EXPECT_THAT(Refusal(), HasSubstr("tls.key: the private key is open to others (mode 0"));
    EXPECT_THAT(Refusal(), HasSubstr("chmod 600"));
  }
}

TEST_F(FolderTest, KeyAndCertificateBelongTogether) {
  authority_.Write(folder_);
  authority_.Write(dir_ / "other");
  std::filesystem::rename(KeyFile(dir_ / "other"), KeyFile(folder_));
  EXPECT_THAT(Refusal(), HasSubstr("tls.key: is the key of another certificate"));
  worker::WriteText(KeyFile(folder_), "-----BEGIN PRIVATE KEY-----\nno\n");
  EXPECT_THAT(Refusal(), HasSubstr("tls.key: no private key in PEM format"));
}

TEST_F(FolderTest, TimesAreTold) {
  authority_.Write(folder_, {.until_s = -60});
  EXPECT_THAT(Refusal(), HasSubstr("tls.crt expired on 2"));
  authority_.Write(folder_, {.from_s = kDayS, .until_s = 2 * kDayS});
  EXPECT_THAT(Refusal(), HasSubstr("tls.crt is valid from 2"));
  EXPECT_THAT(Refusal(), HasSubstr("is this host's clock right?"));
  TestAuthority("Past", -60).Write(folder_);
  EXPECT_THAT(Refusal(), HasSubstr("ca.crt expired on 2"));
}

TEST(ValidityText, WarnsDaysAhead) {
  Certificate certificate;
  certificate.valid_from = {0};
  certificate.valid_until = {1'796'040'000'000};
  const auto before = [&](int64_t days) {
    return ValidityText(certificate, "it",
                        {certificate.valid_until.ms - days * kDayS * 1000 - 1000});
  };
  EXPECT_EQ(before(kWarnDays), "");
  EXPECT_EQ(before(20),
            "it expires on 2026-11-30 12:00 UTC, in 20 days; renew it, no restart is needed");
  EXPECT_THAT(before(1), HasSubstr("in 1 day;"));
  EXPECT_THAT(before(-1), HasSubstr("it expired on 2026-11-30 12:00 UTC"));
}

}  // namespace
}  // namespace dynbench::tls
