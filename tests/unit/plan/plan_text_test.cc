// Method: random edits of an object's text, each compared with cutting both texts anew; and the odd
// texts, by hand. The seed is printed.
#include "common/plan/plan_text.h"

#include <random>

#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

// The wholes of the members that differ, found the slow way; none: not the same keys.
std::optional<std::vector<std::string>> Differences(const std::string& a, const std::string& b) {
  const auto before = CutMembers(a), after = CutMembers(b);
  if (!before || !after || before->size() != after->size()) return std::nullopt;
  std::vector<std::string> wholes;
  for (size_t i = 0; i < after->size(); ++i) {
    if ((*before)[i].key(a) != (*after)[i].key(b)) return std::nullopt;
    if ((*before)[i].whole(a) != (*after)[i].whole(b)) wholes.emplace_back((*after)[i].whole(b));
  }
  return wholes;
}

std::string Text(std::mt19937& random, std::vector<std::string>* values) {
  static const char* const kValues[] = {"1",
                                        "12",
                                        "\"\"",
                                        "\"a\\\"b,}\"",
                                        "{\"x\":[1,{}]}",
                                        "[]",
                                        "null",
                                        "{\"x\":[1,{\"y\":2}]}",
                                        "\"t000001\"",
                                        "\"t000002\""};
  for (int edits = static_cast<int>(random() % 4); edits > 0; --edits) {
    (*values)[random() % values->size()] = kValues[random() % std::size(kValues)];
  }
  std::string text = "{";
  for (size_t i = 0; i < values->size(); ++i) {
    text += (i > 0 ? ",\"key_" : "\"key_") + std::string(1, static_cast<char>('a' + i)) +
            "\":" + (*values)[i];
  }
  return text + "}";
}

TEST(PlanText, FindsWhatDiffersWhereverItIs) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<std::string> values(20, "0");
  PlanText plan;
  std::string before;
  for (int i = 0; i < 5000; ++i) {
    std::string text = Text(random, &values);
    if (random() % 50 == 0) text.pop_back();
    if (random() % 50 == 0) text[random() % text.size()] = ',';
    const auto wanted = Differences(before, text);
    const bool follows = plan.Next(text);
    if (follows) {
      std::vector<std::string> got;
      for (const size_t index : plan.changed()) {
        got.emplace_back(plan.member(index).whole(plan.text()));
      }
      ASSERT_TRUE(wanted.has_value()) << before << "\n" << text;
      ASSERT_EQ(got, *wanted) << before << "\n" << text;
    } else {
      ASSERT_FALSE(wanted.has_value()) << before << "\n" << text;
    }
    before = text;
  }
}

TEST(PlanText, OtherTextsAreNew) {
  PlanText plan;
  const std::string good = "{\"a\":1,\"b\":\"x\"}";
  for (const std::string& other :
       {std::string("[\"a\":1,\"b\":\"x\"}"), std::string("{\"a\":1}"), std::string("{}"),
        std::string(""), good + " ", std::string("{\"a\":1,\"c\":\"x\"}"),
        std::string("{\"b\":1,\"a\":2}"), std::string("{\"a\":1 ,\"b\"}"), std::string("{\"a")}) {
    EXPECT_FALSE(plan.Next(good));
    EXPECT_TRUE(plan.Next(good));
    EXPECT_TRUE(plan.changed().empty());
    EXPECT_FALSE(plan.Next(other)) << other;
    plan.Forget();
  }
}

TEST(PlanChanges, AreAnObjectOfWhatDiffersWithoutTheSource) {
  PlanChanges changes;
  EXPECT_EQ(changes.Next("{\"a\":1,\"model\":\"x\",\"source\":{\"name\":\"x\"}}"), std::nullopt);
  EXPECT_EQ(changes.Next("{\"a\":1,\"model\":\"yy\",\"source\":{\"name\":\"yy\"}}"),
            "{\"model\":\"yy\"}");
  EXPECT_EQ(changes.Next("{\"a\":1,\"model\":\"yy\",\"source\":{\"name\":\"yy\"}}"), "{}");
  EXPECT_EQ(changes.Next("{\"a\":[2,3],\"model\":\"z\",\"source\":{\"name\":\"yy\"}}"),
            "{\"a\":[2,3],\"model\":\"z\"}");
}

}  // namespace
}  // namespace dynbench::plan
