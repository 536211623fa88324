// What tests of printed text share: run a command line in this process, and compare a text with its
// file in tests/golden/cli.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/dynbenchctl/run.h"

namespace dynbench::cli {

struct Ran {
  int code;
  std::string out, err;
};

// In `folder`, as if typed there.
inline Ran RunIn(const std::string& folder, const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = RunCommand(words, Terminal{out, err}, folder, "/bin/dynbenchctl");
  return {code, out.str(), err.str()};
}

// Compares with the file, or writes it under DYNBENCH_GOLDEN_UPDATE.
inline void CompareWithFile(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(DYNBENCH_GOLDEN_DIR) / name;
  if (std::getenv("DYNBENCH_GOLDEN_UPDATE") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; run tests/golden/update";
  const std::string wanted{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, wanted) << path << " differs; when that is wanted run tests/golden/update";
}

}  // namespace dynbench::cli
