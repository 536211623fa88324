// Method: the server alone, on a port that the system chooses; nobody asks it anything.
#include "coordinator/web/http_server.h"

#include "gtest/gtest.h"

namespace dynbench::web {
namespace {

// A stop that comes before the thread accepts was lost once, and the coordinator never ended.
TEST(HttpServerTest, StopsAtOnceAfterItsStart) {
  for (int i = 0; i < 50; ++i) {
    auto server = HttpServer::Bind("127.0.0.1", 0);
    ASSERT_TRUE(server.ok()) << server.status();
    EXPECT_GT((*server)->port(), 0);
    (*server)->Serve(control::Context(), nullptr);
    (*server)->Stop();
  }
}

TEST(HttpServerTest, ANeverServedOneStopsToo) {
  auto server = HttpServer::Bind("127.0.0.1", 0);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_FALSE(HttpServer::Bind("127.0.0.1", (*server)->port()).ok()) << "it listens already";
  (*server)->Stop();
}

}  // namespace
}  // namespace dynbench::web
