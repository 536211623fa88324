// Content-addressed files of the coordinator, kept on disk: each is fetched once by a worker,
// however many experiments need it at the same time, and a coordinator that is asked by a whole
// fleet at once is asked again after a while that chance spreads. Thread-safe; blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"

namespace dynbench::worker {

// Before the `failures`-th further try: doubles from 250 ms to 8 s, half of it drawn by `random`
// (0 … 1).
int64_t FetchDelayMs(int failures, double random);

class FileFetcher {
 public:
  static constexpr int kTries = 6;  // within about 10 s

  struct Services {
    std::function<absl::StatusOr<std::string>(const std::string& sha256)> fetch;
    std::function<void(int64_t ms)> wait;
    std::function<double()> random;
  };

  FileFetcher(std::string folder, Services services)
      : folder_(std::move(folder)), services_(std::move(services)) {}

  // The path of the local copy. InvalidArgument: no content address. DataLoss: other content came.
  // Otherwise what the last of kTries tries said (only those that may succeed later are repeated).
  absl::StatusOr<std::string> Get(const std::string& sha256) EXCLUDES(mu_);

 private:
  const std::string folder_;
  const Services services_;
  Mutex mu_;  // held while a file comes: the next asker finds it on disk
};

}  // namespace dynbench::worker
