// Method: what there is to say of folders whose certificates end soon, later, or cannot be read.
#include "common/tls/expiry_watch.h"

#include "gmock/gmock.h"
#include "tests/unit/tls/test_certificates.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::tls {
namespace {

using testing::HasSubstr;

TEST(ExpiryText, NamesTheCertificateThatEndsSoon) {
  const worker::ScratchDir dir;
  const TestAuthority authority;
  authority.Write(dir / "a");
  EXPECT_EQ(ExpiryText(dir / "a", UnixNow()), "");
  authority.Write(dir / "a", {.until_s = 5 * kDayS + 60});
  EXPECT_THAT(ExpiryText(dir / "a", UnixNow()), HasSubstr("a/tls.crt expires on"));
  EXPECT_THAT(ExpiryText(dir / "a", UnixNow()), HasSubstr("in 5 days"));
  TestAuthority("Ends", 5 * kDayS).Write(dir / "b");
  EXPECT_THAT(ExpiryText(dir / "b", UnixNow()), HasSubstr("b/ca.crt expires on"));
  EXPECT_THAT(ExpiryText(dir / "none", UnixNow()), HasSubstr("none/tls.crt: No such file"));
}

TEST(ExpiryWatch, EndsAtOnce) {
  const worker::ScratchDir dir;
  TestAuthority().Write(dir / "a");
  const ExpiryWatch watch(dir / "a");
  const ExpiryWatch none("");
}

}  // namespace
}  // namespace dynbench::tls
