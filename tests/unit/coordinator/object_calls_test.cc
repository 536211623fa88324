// Method: a real coordinator in this process, asked over real gRPC as workers ask it; its folder of
// objects is damaged as a power cut or a bad disk would damage it.
#include "coordinator/session/object_calls.h"

#include <fstream>

#include "common/base/sha256.h"
#include "tests/unit/coordinator/testing.h"

namespace dynbench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ObjectCallsTest : public CoordinatorTest {
 protected:
  void Connect() {
    StartServer();
    stub_ = v1::WorkerSession::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }
  grpc::Status Put(const std::string& bytes) {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::PutObjectsReply reply;
    const auto writer = stub_->PutObjects(&context, &reply);
    v1::ObjectPieces pieces;
    v1::ObjectPiece& piece = *pieces.add_pieces();
    piece.set_sha256(Sha256Hex(bytes));
    piece.set_data(bytes);
    piece.set_last(true);
    writer->Write(pieces);
    writer->WritesDone();
    return writer->Finish();
  }
  grpc::Status Fetch(const std::string& sha256, std::string* bytes) {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::FetchObjectsRequest request;
    request.add_sha256(sha256);
    std::vector<v1::ObjectPieces> pages;
    grpc::Status status = Client::Drain(*stub_->FetchObjects(&context, request), &pages);
    for (const v1::ObjectPieces& page : pages) {
      for (const v1::ObjectPiece& piece : page.pieces()) *bytes += piece.data();
    }
    return status;
  }
  std::vector<std::string> Missing(const std::string& sha256) {
    grpc::ClientContext context;
    Client::Arm(context);
    v1::FindObjectsRequest request;
    v1::FindObjectsReply reply;
    request.add_sha256(sha256);
    EXPECT_TRUE(stub_->FindObjects(&context, request, &reply).ok());
    return {reply.missing().begin(), reply.missing().end()};
  }
  void Overwrite(const std::string& sha256, const std::string& bytes) {
    const std::string path = ObjectFolder(options_.state_dir + "/objects").PathOf(sha256);
    fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::unique_ptr<v1::WorkerSession::Stub> stub_;
};

TEST_F(ObjectCallsTest, WhatAPowerCutDamagedIsMissingAgain) {
  Connect();
  const std::string large(700'000, 'x'), digest = Sha256Hex(large);
  std::string bytes;
  ASSERT_TRUE(Put(large).ok());
  ASSERT_TRUE(Fetch(digest, &bytes).ok());
  EXPECT_EQ(bytes, large);
  EXPECT_THAT(Missing(digest), IsEmpty());

  Overwrite(digest, "");
  EXPECT_THAT(Missing(digest), ElementsAre(digest));
  ASSERT_TRUE(Put(large).ok());
  EXPECT_THAT(Missing(digest), IsEmpty());

  Overwrite(digest, std::string(large.size(), '\0'));
  const grpc::Status damaged = Fetch(digest, &bytes);
  EXPECT_EQ(damaged.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_THAT(damaged.error_message(), HasSubstr("ask again"));
  EXPECT_THAT(Missing(digest), ElementsAre(digest));
  ASSERT_TRUE(Put(large).ok());
  bytes.clear();
  ASSERT_TRUE(Fetch(digest, &bytes).ok());
  EXPECT_EQ(bytes, large);
}

TEST_F(ObjectCallsTest, AFolderThatCannotBeUsedIsNoCoordinatorThatIsAway) {
  fs::create_directories(options_.state_dir);
  fs::permissions(options_.state_dir, fs::perms::owner_all);
  std::ofstream(options_.state_dir + "/objects") << "a file";
  Connect();
  const grpc::Status status = Put("bytes");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr("on the coordinator"));
}

// Of an environment that is being made what it is made of stays; what is old and nobody's goes.
TEST_F(ObjectCallsTest, CollectingBesideABuildKeepsWhatItIsMadeOf) {
  Connect();
  ASSERT_TRUE(Put("patch").ok());
  ASSERT_TRUE(Put("nobody's").ok());
  v1::Hello hello = HelloOf("a");
  hello.set_makes_environments(true);
  auto worker = Join(hello);
  worker->Welcome();
  v1::DeriveEnvironmentRequest derive;
  derive.set_base("default");
  derive.set_patch_sha256(Sha256Hex("patch"));
  v1::FleetEnvironment made;
  grpc::Status status;
  ASSERT_TRUE(Eventually([&] {
    grpc::ClientContext context;
    Client::Arm(context);
    status = client().stub().DeriveEnvironment(&context, derive, &made);
    return status.ok();
  })) << status.error_message();
  ASSERT_EQ(made.state(), "making");
  const ObjectFolder objects(options_.state_dir + "/objects");
  for (const char* text : {"patch", "nobody's"}) {
    fs::last_write_time(objects.PathOf(Sha256Hex(text)),
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  grpc::ClientContext context;
  Client::Arm(context);
  v1::CollectEnvironmentsReply reply;
  ASSERT_TRUE(client().stub().CollectEnvironments(&context, {}, &reply).ok());
  EXPECT_EQ(reply.objects(), 1);
  EXPECT_THAT(Missing(Sha256Hex("nobody's")), ElementsAre(Sha256Hex("nobody's")));
  EXPECT_THAT(Missing(Sha256Hex("patch")), IsEmpty());
}

}  // namespace
}  // namespace dynbench
