// Method: real handshakes with a real gRPC server, with everything that can be wrong between a
// fleet's certificates (report D17): each must be told in words that name it, and what to do.
#include "common/tls/diagnosis.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "gmock/gmock.h"
#include "tests/unit/tls/test_certificates.h"
#include "tests/unit/tls/tls_server.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::tls {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DiagnosisTest : public testing::Test {
 protected:
  DiagnosisTest() { authority_.Write(client_, {"worker", "", -kDayS, kDayS}); }

  // Of a server with that certificate, dialled by that host's name.
  std::string Cause(const Wanted& server, const std::string& host = "127.0.0.1") const {
    authority_.Write(server_, server);
    return Diagnose(TlsServer(server_).At(host), client_).cause;
  }

  const worker::ScratchDir dir_;
  const TestAuthority authority_{"Lab"};
  const std::string server_ = dir_ / "server";
  const std::string client_ = dir_ / "client";
};

TEST_F(DiagnosisTest, NothingIsWrong) {
  authority_.Write(server_, {"coordinator"});
  const TlsServer server(server_);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const Diagnosis found = Diagnose(server.At(host), client_);
    EXPECT_EQ(found.cause, "");
    ASSERT_TRUE(found.peer);
    EXPECT_EQ(found.peer->subject, "CN = coordinator");
  }
}

TEST_F(DiagnosisTest, TheCoordinatorsCertificateIsOver) {
  EXPECT_THAT(Cause({"coordinator", "IP:127.0.0.1", -2 * kDayS, -kDayS}),
              AllOf(HasSubstr("the coordinator's certificate (CN = coordinator) expired on 2"),
                    HasSubstr("renew it")));
}

TEST_F(DiagnosisTest, OrNotYetValid) {
  EXPECT_THAT(Cause({"coordinator", "IP:127.0.0.1", kDayS, 2 * kDayS}),
              AllOf(HasSubstr("(CN = coordinator) is valid from 2"), HasSubstr("clock right?")));
}

TEST_F(DiagnosisTest, ItIsForAnotherName) {
  const Wanted other{"coordinator", "DNS:coordinator.lab,IP:10.0.0.7"};
  EXPECT_THAT(Cause(other), HasSubstr("is for coordinator.lab, 10.0.0.7 and not for 127.0.0.1"));
  EXPECT_THAT(Cause(other, "localhost"), HasSubstr("and not for localhost"));
  EXPECT_THAT(Cause({"coordinator", ""}), HasSubstr("is for no name at all and not for 127.0.0.1"));
}

TEST_F(DiagnosisTest, SomebodyElseSignedIt) {
  TestAuthority("Elsewhere").Write(server_);
  authority_.WriteAuthority(server_);  // it would accept us
  EXPECT_THAT(Diagnose(TlsServer(server_).address(), client_).cause,
              AllOf(HasSubstr("is signed by CN = Elsewhere"), HasSubstr("client/ca.crt")));
}

TEST_F(DiagnosisTest, TheCoordinatorDoesNotKnowWhoSignedOurs) {
  const TestAuthority elsewhere("Elsewhere");
  elsewhere.Write(client_);
  authority_.Write(server_);
  authority_.WriteAuthority(client_);  // we would accept it
  EXPECT_THAT(Diagnose(TlsServer(server_).address(), client_).cause,
              AllOf(HasSubstr("does not accept this host's certificate"),
                    HasSubstr("client/tls.crt"), HasSubstr("signed by CN = Elsewhere")));
}

TEST_F(DiagnosisTest, OnlyOneSideSpeaksTls) {
  authority_.Write(server_);
  const TlsServer with(server_), without("");
  EXPECT_THAT(Diagnose(with.address(), "").cause,
              AllOf(HasSubstr("expects TLS"), HasSubstr("--tls DIR")));
  EXPECT_THAT(Diagnose(without.address(), client_).cause,
              AllOf(HasSubstr(without.address() + " speaks no TLS"), HasSubstr("leave --tls")));
  EXPECT_EQ(Diagnose(without.address(), "").cause, "");
}

TEST_F(DiagnosisTest, OurOwnFolderIsLookedAtFirst) {
  chmod(KeyFile(client_).c_str(), 0644);
  EXPECT_THAT(Diagnose("127.0.0.1:1", client_).cause, HasSubstr("open to others (mode 0644)"));
}

// As a coordinator without free descriptors does. The kernel then ends writers by a signal.
TEST_F(DiagnosisTest, OneThatHangsUpAtOnceEndsNobody) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in bound{};
  bound.sin_family = AF_INET;
  bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof bound;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&bound), size), 0);
  ASSERT_EQ(listen(listener, 64), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size);
  std::thread hangs_up([listener] {
    for (int fd = 0; (fd = accept(listener, nullptr, nullptr)) >= 0;) close(fd);
  });
  for (int i = 0; i < 200; ++i) {
    for (const std::string& folder : {std::string(), client_}) {
      Diagnose("127.0.0.1:" + std::to_string(ntohs(bound.sin_port)), folder);
    }
  }
  shutdown(listener, SHUT_RDWR);
  hangs_up.join();
  close(listener);
}

TEST_F(DiagnosisTest, NobodyListens) {
  EXPECT_EQ(Diagnose("127.0.0.1:1", client_).cause, "");
  EXPECT_EQ(Diagnose("no.such.host.invalid:7411", "").cause, "");
}

}  // namespace
}  // namespace dynbench::tls
