// Method: the same folder is opened again, first beside and then after the first opening.
#include "worker/agent/identity.h"

#include <unistd.h>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

TEST(Identity, LastsAndASecondProcessIsRefusedByName) {
  ScratchDir dir;
  std::string id;
  {
    const auto first = Identity::Open(dir / "state");
    ASSERT_TRUE(first.ok()) << first.status();
    id = first->id().value;
    const auto second = Identity::Open(dir / "state");
    ASSERT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
    EXPECT_TRUE(absl::StrContains(second.status().message(), std::to_string(getpid())));
  }
  const auto again = Identity::Open(dir / "state");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id().value, id);
  EXPECT_NE(Identity::Open(dir / "other")->id().value, id);
}

TEST(Identity, ADamagedFileIsNotSilentlyReplaced) {
  ScratchDir dir;
  WriteText(dir / "identity.json", "{");
  const auto opened = Identity::Open(dir.path());
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(absl::StrContains(opened.status().message(), "identity.json"));
}

}  // namespace
}  // namespace dynbench::worker
