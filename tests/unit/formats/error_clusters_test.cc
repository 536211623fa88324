// Method: errors as frameworks print them, the same one with other addresses, folders, numbers and
// models, and others that only look alike; what must be one and what must not.
#include "common/formats/error_clusters.h"

#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using plan::Blame;
using plan::Phase;
using testing::ElementsAre;
using testing::HasSubstr;

store::ResultRow Fails(const std::string& model, const std::string& error,
                       const std::string& status = "fail_to_run") {
  return Failed(Waiting(model, plan::Test::kPerformance), status, Phase::kCompile, Blame::kCompiler,
                error);
}

TEST(ErrorSignature, LeavesOutWhatVaries) {
  const auto same = [](const char* a, const char* model_a, const char* b, const char* model_b) {
    EXPECT_EQ(ErrorSignature(a, model_a), ErrorSignature(b, model_b)) << a << "\n" << b;
  };
  same("object at 0x7f3a21 is dead", "m", "object at 0x55d0 is dead", "m");
  same("No such file: '/tmp/tmpab12/x1/kernel.cpp'", "m",
       "No such file: '/tmp/tmpzz99/y/other.cpp'", "m");
  same("/srv/env/torch/x.py: bad", "m", "/opt/env/torch/x.py: bad", "m");
  same("resnet50 has 3 inputs, 25.5e-1 wanted", "resnet50", "vgg16 has 12 inputs, 7 wanted",
       "vgg16");
}

TEST(ErrorSignature, KeepsWhatTells) {
  const auto differ = [](const char* a, const char* b) {
    EXPECT_NE(ErrorSignature(a, "m"), ErrorSignature(b, "m")) << a << "\n" << b;
  };
  differ("KeyError: 'emulate_precision_casts'", "KeyError: 'channels'");
  differ("/a/torch/x.py: bad", "/a/torch/y.py: bad");
  differ("float16 is not supported", "float32 is not supported");
}

TEST(ClusterErrors, AFamilyThatFailsAtOnceIsOneLine) {
  std::vector<store::ResultRow> rows;
  for (int i = 0; i < 30; ++i) {
    rows.push_back(Fails("m" + std::to_string(i), "RuntimeError: buffer 0x" +
                                                      std::to_string(7000 + i) + " in /tmp/run" +
                                                      std::to_string(i) + "/k.so"));
  }
  rows.push_back(Fails("alone", "RuntimeError: something else"));
  rows.push_back(Measured("good", 2, 1));
  const auto clusters = ClusterErrors(rows);
  ASSERT_EQ(clusters.size(), 2U);
  EXPECT_EQ(clusters[0].models.size(), 30U);
  EXPECT_THAT(clusters[1].models, ElementsAre("alone"));
  const std::string text = ClusterLines(clusters, 3);
  EXPECT_THAT(text, HasSubstr("30 models, same error: fail_to_run in compile"));
  EXPECT_THAT(text, HasSubstr("m0, m1, m2, m3, m4, m5, m6, m7 and 22 more"));
  EXPECT_THAT(text, testing::Not(HasSubstr("alone")));
}

TEST(ClusterErrors, TheSameTextWithAnotherStatusIsAnother) {
  const std::vector<store::ResultRow> rows = {Fails("a", "x"), Fails("b", "x", "OOM")};
  EXPECT_EQ(ClusterErrors(rows).size(), 2U);
}

TEST(ClusterErrors, IdenticalKeyErrorsHintAtSkew) {
  std::vector<store::ResultRow> rows;
  for (const char* model : {"a", "b", "c"}) {
    rows.push_back(Fails(model, "KeyError: 'emulate_precision_casts'"));
  }
  EXPECT_THAT(ClusterLines(ClusterErrors(rows), 3), HasSubstr("skew"));
  rows.pop_back();
  EXPECT_EQ(ClusterErrors(rows)[0].hint, "") << "two models may well share a fault";
}

}  // namespace
}  // namespace dynbench::formats
