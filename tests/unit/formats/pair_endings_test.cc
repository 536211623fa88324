// Method: rows of two pairs, of which one was decided early; and of a job that has no pairs.
#include "common/formats/pair_endings.h"

#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

store::ResultRow Round(int pair, int round, const std::string& unneeded_because) {
  store::ResultRow row;
  row.experiment.model = "m" + std::to_string(pair);
  row.experiment.pair = pair;
  row.experiment.round = round;
  row.result.emplace();
  row.result->outcome = unneeded_because.empty() ? plan::Outcome::kPassed : plan::Outcome::kSkipped;
  row.result->error = unneeded_because;
  if (unneeded_because.empty()) row.lease = LeaseEpoch(1);
  return row;
}

TEST(PairEndings, OneLineAPairWithItsReason) {
  EXPECT_EQ(PairEndings({Round(1, 1, ""), Round(1, 2, "decided: same"),
                         Round(1, 3, "decided: same"), Round(2, 1, "")}),
            "\npairs\n  m1 performance: decided: same\n");
}

TEST(PairEndings, NothingWithoutPairs) { EXPECT_EQ(PairEndings(EveryKindOfRow()), ""); }

}  // namespace
}  // namespace dynbench::formats
