// Method: two processes that differ in one thing at a time (reports of users among them: the driver
// moved one GPU type, the label's machine had another number of cores), and what that does.
#include "common/judge/differences.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

std::vector<Difference> Between(const std::function<void(Process*)>& change) {
  const Process base = Measured("m", 20, 10);
  Process fresh = base;
  change(&fresh);
  return ProcessDifferences({&base}, {&fresh});
}

TEST(Differences, EachIsNamedAndBlocks) {
  const std::pair<const char*, std::function<void(Process*)>> cases[] = {
      {"CPU EPYC → Xeon", [](Process* p) { p->host["CPU"] = "Xeon"; }},
      {"kernel 6.1 → 6.2", [](Process* p) { p->host["kernel"] = "6.2"; }},
      {"batch size 4 → 8", [](Process* p) { p->row.result->batch_size = 8; }},
      {"weights random → pretrained", [](Process* p) { p->row.result->weights = "pretrained"; }},
      {"threads 2 → 4", [](Process* p) { p->row.result->threads = 4; }},
      {"cores 2 → 4", [](Process* p) { p->row.result->cores = "0-3"; }},
  };
  for (const auto& [text, change] : cases) {
    const auto differences = Between(change);
    ASSERT_EQ(differences.size(), 1U) << text;
    EXPECT_EQ(ToString(differences[0]), text);
    EXPECT_TRUE(differences[0].blocks);
  }
}

TEST(Differences, SomeAreOnlyNoted) {
  const auto kernels = Between([](Process* p) {
    p->row.result->compiler_report = R"({"autotune": {"hash": "0123456789abcdef"}})";
  });
  EXPECT_TRUE(kernels.empty()) << "what one side does not know cannot differ";
  const auto host = Between([](Process* p) { p->host["host"] = p->row.worker_host = "b"; });
  ASSERT_EQ(host.size(), 1U);
  EXPECT_FALSE(host[0].blocks);
}

TEST(Differences, OtherCoresOfTheSameNumberAreTheSame) {
  EXPECT_TRUE(Between([](Process* p) { p->row.result->cores = "4,6"; }).empty());
}

TEST(Differences, OfBuildsAreWhatIsCompared) {
  EXPECT_TRUE(Between([](Process* p) { p->build["torch"] = "2.14.1"; }).empty());
  const Process one = Measured("m", 20, 10);
  const Process other = OnNewBuild({one}).front();
  const auto mixed = ProcessDifferences({&one, &other}, {&other});
  ASSERT_EQ(mixed.size(), 1U);
  EXPECT_EQ(ToString(mixed[0]), "builds within base new, old");
  EXPECT_TRUE(mixed[0].blocks);
}

TEST(Differences, OfASeriesNameTheField) {
  const plan::Experiment base = ExperimentOf("m");
  plan::Experiment fresh = base;
  fresh.options.freezing = true;
  fresh.batch_size = 8;
  fresh.environment = "nightly";  // not of the series
  const auto differences = SeriesDifferences(base, fresh);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(ToString(differences[0]), "batch_size 4 → 8");
  EXPECT_EQ(ToString(differences[1]), "options.freezing false → true");
}

TEST(Differences, SoftwareOfTheSides) {
  const Side base{"b", {Measured("m", 1, 1)}};
  const Side fresh{"n", OnNewBuild({Measured("m", 1, 1)})};
  const auto differences = BuildDifferences(base, fresh);
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(ToString(differences[1]), "torch 2.13.0 → 2.14.1");
}

}  // namespace
}  // namespace dynbench::judge
