// The HTTP side: /healthz, /metrics, /api/v1/status, /api/v1/jobs/ID/results and a page of jobs.
//
// A connection occupies one of kThreads threads while it is open (a second at most when it is
// idle), so about kThreads requests are served at once and the others wait their turn; a slow
// reader of results keeps its thread. Answers come from the query pool, each within kAnswerTime or
// as 503; a job's results come in pieces (chunked), each within kAnswerTime, and end without their
// last chunk when a later piece cannot be made.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/control/context.h"
#include "coordinator/web/metrics.h"

namespace dynbench::web {

class HttpServer {
 public:
  static constexpr int kThreads = 16;
  static constexpr std::chrono::seconds kAnswerTime{5};

  // Listens on host:port (0: any), without answering yet. Unavailable: the address is in use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Bind(const std::string& host, int port);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  // Begins to answer. What `context` and `metrics` point to outlives this object.
  void Serve(const control::Context& context, Metrics* metrics);
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dynbench::web
