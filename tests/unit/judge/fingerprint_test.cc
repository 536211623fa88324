// Method: inventories and environments as workers send them, and texts that are no such thing.
#include "common/judge/fingerprint.h"

#include <gtest/gtest.h>

namespace dynbench::judge {
namespace {

TEST(Fingerprint, OfAHost) {
  const Facts facts = HostFacts(
      R"({"host": "bench-1", "cpu_model": "EPYC", "physical_cores": 2, "kernel": "6.1",
          "memory_bytes": 25276510208, "driver": "560.1", "cuda": "12.6",
          "settings": {"governor": "performance", "odd": 7},
          "gpus": [{"name": "H200"}, {"name": "H200"}, {"name": "L4"}]})");
  EXPECT_EQ(facts.at("host"), "bench-1");
  EXPECT_EQ(facts.at("physical cores"), "2");
  EXPECT_EQ(facts.at("GPU"), "2 x H200, 1 x L4");
  EXPECT_EQ(facts.at("memory"), "24 GiB");
  EXPECT_EQ(facts.at("driver"), "560.1");
  EXPECT_EQ(facts.at("CUDA driver"), "12.6");
  EXPECT_EQ(facts.at("governor"), "performance");
  EXPECT_FALSE(facts.contains("odd"));
  EXPECT_FALSE(facts.contains("architecture")) << "unknown is absent";
}

TEST(Fingerprint, OfABuild) {
  const Facts facts = BuildFacts(
      R"({"hash": "ab", "torch_version": "2.14.1", "torch_git": "c0", "python_version": "3.11",
          "packages": {"triton": "3.8.0", "odd": 7}})");
  EXPECT_EQ(facts.at("torch"), "2.14.1");
  EXPECT_EQ(facts.at("triton"), "3.8.0");
  EXPECT_FALSE(facts.contains("odd"));
}

TEST(Fingerprint, WhatIsNoJsonHasNoFacts) {
  for (const char* text : {"", "[]", "{", "7", R"({"gpus": 3, "packages": []})"}) {
    EXPECT_TRUE(HostFacts(text).empty()) << text;
    EXPECT_TRUE(BuildFacts(text).empty()) << text;
  }
}

TEST(Fingerprint, CoresOfASet) {
  EXPECT_EQ(CoresIn("0-3,8"), 5);
  EXPECT_EQ(CoresIn("2"), 1);
  EXPECT_EQ(CoresIn(""), 0);
  EXPECT_EQ(CoresIn("all"), 0);
  EXPECT_EQ(CoresIn("0-999999999"), 0);
}

}  // namespace
}  // namespace dynbench::judge
