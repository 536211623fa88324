// Method: random walks through plans that change a few fields at a time, read by one reader and,
// each by itself, by the functions that it stands for. The seed is printed.
#include "common/plan/experiment_reader.h"

#include <random>

#include "common/plan/plan_text.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace dynbench::plan {
namespace {

// Changes one thing; some are nested, some decide what belongs to a series, some are odd texts.
void Change(int which, int value, Experiment* e) {
  switch (which) {
    case 0:
      e->model = e->source.name = "model_" + std::to_string(value);
      break;
    case 1:
      e->model = value % 2 == 0 ? "with \"quotes\" and \\, {braces}" : "";
      break;
    case 2:
      e->batch_size = value;
      break;
    case 3:
      e->test = value % 2 == 0 ? Test::kPerformance : Test::kAccuracy;
      break;
    case 4:
      e->options.inductor_config = {{"a" + std::to_string(value % 3), "1,}"}};
      break;
    case 5:
      e->options = CompileOptions();
      break;
    case 6:
      e->engine = value % 2 == 0 ? "script" : "native";
      break;
    case 7:
      e->command = {"/bin/echo", std::to_string(value)};
      break;
    case 8:
      e->timeout_ms = value;
      e->environment = "env" + std::to_string(value % 3);
      break;
    case 9:
      e->planned_outcome =
          value % 2 == 0 ? std::optional<Outcome>(Outcome::kSkipped) : std::nullopt;
      e->reason = value % 2 == 0 ? "too large" : "";
      break;
    case 10:
      e->accuracy.tolerance = value / 7.0;
      break;
    case 11:
      e->set_env = {{"K", std::to_string(value)}};
      e->requirements = {"pool=a"};
      break;
    case 12:
      e->pair = value % 2;
      e->round = value;
      e->side = value % 3 == 0 ? "base" : "new";
      break;
    default:
      *e = Experiment();
  }
}

void ExpectTheSame(ExperimentReader& reader, const std::string& text) {
  const auto wanted = ExperimentFromJson(text);
  const absl::Status got = reader.Read(text);
  EXPECT_EQ(got, wanted.status()) << text;
  if (!wanted.ok() || !got.ok()) return;
  EXPECT_EQ(ToJson(reader.experiment()), ToJson(*wanted));
  EXPECT_EQ(nlohmann::json::parse(reader.PublicJsonText()), ToPublicJson(*wanted));
}

TEST(ExperimentReader, ReadsARowAfterAnotherAsEachWouldBeReadAlone) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  ExperimentReader reader;
  Experiment experiment;
  for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
    for (int changes = static_cast<int>(random() % 3); changes >= 0; --changes) {
      Change(static_cast<int>(random() % 14), static_cast<int>(random() % 100), &experiment);
    }
    ExpectTheSame(reader, ToJson(experiment));
  }
}

// As a coordinator sends them and dynbenchctl reads them; of `source` nothing is known.
TEST(ExperimentReader, ChangesSayWhatTheTextsSay) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  PlanChanges changes;
  ExperimentReader reader;
  Experiment experiment;
  int wholes = 0;
  for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
    if (i > 0)
      Change(static_cast<int>(random() % 14), static_cast<int>(random() % 100), &experiment);
    const std::string text = ToJson(experiment);
    const auto changed = changes.Next(text);
    wholes += changed ? 0 : 1;
    const absl::Status read = changed ? reader.ReadChanges(*changed) : reader.Read(text);
    ASSERT_TRUE(read.ok()) << read << " " << changed.value_or(text);
    Experiment got = reader.experiment();
    got.source = experiment.source;
    EXPECT_EQ(ToJson(got), text);
  }
  EXPECT_EQ(wholes, 1);
}

TEST(ExperimentReader, RefusesChangesOfNothingAndUnknownOnes) {
  ExperimentReader reader;
  EXPECT_EQ(reader.ReadChanges("{}").code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(reader.Read(ToJson(Experiment())).ok());
  EXPECT_TRUE(reader.ReadChanges("{}").ok());
  for (const char* bad : {"", "nonsense", "{\"sweet\":1}", "{\"model\":1}", "{\"model\":"}) {
    ASSERT_TRUE(reader.Read(ToJson(Experiment())).ok());
    EXPECT_EQ(reader.ReadChanges(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(ExperimentReader, OtherTextsAndErrorsAreThoseOfTheWholeReader) {
  ExperimentReader reader;
  Experiment experiment;
  experiment.model = "a";
  const std::string good = ToJson(experiment);
  for (const std::string& text : {good,
                                  std::string("{\"model\": \"b\",  \"batch_size\":3}"),
                                  good,
                                  std::string("{\"model\":1}"),
                                  std::string("nonsense"),
                                  good,
                                  good.substr(0, good.size() - 1),
                                  good + " ",
                                  std::string("{}"),
                                  std::string("{\"model\":\"c\"}"),
                                  std::string("{\"model\":\"d\"}"),
                                  std::string("{\"model\":\"d\",\"sweet\":1}"),
                                  std::string("{\"model\":\"e\",\"model\":\"f\"}"),
                                  std::string("{\"model\":\"\\u0041\"}"),
                                  std::string("{\"options\":{\"freezing\":true}}"),
                                  std::string("{\"options\":{\"backend\":\"eager\"}}"),
                                  std::string("{\"model\":"),
                                  good,
                                  std::string(R"({"source":{"loader":"a","name":"b"}})"),
                                  std::string(R"({"source":{"loader":"a"}})"),
                                  std::string(R"({"source":{"parameters":{"k":"v"}}})"),
                                  std::string(R"({"source":{"parameters":{}}})"),
                                  std::string(R"({"source":{}})"),
                                  std::string(R"({"source":{"name":"\u0041"}})"),
                                  std::string(R"({"source":{"loader":null}})"),
                                  std::string(R"({"source":{"name":"x"}})"),
                                  std::string(R"({"source":{"loader":1}})"),
                                  std::string(R"({"source":{"name":"y"}})"),
                                  std::string(R"({"source":{"sweet":1}})"),
                                  good}) {
    SCOPED_TRACE(text);
    ExpectTheSame(reader, text);
  }
}

}  // namespace
}  // namespace dynbench::plan
