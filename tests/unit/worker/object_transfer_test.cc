// Method: a small coordinator in this process that has what the test gives it and fails as the test
// says, over real gRPC; this host's folder of objects is one, or is made unusable.
#include "worker/agent/object_transfer.h"

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "common/base/sha256.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/object_server.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

class ObjectTransferTest : public testing::Test {
 protected:
  ObjectTransfer Make() {
    return ObjectTransfer(server_.channel(), &store_,
                          [this](const absl::Status& s) { told_.emplace_back(s.message()); });
  }
  absl::Status Fetch(const std::string& text) {
    ObjectTransfer transfer = Make();
    return transfer.Fetch({{Sha256Hex(text), false, static_cast<int64_t>(text.size())}},
                          [](int64_t, int64_t, int64_t) {});
  }

  ObjectServer server_;
  const ScratchDir dir_;
  const ObjectStore store_{dir_.path()};
  std::vector<std::string> told_;
};

TEST_F(ObjectTransferTest, ACoordinatorThatIsAwayIsWaitedForAndThatIsToldOnce) {
  server_.Add("content");
  server_.FailNext(2, grpc::Status(grpc::StatusCode::UNAVAILABLE, "it starts"));
  ASSERT_TRUE(Fetch("content").ok());
  EXPECT_EQ(told_, std::vector<std::string>{"it starts"});
  EXPECT_TRUE(store_.Has(Sha256Hex("content")));
}

TEST_F(ObjectTransferTest, ThisHostsOwnDiskIsNoCoordinatorThatIsAway) {
  server_.Add("content");
  WriteText(dir_ / "objects", "a file in the place of the folder");
  const absl::Status status = Fetch("content");
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "on this host")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), dir_ / "objects")) << status;
  EXPECT_TRUE(told_.empty());
}

TEST_F(ObjectTransferTest, OneThatIsTornHereIsFetchedAgain) {
  server_.Add("content");
  ASSERT_TRUE(store_.folder().MakeFolderOf(Sha256Hex("content")).ok());
  WriteText(store_.folder().PathOf(Sha256Hex("content")), "con");
  ASSERT_TRUE(Fetch("content").ok());
  EXPECT_EQ(ReadText(store_.folder().PathOf(Sha256Hex("content"))), "content");
}

}  // namespace
}  // namespace dynbench::worker
