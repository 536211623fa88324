// Method: runs in which nothing varies, then one word after another.
#include "common/judge/labels.h"

#include <gtest/gtest.h>

#include "tests/unit/judge/sides_testing.h"

namespace dynbench::judge {
namespace {

Pair PairOf(const plan::Experiment& experiment) {
  Pair pair;
  pair.experiment = experiment;
  return pair;
}

TEST(Labels, NameWhatVariesAndNothingElse) {
  const plan::Experiment plain = ExperimentOf("m");
  const std::string configuration = plain.configuration;
  Pairing pairing;
  EXPECT_EQ(Labels(pairing).OfModel(plain), "m");
  pairing.pairs = {PairOf(plain), PairOf(plain)};
  EXPECT_EQ(Labels(pairing).OfModel(plain), "m");
  EXPECT_EQ(Labels(pairing).OfConfiguration(plain), configuration);

  plan::Experiment training = plain;
  training.mode = plan::Mode::kTraining;
  pairing.pairs.push_back(PairOf(training));
  EXPECT_EQ(Labels(pairing).OfModel(plain), "m inference");
  EXPECT_EQ(Labels(pairing).OfModel(training), "m training");
  EXPECT_EQ(Labels(pairing).OfConfiguration(training), configuration + " training");

  plan::Experiment other = plain;
  other.configuration = "cudagraphs";
  other.start = plan::Start::kWarm;
  other.profile = "steady-heap";
  pairing.pairs.push_back(PairOf(other));
  EXPECT_EQ(Labels(pairing).OfModel(other), "m cudagraphs inference warm steady-heap");
}

}  // namespace
}  // namespace dynbench::judge
