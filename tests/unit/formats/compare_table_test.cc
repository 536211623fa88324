// Method: comparisons as text and markdown: what is in them, in which order, and that a long one is
// cut unless all is asked for. tests/golden has whole pages.
#include "common/formats/compare_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/formats/csv.h"
#include "tests/unit/judge/sides_testing.h"

namespace dynbench::formats {
namespace {

using judge::Comparison;
using judge::Measured;
using testing::HasSubstr;
using testing::Not;

struct Sides {
  judge::Side base{"job 1", {}}, fresh{"job 2", {}};

  void Add(const std::string& model, double base_ms, double fresh_ms) {
    for (const double factor : {0.999, 1.0, 1.001}) {
      base.processes.push_back(Measured(model, 20 * factor, base_ms / factor));
      fresh.processes.push_back(
          judge::OnNewBuild({Measured(model, 20 * factor, fresh_ms / factor)}).front());
    }
  }
  Comparison Compared() const { return judge::Compare(base, fresh, {}, {}); }
};

TEST(CompareTable, FindingsThenModels) {
  Sides sides;
  sides.Add("slower", 10, 12);
  sides.Add("same", 10, 10);
  const std::string text = CompareTable(sides.Compared(), {}, {});
  EXPECT_THAT(text, HasSubstr("2.00x → 1.83x"))
      << "geometric means of 2.00 and 2.00, then of 1.67 and 2.00";
  EXPECT_THAT(text, HasSubstr("gate: regression"));
  EXPECT_LT(text.find("regressions"), text.find("models, base"));
  EXPECT_THAT(text, HasSubstr("torch 2.13.0 → 2.14.1"));
}

TEST(CompareTable, ALongRunShowsTenFindingsUnlessAllAreAskedFor) {
  Sides sides;
  for (int i = 0; i < 40; ++i) sides.Add("m" + std::to_string(i), 10, i < 25 ? 12 : 10);
  const Comparison comparison = sides.Compared();
  const std::string few = CompareTable(comparison, {}, {});
  EXPECT_THAT(few, HasSubstr("and 15 more, smaller: --all"));
  EXPECT_THAT(few, HasSubstr("15 that are the same: --all"));
  EXPECT_THAT(CompareTable(comparison, {false, true}, {}), Not(HasSubstr("--all")));
}

TEST(CompareTable, ExperimentsOfOneModelCanBeToldApart) {
  Sides sides;
  sides.Add("m", 10, 12);
  sides.Add("m", 10, 12);
  for (judge::Side* side : {&sides.base, &sides.fresh}) {
    for (size_t i = 3; i < 6; ++i) {
      side->processes[i].row.experiment.mode = plan::Mode::kTraining;
    }
  }
  const std::string text = CompareTable(sides.Compared(), {}, {});
  const std::string findings = text.substr(text.find("regressions"), text.find("models, base"));
  EXPECT_THAT(findings, HasSubstr("\nm inference "));
  EXPECT_THAT(findings, HasSubstr("\nm training "));
  EXPECT_THAT(text.substr(text.find("models, base")), HasSubstr("default training"));
}

TEST(CompareTable, MarkdownEscapesItsCells) {
  Sides sides;
  sides.Add("a|b", 10, 12);
  const std::string text = CompareTable(sides.Compared(), {true, false}, {});
  EXPECT_THAT(text, HasSubstr("| a\\|b |"));
  EXPECT_THAT(text, HasSubstr("| ---: |"));
}

TEST(CompareTable, RefusalNamesWhatDiffers) {
  Sides sides;
  sides.Add("m", 10, 10);
  for (auto& process : sides.fresh.processes) process.host["kernel"] = "6.2";
  EXPECT_THAT(CompareTable(sides.Compared(), {}, {}), HasSubstr("kernel 6.1 → 6.2"));
}

TEST(CompareTable, WhyOfOneModel) {
  Sides sides;
  sides.Add("m", 10, 12);
  auto& result = *sides.base.processes[0].row.result;
  for (int i = 0; i < 30; ++i) {  // throttles by 15 %
    result.compiled_ns.push_back(static_cast<int64_t>(1e7 * (1 + 0.15 * i / 29)));
    result.eager_ns.push_back(i % 2 == 0 ? 20'000'000 : 30'000'000);
  }
  const std::string text = CompareWhy(sides.Compared(), "m", {}, {});
  EXPECT_THAT(text, HasSubstr("compiled drifting +15%"));
  EXPECT_THAT(text, HasSubstr("eager bimodal 20.00 (15) and 30.00 (15)"));
  EXPECT_THAT(text, HasSubstr("rank test"));
  EXPECT_EQ(CompareWhy(sides.Compared(), "other", {}, {}), "");
}

TEST(CompareTable, RegressionTableOfTheVendors) {
  Sides sides;
  sides.Add("m", 10, 12.5);
  const std::string text = RegressionTable(sides.Compared());
  const auto lines = ParseCsv(text);
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ((*lines)[0].size(), 15U);
  EXPECT_EQ((*lines)[1][0], "m");
  EXPECT_EQ((*lines)[1][3], "0.012500") << "seconds";
  EXPECT_EQ((*lines)[1][13], "0.800") << "old / new";
  EXPECT_THAT(text, HasSubstr("latency unit,seconds,seconds"));
  EXPECT_THAT(text, HasSubstr("reproduce: dynbenchctl repro e"));
}

}  // namespace
}  // namespace dynbench::formats
