// The commands of a build, with everything that they write in a log that can be followed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace dynbench::worker {

// Thread-compatible; `sink` is called on the thread that calls Run.
class Steps {
 public:
  struct Options {
    std::map<std::string, std::string> environment;
    std::string working_dir;
    int64_t limit_ms = 3'600'000;                // of each command
    std::function<void(std::string_view)> sink;  // what is written, as it comes
    std::function<bool()> cancelled;             // asked a few times a second
  };

  explicit Steps(Options options) : options_(std::move(options)) {}

  // One line of the log that is ours.
  void Say(const std::string& line);
  // FailedPrecondition: it failed; the message has the last lines. DeadlineExceeded, Cancelled: it
  // was killed, with everything in its session.
  absl::Status Run(const std::string& what, const std::vector<std::string>& argv);
  absl::Status RunIn(const std::string& folder, const std::string& what,
                     const std::vector<std::string>& argv);

  std::map<std::string, std::string>& environment() { return options_.environment; }

 private:
  Options options_;
};

}  // namespace dynbench::worker
