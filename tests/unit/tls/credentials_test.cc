// Method: gRPC channels to a real server; who is answered (by "there is no such method") has
// passed.
#include "common/tls/credentials.h"

#include <chrono>

#include "common/tls/diagnosis.h"
#include "gmock/gmock.h"
#include "tests/unit/tls/test_certificates.h"
#include "tests/unit/tls/tls_server.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::tls {
namespace {

grpc::StatusCode Ask(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  v1::Info reply;
  return v1::Control::NewStub(channel)
      ->GetInfo(&context, v1::GetInfoRequest(), &reply)
      .error_code();
}

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    authority_.Write(server_folder_, {"coordinator"});
    authority_.Write(client_folder_, {"worker", ""});
  }
  static std::shared_ptr<grpc::Channel> Dial(const TlsServer& server, const std::string& folder) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    return grpc::CreateCustomChannel(server.address(), ChannelCredentials(folder), arguments);
  }

  const worker::ScratchDir dir_;
  const TestAuthority authority_;
  const std::string server_folder_ = dir_ / "server";
  const std::string client_folder_ = dir_ / "client";
};

TEST_F(CredentialsTest, OnlyThoseOfTheFleetAreAnswered) {
  const TlsServer server(server_folder_);
  EXPECT_EQ(Ask(Dial(server, client_folder_)), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(Ask(Dial(server, "")), grpc::StatusCode::UNAVAILABLE) << "without TLS";
  const TestAuthority stranger("Stranger");
  stranger.Write(dir_ / "stranger");
  EXPECT_EQ(Ask(Dial(server, dir_ / "stranger")), grpc::StatusCode::UNAVAILABLE);
  authority_.WriteAuthority(dir_ / "stranger");  // trusts the coordinator; is not of the fleet
  EXPECT_EQ(Ask(Dial(server, dir_ / "stranger")), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(CredentialsTest, ACoordinatorUnderAnotherNameIsNotBelieved) {
  authority_.Write(server_folder_, {"coordinator", "DNS:coordinator.lab"});
  const TlsServer server(server_folder_);
  EXPECT_EQ(Ask(Dial(server, client_folder_)), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(CredentialsTest, WithoutAFolderThereIsNoTls) {
  const TlsServer server("");
  EXPECT_EQ(Ask(Dial(server, "")), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(CredentialsTest, ARenewedCertificateNeedsNoRestart) {
  const TlsServer server(server_folder_);
  const auto old = Dial(server, client_folder_);
  EXPECT_EQ(Ask(old), grpc::StatusCode::UNIMPLEMENTED);
  authority_.Write(server_folder_, {"renewed"});
  const MonotonicTime deadline = MonotonicNow() + 20 * kNsPerSecond;
  Diagnosis found;
  do {
    found = Diagnose(server.address(), client_folder_);
  } while (found.peer && found.peer->subject != "CN = renewed" && MonotonicNow() < deadline);
  ASSERT_TRUE(found.peer);
  EXPECT_EQ(found.peer->subject, "CN = renewed");
  EXPECT_EQ(found.cause, "");
  EXPECT_EQ(Ask(old), grpc::StatusCode::UNIMPLEMENTED) << "the connection that was there goes on";
  EXPECT_EQ(Ask(Dial(server, client_folder_)), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace dynbench::tls
