// What tests of `submit` share: a command line parsed as dynbenchctl parses it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/dynbenchctl/build_request.h"
#include "tools/dynbenchctl/submissions.h"
#include "tools/dynbenchctl/submit_flags.h"

namespace dynbench::cli {

// The flags of `submit <words>`.
inline absl::StatusOr<SubmitFlags> FlagsOf(const std::vector<std::string>& words) {
  CommandTree tree;
  SubmitFlags flags;
  CLI::App* verb = tree.AddVerb("submit", "", [](Context&) { return ExitCode::kDone; });
  AddSubmitFlags(tree, verb, &flags);
  std::vector<std::string> line = {"submit"};
  line.insert(line.end(), words.begin(), words.end());
  CommandTree::Run run;
  const absl::Status parsed = tree.Parse(line, &run);
  if (!parsed.ok()) return parsed;
  return flags;
}

// The request of `submit <words>` typed in the folder `cwd`.
inline absl::StatusOr<BuiltRequest> RequestOf(const std::vector<std::string>& words,
                                              const std::string& cwd = "/") {
  const auto flags = FlagsOf(words);
  if (!flags.ok()) return flags.status();
  return BuildRequest(*flags, cwd);
}

// All requests of it.
inline absl::StatusOr<std::vector<BuiltRequest>> RequestsOf(const std::vector<std::string>& words,
                                                            const std::string& cwd = "/") {
  const auto flags = FlagsOf(words);
  if (!flags.ok()) return flags.status();
  return BuildRequests(*flags, cwd);
}

// A folder of its own, removed with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dynbench-cli.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::string file = path_ + "/" + name;
    std::ofstream(file) << text;
    return file;
  }

 private:
  std::string path_;
};

}  // namespace dynbench::cli
