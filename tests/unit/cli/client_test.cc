// Method: addresses as people mistype them; then a port where nobody listens and one that accepts
// and never speaks. Both must be told within the three seconds that docs/cli.md promises.
#include "tools/dynbenchctl/client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/time.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;

// A listening socket of our own on a free port; `backlog` connections are accepted by the kernel.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    listen(fd_, 8);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { Close(); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  std::string Address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;
  int port_ = 0;
};

absl::Status ConnectWithin3s(const std::string& address) {
  const MonotonicTime begin = MonotonicNow();
  absl::Status status = Client::Connect(address, /*tls=*/"").status();
  EXPECT_LT(MonotonicNow() - begin, 3 * kNsPerSecond);
  return status;
}

TEST(Client, NobodyListens) {
  Listener listener;
  const std::string address = listener.Address();
  listener.Close();
  const absl::Status status = ConnectWithin3s(address);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  EXPECT_THAT(std::string(status.message()), HasSubstr("dynbenchctl local up"));
}

TEST(Client, SomebodyListensAndNeverSpeaks) {
  const Listener listener;
  EXPECT_TRUE(absl::IsUnavailable(ConnectWithin3s(listener.Address())));
}

TEST(Client, AddressesThatCannotBe) {
  for (const char* address : {"", "host", ":7411", "host:", "host:x", "host:0", "host:65536"}) {
    const absl::Status status = CheckAddress(address, "--coordinator");
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--coordinator"));
  }
  EXPECT_TRUE(CheckAddress("host:7411", "").ok());
  EXPECT_TRUE(CheckAddress("[::1]:7411", "").ok());
}

}  // namespace
}  // namespace dynbench::cli
