// What tests of printed text share: run a command line in this process, and compare a text with its
// file in tests/golden/cli.
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

// A fixture whose tests share one folder with one database, which `Seed` fills before the first.
template <absl::Status (*Seed)(const std::string& path)>
class SeededTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    unsetenv("DYNBENCH_COORDINATOR");
    unsetenv("DYNBENCH_TLS");
    std::string pattern = std::filesystem::temp_directory_path() / "dynbench-golden.XXXXXX";
    folder_ = mkdtemp(pattern.data());
    const absl::Status seeded = Seed(folder_ + "/" + kDatabase);
    ASSERT_TRUE(seeded.ok()) << seeded;
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static constexpr char kDatabase[] = "seeded.db";
  static inline std::string folder_;
};

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
