// dynbench-worker env build|derive|gc, and install, by which a worker makes what the coordinator
// ordered in a process of its own.
#pragma once

#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace dynbench::worker {

// Thread-compatible; must outlive the parsing.
class MakeCommand {
 public:
  // Adds the verbs to `env`; `add_folders` adds the flags that all of them have.
  MakeCommand(CLI::App* env, const std::function<void(CLI::App*)>& add_folders);

  bool parsed() const;
  // The log goes to stdout, what is said about it to stderr.
  absl::Status Run(const std::string& environments_dir);

 private:
  absl::Status Build(const std::string& environments_dir);
  absl::Status Derive(const std::string& environments_dir);
  absl::Status Install(const std::string& environments_dir);
  absl::Status Collect(const std::string& environments_dir);

  CLI::App* build_;
  CLI::App* derive_;
  CLI::App* install_;
  CLI::App* gc_;
  std::string recipe_, wheels_dir_, base_, patch_, name_, id_, origin_;
  bool fleet_ = false, dry_run_ = false, json_ = false;
};

}  // namespace dynbench::worker
