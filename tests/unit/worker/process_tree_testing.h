// Real trees of shells below the test's own process, which is their root as a lane is.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "worker/process/process_tree.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {

class ProcessTreeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    KillTree({.root = getpid(), .reap = Reap});
    Reap();
  }

  static void Reap() {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  // Runs a shell script; returns when it (or something below it) has written `lines` lines to its
  // descriptor 9.
  void Grow(const std::string& script, int lines) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    if (fork() == 0) {
      dup2(ends[1], 9);
      execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    UniqueFd in(ends[0]);
    char c;
    while (lines > 0 && read(in.get(), &c, 1) == 1) lines -= c == '\n';
    ASSERT_EQ(lines, 0) << "the tree did not grow";
  }
};

}  // namespace dynbench::worker
