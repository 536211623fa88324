// Method: real sockets on port 0. Connections arrive at the callback; an address in use is refused
// by name; with the process's own limit of descriptors lowered, connections beyond it are closed at
// once, and when some have gone new ones are taken again.
#include "coordinator/acceptor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench {
namespace {

using ::testing::HasSubstr;

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// 'k' when the other side serves, 0 when it has closed.
char ServedByte(int fd) {
  char byte = 0;
  return read(fd, &byte, 1) == 1 ? byte : 0;
}

// Serves one byte and keeps the connection until CloseAll.
class Keeper {
 public:
  void Take(int fd) {
    EXPECT_EQ(write(fd, "k", 1), 1);
    MutexLock lock(mu_);
    kept_.push_back(fd);
  }
  void CloseAll() {
    MutexLock lock(mu_);
    for (const int fd : kept_) close(fd);
    kept_.clear();
  }

 private:
  Mutex mu_;
  std::vector<int> kept_ GUARDED_BY(mu_);
};

TEST(AcceptorTest, ConnectionsArrive) {
  Keeper keeper;
  auto acceptor = Acceptor::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(acceptor.ok()) << acceptor.status();
  ASSERT_GT((*acceptor)->port(), 0);
  (*acceptor)->Start([&](int fd) { keeper.Take(fd); });
  const int client = Connect((*acceptor)->port());
  EXPECT_EQ(ServedByte(client), 'k');
  (*acceptor)->Stop();
  keeper.CloseAll();
  close(client);
}

TEST(AcceptorTest, ANameMeansAllOfItsAddressesWithOnePort) {
  Keeper keeper;
  auto acceptor = Acceptor::Listen({"localhost", 0});
  ASSERT_TRUE(acceptor.ok()) << acceptor.status();
  (*acceptor)->Start([&](int fd) { keeper.Take(fd); });
  const int client = Connect((*acceptor)->port());
  EXPECT_EQ(ServedByte(client), 'k');
  (*acceptor)->Stop();
  keeper.CloseAll();
  close(client);
}

TEST(AcceptorTest, AnAddressInUseIsNamed) {
  const auto first = Acceptor::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  const auto second = Acceptor::Listen({"127.0.0.1", (*first)->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("Address already in use"));
  const auto nowhere = Acceptor::Listen({"192.0.2.1", 0});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_THAT(std::string(nowhere.status().message()), HasSubstr("192.0.2.1:0"));
}

TEST(AcceptorTest, RefusesWhileFewDescriptorsAreLeftAndGoesOn) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  Keeper keeper;
  auto acceptor = Acceptor::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(acceptor.ok());
  (*acceptor)->Start([&](int fd) { keeper.Take(fd); });
  const int next = dup(0);  // the lowest free number
  close(next);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next) + 40;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> clients;
  int served = 0, refused = 0;
  while (refused == 0 && clients.size() < 20) {  // each takes two descriptors of this process
    clients.push_back(Connect((*acceptor)->port()));
    (ServedByte(clients.back()) == 'k' ? served : refused) += 1;
  }
  EXPECT_GT(served, 0);
  EXPECT_EQ(refused, 1);
  for (const int fd : clients) close(fd);
  keeper.CloseAll();
  const int again = Connect((*acceptor)->port());
  EXPECT_EQ(ServedByte(again), 'k');
  (*acceptor)->Stop();
  keeper.CloseAll();
  close(again);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(AcceptorTest, AQuarterIsKeptWhereThereAreFew) {
  EXPECT_EQ(ReservedDescriptors(256), 64);
  EXPECT_EQ(ReservedDescriptors(100), 25);
  EXPECT_EQ(ReservedDescriptors(1'000'000), 64);
}

}  // namespace
}  // namespace dynbench
