// Method: one journal writes, others read what a killed process would have left on the disk.
#include "worker/agent/journal.h"

#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"

namespace dynbench::worker {
namespace {

using Attempts = std::set<AttemptId>;

const AttemptId kOne{ExperimentId(1), LeaseEpoch(7)}, kTwo{ExperimentId(2), LeaseEpoch(8)};

TEST(Journal, WhatRanWhenTheProcessDiedIsReportedOnce) {
  ScratchDir dir;
  const std::string path = dir / "running.json";
  Journal first(path);
  first.Load();
  EXPECT_EQ(first.died(), Attempts{});
  first.SetRunning({kOne, kTwo});
  first.SetRunning({kTwo});

  Journal second(path);
  second.Load();
  EXPECT_EQ(second.died(), Attempts{kTwo});
  // Dies before it could report, with another attempt running: neither is forgotten.
  second.SetRunning({kOne});
  Journal third(path);
  third.Load();
  EXPECT_EQ(third.died(), (Attempts{kOne, kTwo}));
  third.Reported();
  EXPECT_EQ(third.died(), Attempts{});

  Journal fourth(path);
  fourth.Load();
  EXPECT_EQ(fourth.died(), Attempts{});
}

TEST(Journal, ADamagedFileCountsAsNoneAndIsReplaced) {
  ScratchDir dir;
  const std::string path = dir / "running.json";
  for (const char* text : {"", "{\"running\":[[1]],\"died\":[]}", "[1,2", "{}"}) {
    SCOPED_TRACE(text);
    WriteText(path, text);
    Journal journal(path);
    journal.Load();
    EXPECT_EQ(journal.died(), Attempts{});
    journal.SetRunning({kOne});
    Journal next(path);
    next.Load();
    EXPECT_EQ(next.died(), Attempts{kOne});
  }
}

}  // namespace
}  // namespace dynbench::worker
