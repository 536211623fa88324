// Method: requests with one option too many each, expanded over the installed suites; every one is
// refused with the option's name and the way out, and its neighbour that has an effect is planned.
#include "common/plan/request_check.h"

#include "tests/unit/plan/plan_testing.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;
using Change = void (*)(Request&);

constexpr plan::Test kPerformance = plan::Test::kPerformance;
constexpr plan::Test kAccuracy = plan::Test::kAccuracy;

TEST(CheckRequest, AnOptionWithoutEffectIsRefused) {
  struct Case {
    Change change;
    const char* says;
  };
  const Case cases[] = {
      {[](Request& r) {
         r.tests = {kAccuracy};
         r.repeat = 3;
       },
       "--repeat has no effect"},
      {[](Request& r) {
         r.target_precision = 0.01;
         r.tests = {plan::Test::kAccuracy};
       },
       "--target-precision has no effect"},
      {[](Request& r) {
         r.tests = {kAccuracy};
         r.given = {"repeat"};
       },
       "add --performance"},
      {[](Request& r) {
         r.tests = {kAccuracy};
         r.iterations_per_run = 2;
       },
       "--iterations-per-run has no effect"},
      {[](Request& r) {
         r.tests = {kAccuracy};
         r.randomize_input = true;
       },
       "--randomize-input has no effect"},
      {[](Request& r) {
         r.tests = {kPerformance};
         r.iterations = 3;
       },
       "--iterations has no effect: it is for the accuracy test, and only --performance was asked "
       "for; remove it or add --accuracy"},
      {[](Request& r) {
         r.tests = {kPerformance};
         r.tolerance = 0.1;
       },
       "--accuracy-tolerance has no effect"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.configurations = {"freezing"};
       },
       "--configuration freezing has no effect: freezing is for inference"},
      {[](Request& r) {
         r.modes = {Mode::kTraining};
         r.options = UpstreamOptions("inductor", false);
         r.options->freezing = true;
       },
       "--freezing has no effect: freezing is for inference"},
      {[](Request& r) {
         r.batch_size = 4;
         r.batch_sizes = {{"repvgg_a2", 8}};
       },
       "--batch-size-file has no effect with --batch-size"},
      {[](Request& r) { r.total_partitions = 7; }, "--total-partitions has no effect alone"},
      {[](Request& r) { r.fast = true; },
       "--fast has no effect: the suite \"timm\" marks no model"},
      {[](Request& r) { r.fast = r.no_skip = true; }, "--fast has no effect with --no-skip"},
      {[](Request& r) {
         r.only = {"repvgg_a2"};
         r.filters = {"rep"};
       },
       "--filter has no effect with --only"},
      {[](Request& r) {
         r.only = {"repvgg_a2"};
         r.excludes = {"rep"};
       },
       "--exclude has no effect"},
      {[](Request& r) {
         r.only = {"repvgg_a2"};
         r.models = {"nfnet_l0"};
       },
       "--models has no effect with --only"},
      {[](Request& r) {
         r.only = {"repvgg_a2"};
         r.total_partitions = 2;
         r.partition_id = 1;
       },
       "--total-partitions has no effect with --only"},
      {[](Request& r) {
         r.options = UpstreamOptions("inductor", false);
         r.configurations = {"default"};
       },
       "exclude each other"},
      {[](Request& r) {
         r.options = UpstreamOptions("eager", false);
         r.options->compile_mode = "max-autotune";
       },
       "--inductor-compile-mode has no effect with --backend=eager"},
      {[](Request& r) {
         r.options = UpstreamOptions("aot_eager", true);
         r.given = {"disable-cudagraphs"};
       },
       "--disable-cudagraphs has no effect with --backend=aot_eager"},
      {[](Request& r) {
         r.options = UpstreamOptions("nothing", false);
         r.options->dynamic_batch_only = true;
       },
       "--dynamic-batch-only has no effect with --backend=nothing"},
  };
  for (const Case& c : cases) {
    Request request = Timm();
    c.change(request);
    const auto plan = PlanOf(request);
    ASSERT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.says;
    EXPECT_THAT(ErrorOf(plan.status()), HasSubstr(c.says));
  }
}

