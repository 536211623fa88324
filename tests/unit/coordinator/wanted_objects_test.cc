// Method: the plain data alone: what is asked of whom, and what becomes of it when that one has
// sent it, is unable, or is gone.
#include "coordinator/session/wanted_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace dynbench::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const WorkerId kA("a"), kB("b");

TEST(WantedObjects, EachIsAskedForOnceUntilItIsSent) {
  WantedObjects wanted;
  int64_t last = 10;
  EXPECT_TRUE(wanted.empty());
  EXPECT_THAT(wanted.AskFor(kA, &last), IsEmpty());
  wanted.Want("x");
  wanted.Want("y");
  wanted.Want("x");
  EXPECT_FALSE(wanted.empty());
  auto asks = wanted.AskFor(kA, &last);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].number, 11);
  EXPECT_THAT(asks[0].sha256, ElementsAre("x", "y"));
  EXPECT_EQ(wanted.asked(), kA);
  wanted.Want("y");  // another one lacks it too
  wanted.Want("z");
  asks = wanted.AskFor(kA, &last);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_THAT(asks[0].sha256, ElementsAre("z"));
  EXPECT_FALSE(wanted.Sent(kB, 11));  // was not asked
  EXPECT_FALSE(wanted.Sent(kA, 99));
  EXPECT_TRUE(wanted.Sent(kA, 11));
  EXPECT_FALSE(wanted.Sent(kA, 11));
  EXPECT_FALSE(wanted.empty());
  EXPECT_TRUE(wanted.Sent(kA, 12));
  EXPECT_TRUE(wanted.empty());
  EXPECT_FALSE(wanted.complete());
}

TEST(WantedObjects, WhatAHolderCannotSendIsWantedOfAnotherOne) {
  WantedObjects wanted;
  int64_t last = 0;
  wanted.Want("x");
  wanted.AskFor(kA, &last);
  wanted.Want("y");
  wanted.AskFor(kA, &last);
  EXPECT_TRUE(wanted.Sent(kA, 1));
  EXPECT_TRUE(wanted.Unable(kA, 2, "gone"));
  EXPECT_EQ(wanted.unable().at(kA), "gone");
  EXPECT_FALSE(wanted.asked());
  const auto asks = wanted.AskFor(kB, &last);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_THAT(asks[0].sha256, ElementsAre("y"));
  EXPECT_FALSE(wanted.Unable(kA, 2, "late"));
  wanted.Gone(kB);
  EXPECT_FALSE(wanted.empty());
  EXPECT_FALSE(wanted.Sent(kB, asks[0].number));  // of the session before
  wanted.Forgive(kA);
  EXPECT_THAT(wanted.unable(), IsEmpty());
  wanted.ClearUnasked();
  EXPECT_TRUE(wanted.empty());
}

TEST(WantedObjects, AllOfItIsOneAsk) {
  WantedObjects wanted;
  int64_t last = 0;
  wanted.Want("x");
  wanted.WantAll();
  auto asks = wanted.AskFor(kA, &last);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_THAT(asks[0].sha256, IsEmpty());
  wanted.Want("y");  // is among them
  wanted.WantAll();
  EXPECT_THAT(wanted.AskFor(kB, &last), IsEmpty());
  wanted.Gone(kA);
  asks = wanted.AskFor(kB, &last);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_TRUE(wanted.Sent(kB, asks[0].number));
  EXPECT_TRUE(wanted.complete());
  EXPECT_TRUE(wanted.empty());
}

TEST(WantedObjects, ManyAreAskedForInMessagesOfBoundedSize) {
  WantedObjects wanted;
  int64_t last = 0;
  for (size_t i = 0; i < 2 * WantedObjects::kOfAsk + 1; ++i) wanted.Want(absl::StrCat(i));
  const auto asks = wanted.AskFor(kA, &last);
  ASSERT_EQ(asks.size(), 3u);
  EXPECT_EQ(asks[1].sha256.size(), WantedObjects::kOfAsk);
  EXPECT_EQ(asks[2].sha256.size(), 1u);
}

}  // namespace
}  // namespace dynbench::session
