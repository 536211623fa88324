// Method: reports as the runner writes them and as a broken one might: what is well formed is told,
// everything else reads as nothing.
#include "common/formats/compiler_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

plan::Result With(const std::string& report) {
  plan::Result result;
  result.compiler_report = report;
  return result;
}

TEST(CompilerReport, WhatIsThere) {
  const plan::Result result = With(R"({"compile_phases_s": {"a": 1.5, "b": 2},
    "graph_breaks": [{"reason": "print", "user_stack": ["x.py:3 in f", "y.py:4 in g"]}, {"reason": "print"}],
    "recompile_reasons": ["size mismatch"], "autotune": {"hash": "ab", "chosen": [{"kernel": "mm", "choice": "triton_1"}]},
    "explain": {"graphs": 2}})");
  EXPECT_THAT(CompilePhases(result), ElementsAre(Pair("a", 1.5), Pair("b", 2.0)));
  ASSERT_EQ(GraphBreaks(result).size(), 2U);
  EXPECT_EQ(GraphBreaks(result)[0].user_stack, "x.py:3 in f\ny.py:4 in g");
  EXPECT_THAT(RecompileReasons(result), ElementsAre("size mismatch"));
  const std::string text = CompilerReportText(result);
  EXPECT_LT(text.find("2.000 s  b"), text.find("1.500 s  a")) << "the longest first";
  EXPECT_THAT(text, HasSubstr("2 × print"));
  EXPECT_THAT(text, HasSubstr("size mismatch"));
  EXPECT_THAT(text, HasSubstr("mm: triton_1"));
  EXPECT_THAT(text, HasSubstr("graphs: 2"));
}

TEST(CompilerReport, WhatIsNotThereOrBrokenIsEmpty) {
  for (const char* report :
       {"", "{", "[]", "{}", R"({"compile_phases_s": 3, "graph_breaks": {"a": 1}})",
        R"({"compile_phases_s": {"a": "x"}, "graph_breaks": [3, {"reason": null}]})"}) {
    EXPECT_THAT(CompilePhases(With(report)), IsEmpty()) << report;
    EXPECT_THAT(GraphBreaks(With(report)), IsEmpty()) << report;
    EXPECT_EQ(CompilerReportText(With(report)), "") << report;
  }
}

}  // namespace
}  // namespace dynbench::formats
