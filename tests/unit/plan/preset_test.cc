// Method: the six commands of upstream's first row, as requests, against the preset of that name;
// how often upstream's own job would start a script, against the dashboards; then bad files.
#include "common/plan/preset.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// `SUITE.py --performance --MODE --PRECISION --backend=inductor --output=OUTPUT`
Request Command(const char* suite, Mode mode, Precision precision, const char* output) {
  Request request;
  request.suite = suite;
  request.tests = {plan::Test::kPerformance};
  request.modes = {mode};
  request.precision = precision;
  request.options = UpstreamOptions("inductor", /*disable_cudagraphs=*/false);
  request.output = output;
  return request;
}

TEST(Presets, FirstRowIsUpstreamsSixCommands) {
  const auto training = Mode::kTraining, inference = Mode::kInference;
  const auto amp = Precision::kAmp, bf16 = Precision::kBf16;
  const Request wanted[] = {
      Command("torchbench", training, amp, "torchbench_training.csv"),
      Command("huggingface", training, amp, "huggingface_training.csv"),
      Command("timm", training, amp, "timm_models_training.csv"),
      Command("torchbench", inference, bf16, "torchbench_inference.csv"),
      Command("huggingface", inference, bf16, "huggingface_inference.csv"),
      Command("timm", inference, bf16, "timm_models_inference.csv"),
  };
  const Preset& preset = Installed().presets.at("first-row");
  ASSERT_THAT(preset.submissions, SizeIs(6));
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(ToJson(preset.submissions[i]), ToJson(wanted[i])) << i;
  }
}

// Upstream starts a script for each configuration, mode and test of a suite.
int ScriptsOf(const std::string& preset, const std::string& suite) {
  std::set<std::string> scripts;
  for (const Request& submission : Installed().presets.at(preset).submissions) {
    if (submission.suite != suite) continue;
    const auto plan = PlanOf(submission);
    EXPECT_TRUE(plan.ok()) << plan.status();
    for (const Experiment& e : plan->experiments) {
      scripts.insert(e.configuration + " " + std::string(ToString(e.mode)) + " " +
                     std::string(ToString(e.test)));
    }
  }
  return static_cast<int>(scripts.size());
}

TEST(Presets, DashboardsAreAsManyRunsAsUpstreams) {
  for (const char* suite : {"huggingface", "timm", "torchbench"}) {
    EXPECT_EQ(ScriptsOf("dashboard-nightly", suite), 21) << suite;
    EXPECT_EQ(ScriptsOf("dashboard-weekly", suite), 27) << suite;
    EXPECT_EQ(ScriptsOf("cpu-nightly", suite), 9) << suite;
  }
}

TEST(Presets, EverySubmissionIsPlannedAsItStands) {
  for (const auto& [name, preset] : Installed().presets) {
    for (const Request& submission : preset.submissions) {
      const auto plan = PlanOf(submission);
      ASSERT_TRUE(plan.ok()) << name << ": " << plan.status();
      EXPECT_FALSE(plan->experiments.empty()) << name;
    }
  }
}

TEST(ParsePreset, SaysWhatIsWrongWhere) {
  struct Case {
    const char* text;
    const char* says;
  };
  const Case cases[] = {
      {"name: p\n", "p.yaml:1:1: the preset: the key \"submissions\" is missing"},
      {"name: p\nsubmissions: []\n", "wants a list with at least one"},
      {"name: p\nsubmissions: [{modes: inference}]\n", "wants \"suite\" (one name) or \"suites\""},
      {"name: p\nsubmissions: [{suite: a, suites: [b]}]\n", "wants \"suite\" (one name) or"},
      {"name: p\nsubmissions: [{suite: a, mode: inference}]\n",
       "did you mean \"modes\" or \"models\"?"},
      {"name: p\nsubmissions: [{suite: a, precision: bf16}]\n", "\"precision\" wants one of"},
      {"name: p\nsubmissions:\n  - suite: a\n    configurations: [b]\n    options: {backend: c}\n",
       "\"options\" and \"configurations\" exclude each other"},
      {"name: p\nsubmissions:\n  - suite: a\n    options: {backnd: c}\n",
       "p.yaml:4:15: submission: options: unknown key \"backnd\""},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ErrorOf(ParsePreset(c.text, "p.yaml").status()), HasSubstr(c.says)) << c.text;
  }
}

}  // namespace
}  // namespace dynbench::plan
