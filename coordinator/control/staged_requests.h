// Requests that are too large for one message: they come in chunks (PutRequest) and are named by
// their SHA-256 in the Submit, Plan or Simulate that follows. In memory, for a few minutes: nothing
// is stored for a request that is only planned, and one that was forgotten is sent again.
// Thread-safe.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/base/time.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

class StagedRequests {
 public:
  // A suite of 100,000 models takes about 70 MB.
  static constexpr size_t kRequestLimitBytes = 128 << 20;
  // Of all together; beyond, those that came first are forgotten.
  static constexpr size_t kTotalLimitBytes = 256 << 20;
  static constexpr int64_t kKeptNs = 600 * kNsPerSecond;

  // Answers its SHA-256.
  std::string Put(std::string request_json, MonotonicTime now) EXCLUDES(mu_);
  // NotFound: never sent, or forgotten.
  absl::StatusOr<std::shared_ptr<const std::string>> Get(const std::string& sha256,
                                                         MonotonicTime now) EXCLUDES(mu_);
  // The text that a message holds or names. InvalidArgument: both.
  absl::StatusOr<std::shared_ptr<const std::string>> TextOf(const std::string& request_json,
                                                            const std::string& request_sha256)
      EXCLUDES(mu_);

 private:
  struct Staged {
    std::shared_ptr<const std::string> text;
    MonotonicTime at;
    int64_t order = 0;
  };
  void Forget(MonotonicTime now) REQUIRES(mu_);

  Mutex mu_;
  std::map<std::string, Staged> staged_ GUARDED_BY(mu_);
  int64_t next_ GUARDED_BY(mu_) = 0;
};

// The verb. INVALID_ARGUMENT: empty, or larger than kRequestLimitBytes. Deletes itself.
grpc::ServerReadReactor<v1::PutRequestChunk>* NewPutRequest(std::shared_ptr<StagedRequests> staged,
                                                            v1::PutRequestReply* reply);

}  // namespace dynbench::control