TEST(CheckRequest, ValuesOutOfRangeAreRefused) {
  struct Case {
    Change change;
    const char* says;
  };
  const Case cases[] = {
      {[](Request& r) { r.repeat = 0; }, "--repeat wants at least 1, not 0"},
      {[](Request& r) { r.batch_size = -1; }, "--batch-size wants at least 0, not -1"},
      {[](Request& r) { r.given = {"batch-size"}; }, "--batch-size wants at least 1, not 0"},
      {[](Request& r) {
         r.batch_sizes = {{"repvgg_a2", -1}};
       },
       "the batch size of \"repvgg_a2\" must be at least 1, not -1"},
      {[](Request& r) { r.total_partitions = 0; }, "--total-partitions wants at least 1"},
      {[](Request& r) {
         r.total_partitions = 7;
         r.partition_id = 7;
       },
       "--partition-id 7 is outside 0 to 6"},
      {[](Request& r) {
         r.total_partitions = 7;
         r.partition_id = -2;
       },
       "--partition-id -2 is outside 0 to 6"},
      {[](Request& r) { r.given = {"partition-id"}; }, "--partition-id -1 is outside 0 to 0"},
      {[](Request& r) { r.timeout_ms = 0; }, "--timeout wants at least 1"},
      {[](Request& r) { r.threads = -1; }, "--threads wants at least 0"},
      {[](Request& r) { r.tolerance = 0; }, "--accuracy-tolerance wants a number greater than 0"},
      {[](Request& r) { r.given = {"target-precision"}; },
       "--target-precision wants a share above 0% and at most 50%, such as 1%, not 0%"},
      {[](Request& r) { r.target_precision = 0.6; }, "not 60%"},
      {[](Request& r) { r.given = {"precision-budget"}; },
       "--precision-budget has no effect alone; add --target-precision"},
      {[](Request& r) {
         r.target_precision = 0.01;
         r.precision_budget_ms = 3'600'000;
       },
       "--precision-budget wants a time above 0 and at most 10m"},
      {[](Request& r) {
         r.target_precision = 0.01;
         r.instances = 2;
       },
       "--target-precision cannot be met with --instances"},
      {[](Request& r) {
         r.set_env = {{"A-B", "1"}};
       },
       "\"A-B\" is no name of a variable"},
      {[](Request& r) {
         r.set_env = {{"1A", "1"}};
       },
       "give NAME=VALUE"},
      {[](Request& r) { r.environments = {""}; }, "--environment wants a name"},
  };
  for (const Case& c : cases) {
    Request request = Timm();
    c.change(request);
    const auto plan = PlanOf(request);
    ASSERT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.says;
    EXPECT_THAT(ErrorOf(plan.status()), HasSubstr(c.says));
  }
}

TEST(CheckRequest, WhatHasAnEffectIsPlanned) {
  const Change changes[] = {
      [](Request& r) { r.repeat = 3; },
      [](Request& r) { r.tests = {kAccuracy}; },
      [](Request& r) { r.no_skip = true; },  // nothing to skip here, and still what was asked for
      [](Request& r) {
        r.partition_id = 0;
        r.given = {"partition-id"};
      },  // of 1, as scripts pass it
      [](Request& r) {
        r.total_partitions = 7;
        r.policy = PartitionPolicy::kStatic;
      },
      [](Request& r) {
        r.modes = {Mode::kTraining, Mode::kInference};
        r.configurations = {"freezing"};
      },
      [](Request& r) {
        r.options = UpstreamOptions("inductor", false);
        r.options->dynamic_batch_only = true;
      },
      [](Request& r) {
        r.set_env = {{"OMP_NUM_THREADS", "1"}};
      },
  };
  for (const Change& change : changes) {
    Request request = Timm();
    change(request);
    EXPECT_TRUE(PlanOf(request).ok()) << PlanOf(request).status();
  }
}

TEST(Lists, HaveDefaultsAndNoRepetitions) {
  Request r;
  EXPECT_THAT(ModesOf(r), testing::ElementsAre(Mode::kInference));
  EXPECT_THAT(TestsOf(r), testing::ElementsAre(kPerformance, kAccuracy));
  r.environments = {"b", "a", "b"};
  EXPECT_THAT(EnvironmentsOf(r), testing::ElementsAre("b", "a"));
}

}  // namespace
}  // namespace dynbench::plan
