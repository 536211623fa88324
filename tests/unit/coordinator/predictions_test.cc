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

  predictions.Load({{"of_b", "timm", "b", "performance", "cold", 40, WorkerId("w")}});
  EXPECT_EQ(predictions.Known(a), 40);
  EXPECT_EQ(predictions.Predict(a).basis, Prediction::Basis::kSuite);
  plan::Experiment other_precision = a;
  other_precision.precision = plan::Precision::kFp32;
  predictions.Observe(other_precision, 20);
  EXPECT_EQ(predictions.Expected(a), 20) << "the same model, another series";
  for (const double seconds : {10.0, 12.0, 500.0}) predictions.Observe(a, seconds);
  EXPECT_EQ(predictions.Expected(a), 12);
}

TEST(PredictionsTest, QuantilesAreOfTheNearestHistoryAndTheTailOfFewIsWide) {
  Predictions predictions;
  const plan::Experiment a = Named("a");
  for (const double seconds : {10.0, 11.0}) predictions.Observe(a, seconds);
  EXPECT_DOUBLE_EQ(predictions.Predict(a).p50_s, 10.5);
  EXPECT_DOUBLE_EQ(predictions.Predict(a).p90_s, 1.25 * 10.5) << "two values have no tail";
  for (int i = 12; i <= 20; ++i) predictions.Observe(a, i);
  EXPECT_EQ(predictions.Predict(a).basis, Prediction::Basis::kSeries);
  EXPECT_DOUBLE_EQ(predictions.Predict(a).p50_s, 15);
  EXPECT_DOUBLE_EQ(predictions.Predict(a).p90_s, 19);
  EXPECT_EQ(predictions.Expected(a), 15);
}

TEST(PredictionsTest, AModelThatIsNewIsPlacedAsOneOfTheLongestOfItsSuite) {
  Predictions predictions;
  for (int i = 1; i <= 101; ++i) predictions.Observe(Named("m" + std::to_string(i)), i);
  const Prediction fresh = predictions.Predict(Named("fresh"));
  EXPECT_EQ(fresh.basis, Prediction::Basis::kSuite);
  EXPECT_DOUBLE_EQ(fresh.p50_s, 51) << "for an ETA the median counts";
  EXPECT_DOUBLE_EQ(fresh.place_s, 100);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("m7")).place_s, 7);
}

plan::Suite TimmWith(const std::vector<std::pair<std::string, double>>& models) {
  plan::Suite timm;
  timm.name = "timm";
  for (const auto& [name, seconds] : models) {
    plan::ModelRules& model = timm.models.emplace_back();
    model.name = name;
    model.typical_compile_s = seconds;
  }
  return timm;
}

TEST(PredictionsTest, WithoutHistoryTheSuitesFileSaysWhoIsLong) {
  Predictions predictions;
  predictions.LearnTypical(TimmWith({{"short", 10}, {"middle", 20}, {"long", 60}, {"silent", 0}}));
  EXPECT_FALSE(predictions.Known(Named("long"))) << "another machine's figure is no prediction";
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("long")).place_s, 3 * Predictions::kUnknownSeconds);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("short")).place_s, Predictions::kUnknownSeconds / 2);
  EXPECT_EQ(predictions.Predict(Named("silent")).place_s,
            predictions.Predict(Named("long")).place_s);

  predictions.Observe(Named("other"), 100);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("long")).place_s, 300);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("silent")).place_s, 100);
  predictions.Observe(Named("long"), 7);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("long")).place_s, 7) << "its own history wins";
}

TEST(PredictionsTest, AUsersSuiteCountsForItsOwnJobWhateverItIsCalled) {
  Predictions predictions;
  predictions.LearnTypical(TimmWith({{"a", 10}, {"b", 20}, {"c", 60}}));
  constexpr double kUnit = Predictions::kUnknownSeconds;
  const TypicalCompile own(TimmWith({{"a", 90}, {"b", 30}, {"c", 10}}));
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("a"), &own).place_s, 3 * kUnit);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("a"), &own).compile_weight, 3);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("a")).place_s, kUnit / 2);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("a")).compile_weight, 0.5);
  const TypicalCompile silent(TimmWith({{"a", 0}}));
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("a"), &silent).place_s, kUnit)
      << "the installed one says nothing of it";
  predictions.Observe(Named("a"), 7);
  EXPECT_DOUBLE_EQ(predictions.Predict(Named("a")).compile_weight, 0.5) << "whatever history says";
}

TEST(PredictionsTest, TheHomeOfASeriesIsTheWorkerThatMeasuredItLast) {
  Predictions predictions;
  const plan::Experiment a = Named("a");
  EXPECT_FALSE(predictions.Home(a));
  predictions.Load({{plan::SeriesKey(a), "timm", "a", "performance", "cold", 4, WorkerId("v")}});
  EXPECT_EQ(predictions.Home(a), WorkerId("v"));
  predictions.Observe(a, 5, WorkerId("w"));
  EXPECT_EQ(predictions.Home(a), WorkerId("w"));
  EXPECT_FALSE(predictions.Home(Named("b")));
}

TEST(PredictionsTest, ManyObservationsForgetTheOldest) {
  Predictions predictions;
  for (int i = 0; i < 50; ++i) predictions.Observe(Named("a"), 100);
  for (int i = 0; i < 15; ++i) predictions.Observe(Named("a"), 7);
  EXPECT_EQ(predictions.Expected(Named("a")), 7);
}

}  // namespace
}  // namespace dynbench::session
