// Method: tell durations of near and far relatives of an experiment; the nearest must win.
#include "coordinator/session/predictions.h"

#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

plan::Experiment Named(const std::string& model) {
  plan::Experiment experiment;
  experiment.suite = "timm";
  experiment.model = model;
  return experiment;
}

TEST(PredictionsTest, TheNearestHistoryWinsAndItsMedianCounts) {
  Predictions predictions;
  const plan::Experiment a = Named("a");
  EXPECT_FALSE(predictions.Known(a).has_value());
  EXPECT_EQ(predictions.Expected(a), Predictions::kUnknownSeconds);

  predictions.Load({{"suite:timm/performance/cold", 40}});
  EXPECT_EQ(predictions.Expected(a), 40);
  plan::Experiment other_precision = a;
  other_precision.precision = plan::Precision::kFp32;
  predictions.Observe(other_precision, 20);
  EXPECT_EQ(predictions.Expected(a), 20) << "the same model, another series";
  for (const double seconds : {10.0, 12.0, 500.0}) predictions.Observe(a, seconds);
  EXPECT_EQ(predictions.Expected(a), 12);
}

TEST(PredictionsTest, ManyObservationsForgetTheOldest) {
  Predictions predictions;
  for (int i = 0; i < 50; ++i) predictions.Observe(Named("a"), 100);
  for (int i = 0; i < 15; ++i) predictions.Observe(Named("a"), 7);
  EXPECT_EQ(predictions.Expected(Named("a")), 7);
}

}  // namespace
}  // namespace dynbench::session
