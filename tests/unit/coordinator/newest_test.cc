// Method: more values than are kept.
#include "coordinator/session/newest.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::session {
namespace {

using ::testing::UnorderedElementsAre;

TEST(NewestTest, TheOldestMakesRoom) {
  Newest<int> newest;
  for (int i = 1; i <= 3; ++i) newest.Add(i, 3);
  EXPECT_THAT(newest.values(), UnorderedElementsAre(1, 2, 3));
  newest.Add(4, 3);
  EXPECT_THAT(newest.values(), UnorderedElementsAre(2, 3, 4));
  for (int i = 5; i <= 9; ++i) newest.Add(i, 3);
  EXPECT_THAT(newest.values(), UnorderedElementsAre(7, 8, 9));
}

}  // namespace
}  // namespace dynbench::session
