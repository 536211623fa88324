// Method: spans are recorded as the coordinator does, growing, shrinking and vanishing, and the
// sums by reason are compared with those worked out by hand; overlaps must be impossible.
#include "common/store/slot_time.h"

#include <map>

#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

class SlotTimeTest : public StoreTest {
 protected:
  absl::Status Record(int64_t since, int64_t until, const std::string& reason, int slot = 0) {
    return Write([&] {
      return RecordSpans(*db_, {{{WorkerId("w"), slot}, {since}, {until}, reason}});
    });
  }
  std::map<std::string, double> Sums(int64_t since, int64_t until, int slot = 0) {
    std::map<std::string, double> sums;
    const auto rows = SecondsByReason(*db_, {since}, {until});
    EXPECT_TRUE(rows.ok()) << rows.status();
    for (const SlotSeconds& row : *rows) {
      if (row.slot.index == slot) sums[row.reason] += row.seconds;
    }
    return sums;
  }
};

using Sum = std::map<std::string, double>;

TEST_F(SlotTimeTest, SumsAreCutAtTheEdges) {
  ASSERT_OK(Record(1'000, 3'000, "no_work"));
  ASSERT_OK(Record(3'000, 4'500, "measuring"));
  ASSERT_OK(Record(4'500, 5'000, "no_work"));
  ASSERT_OK(Record(1'000, 5'000, "drained", 1));
  EXPECT_EQ(Sums(0, 9'000), (Sum{{"no_work", 2.5}, {"measuring", 1.5}}));
  EXPECT_EQ(Sums(2'000, 4'000), (Sum{{"no_work", 1}, {"measuring", 1}}));
  EXPECT_EQ(Sums(0, 9'000, 1), (Sum{{"drained", 4}}));
  EXPECT_EQ(Number("SELECT sum(seconds) * 10 FROM v_idle WHERE idle"), 65);
}

TEST_F(SlotTimeTest, AnOpenSpanGrowsShrinksAndGoes) {
  ASSERT_OK(Record(1'000, 3'000, "disconnected"));
  ASSERT_OK(Record(1'000, 9'000, "disconnected"));
  ASSERT_OK(Record(1'000, 2'000, "disconnected"));  // it was measuring, it says now
  ASSERT_OK(Record(2'000, 9'000, "measuring"));
  EXPECT_EQ(Sums(0, 9'000), (Sum{{"disconnected", 1}, {"measuring", 7}}));
  ASSERT_OK(Record(2'000, 2'000, "measuring"));
  EXPECT_EQ(Sums(0, 9'000), (Sum{{"disconnected", 1}}));
  const auto last = LastSpans(*db_);
  ASSERT_TRUE(last.ok() && last->size() == 1u) << last.status();
  EXPECT_EQ(last->front().until.ms, 2'000);
}

TEST_F(SlotTimeTest, NoSecondCountsTwice) {
  ASSERT_OK(Record(1'000, 3'000, "no_work"));
  EXPECT_FALSE(Record(2'000, 4'000, "measuring").ok());
  EXPECT_FALSE(Record(3'000, 4'000, "daydreaming").ok());
  EXPECT_OK(Record(3'000, 4'000, "measuring"));
}

}  // namespace
}  // namespace dynbench::store
