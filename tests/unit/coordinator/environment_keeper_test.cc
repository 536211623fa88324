// Method: the keeper alone, with a list of the orders that it gives and a real store behind its
// changes; workers are hellos. A restart is a second keeper that loads what the first has stored.
#include "coordinator/session/environment_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "common/plan/recipe.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Hello HelloOf(const std::string& id, const std::string& environment_id = "",
                  bool capable = true) {
  v1::Hello hello;
  hello.set_worker_id(id);
  hello.set_host("host-" + id);
  hello.set_makes_environments(capable);
  hello.set_sends_objects(capable);
  v1::Environment& by_hand = *hello.add_environments();
  by_hand.set_name("default");
  by_hand.set_hash("hash-of-default");
  if (environment_id.empty()) return hello;
  v1::Environment& made = *hello.add_environments();
  made.set_name("made");
  made.set_id(environment_id);
  made.set_hash("hash-of-made");
  return hello;
}

std::string RecipeText(const std::string& requirement = "torch==2") {
  plan::Recipe recipe;
  recipe.name = "made";
  recipe.python = "3.11";
  recipe.requirements = {requirement};
  return plan::RecipeToJson(recipe);
}

v1::EnvironmentReport ReportOf(const std::string& id, const std::string& state,
                               const std::string& reason = "") {
  v1::EnvironmentReport report;
  report.set_id(id);
  report.set_state(state);
  report.set_reason(reason);
  if (state == "ready") {
    report.set_manifest_sha256(std::string(64, 'f'));
    report.set_hash("hash-of-made");
  }
  return report;
}

class KeeperTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    Restart();
  }

  void Restart() {
    keeper_ = std::make_unique<EnvironmentKeeper>(EnvironmentKeeper::Services{
        [this](const WorkerId& worker, const v1::EnvironmentOrder& order) {
          orders_.push_back(worker.value + " " + order.action() + " " + order.name());
          if (order.action() == "send") {
            orders_.back() += order.sha256().empty() ? " all" : "";
            for (const std::string& digest : order.sha256()) {
              orders_.back() += " " + digest.substr(0, 2);
            }
            asks_.push_back(order.ask());
          }
          if (order.on_demand()) ++on_demand_;
        },
        [this](const ingest::Change& change) {
          const absl::Status status = Write([&] { return change(*db_); });
          EXPECT_TRUE(status.ok()) << status;
        },
        [] { return UnixTimeMs{1'000}; }});
    const auto rows = store::LoadFleetEnvironments(*db_);
    ASSERT_TRUE(rows.ok()) << rows.status();
    keeper_->Load(*rows);
  }
  std::vector<std::string> TakeOrders() { return std::exchange(orders_, {}); }
  std::string StateOf(const std::string& id) {
    const auto log = keeper_->Log(id, 0);
    return log.ok() ? log->environment().state() : std::string(log.status().message());
  }
  std::string BuildOn(const std::string& worker) {
    const auto made = keeper_->Build(RecipeText(), WorkerId(worker));
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->id() : "";
  }

  std::unique_ptr<EnvironmentKeeper> keeper_;
  v1::FleetEnvironment Only() {
    const auto all = keeper_->List(false);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? v1::FleetEnvironment() : all[0];
  }
  std::string PlaceOf(const std::string& worker) {
    const v1::FleetEnvironment only = Only();
    for (const v1::EnvironmentPlace& place : only.places()) {
      if (place.worker() == worker) return place.state() + ": " + place.reason();
    }
    return "";
  }
  // Made by a; known to it.
  std::string MadeByA() {
    keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
    std::string id = BuildOn("a");
    keeper_->Report(WorkerId("a"), ReportOf(id, "ready"));
    return id;
  }
  void Lacks(const std::string& worker, const std::string& id, const std::string& digits) {
    v1::EnvironmentReport report = ReportOf(id, "lacking");
    for (const char digit : digits) report.add_missing(std::string(64, digit));
    keeper_->Report(WorkerId(worker), report);
  }
  void Ended(const std::string& worker, const std::string& id, const std::string& state,
             int64_t ask) {
    v1::EnvironmentReport report = ReportOf(id, state, state == "unable" ? "its disk" : "");
    report.set_ask(ask);
    keeper_->Report(WorkerId(worker), report);
  }

  std::vector<std::string> orders_;
  std::vector<int64_t> asks_;
  int on_demand_ = 0;
};

TEST_F(KeeperTest, FilesAreAskedForWhenAnotherWorkerLacksThem) {
  const std::string id = MadeByA();
  EXPECT_EQ(on_demand_, 1);
  EXPECT_THAT(TakeOrders(), ElementsAre("a build made"));
  EXPECT_THAT(PlaceOf("a"), HasSubstr("ready"));
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("b install made"));
  Lacks("b", id, "12");
  EXPECT_THAT(TakeOrders(), ElementsAre("a send made 11 22"));
  EXPECT_THAT(PlaceOf("b"), HasSubstr("waiting: for files that host-a sends"));
  keeper_->Report(WorkerId("a"), ReportOf(id, "sending", "1 of 2 files"));
  EXPECT_THAT(PlaceOf("b"), HasSubstr("1 of 2 files"));
  EXPECT_THAT(PlaceOf("a"), HasSubstr("ready"));
  // A third one lacks some of the same: they are not asked for twice.
  keeper_->Joined(WorkerId("c"), HelloOf("c"), false);
  TakeOrders();
  Lacks("c", id, "23");
  EXPECT_THAT(TakeOrders(), ElementsAre("a send made 33"));
  Ended("a", id, "sent", asks_[0]);
  EXPECT_THAT(TakeOrders(), IsEmpty());
  Ended("a", id, "sent", asks_[1]);
  EXPECT_THAT(TakeOrders(), ElementsAre("b install made", "c install made"));
  Ended("a", id, "sent", asks_[1]);  // told again
  EXPECT_THAT(TakeOrders(), IsEmpty());
  keeper_->Report(WorkerId("b"), ReportOf(id, "ready"));
  EXPECT_THAT(PlaceOf("b"), HasSubstr("ready"));
}

TEST_F(KeeperTest, AnotherHolderServesTheRest) {
  const std::string id = MadeByA();
  keeper_->Joined(WorkerId("b"), HelloOf("b", id), false);
  keeper_->Joined(WorkerId("c"), HelloOf("c"), false);
  TakeOrders();
  Lacks("c", id, "12");
  EXPECT_THAT(TakeOrders(), ElementsAre("a send made 11 22"));
  keeper_->Left(WorkerId("a"));
  EXPECT_THAT(TakeOrders(), ElementsAre("b send made 11 22"));
  Ended("a", id, "sent", asks_[0]);  // too late to be news
  Ended("b", id, "unable", asks_[1]);
  EXPECT_THAT(TakeOrders(), IsEmpty());
  EXPECT_THAT(PlaceOf("c"), HasSubstr("lacking: host-b cannot send it: its disk"));
  keeper_->Joined(WorkerId("a"), HelloOf("a", id), true);
  EXPECT_THAT(TakeOrders(), ElementsAre("a send made 11 22", "a install made"));
  // The last one that lacks it goes: what was not sent is not asked of anybody else.
  keeper_->Left(WorkerId("c"));
  keeper_->Left(WorkerId("a"));
  keeper_->Joined(WorkerId("b"), HelloOf("b", id), true);
  EXPECT_THAT(TakeOrders(), ElementsAre("b install made"));
}

TEST_F(KeeperTest, AHolderThatIsAwayIsWaitedForUntilItIsMadeAgain) {
  const std::string id = MadeByA();
  ASSERT_TRUE(Write([&] { return AddWorker("a"); }).ok());  // so that its host has a name
  Restart();
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  TakeOrders();
  Lacks("b", id, "1");
  EXPECT_THAT(TakeOrders(), IsEmpty());
  EXPECT_THAT(PlaceOf("b"), HasSubstr("lacking: waits for host-a, which has it and is away"));
  // It comes and goes in the middle.
  keeper_->Joined(WorkerId("a"), HelloOf("a", id), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a send made 11", "a install made"));
  keeper_->Left(WorkerId("a"));
  EXPECT_THAT(PlaceOf("b"), HasSubstr("lacking"));
  EXPECT_EQ(BuildOn(""), id);
  EXPECT_THAT(TakeOrders(), ElementsAre("b build made"));
  keeper_->Report(WorkerId("b"), ReportOf(id, "ready"));
  EXPECT_THAT(PlaceOf("b"), HasSubstr("ready"));
}

TEST_F(KeeperTest, AWorkerOfAnOlderVersionIsToldWhenNothingIsLacking) {
  const std::string id = MadeByA();
  v1::Hello old = HelloOf("old");
  old.set_sends_objects(false);
  keeper_->Joined(WorkerId("old"), old, false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a build made", "a send made all"));
  EXPECT_THAT(PlaceOf("old"), HasSubstr("waiting: for files that host-a sends"));
  Ended("a", id, "sent", asks_[0]);
  EXPECT_THAT(TakeOrders(), ElementsAre("old install made"));
  keeper_->Left(WorkerId("old"));
  keeper_->Joined(WorkerId("old"), old, false);
  EXPECT_THAT(TakeOrders(), ElementsAre("old install made"));
  // Nobody can be asked: told as ever, since the coordinator may have all of it.
  Restart();
  keeper_->Joined(WorkerId("old"), old, false);
  EXPECT_THAT(TakeOrders(), ElementsAre("old install made"));
  keeper_->Report(WorkerId("old"), ReportOf(id, "failed", "the coordinator has no object"));
  keeper_->Joined(WorkerId("a"), HelloOf("a", id), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a install made", "a send made all"));
  Ended("a", id, "sent", asks_[1]);
  EXPECT_THAT(TakeOrders(), ElementsAre("old install made"));
}

TEST_F(KeeperTest, WhatAWorkerOfAnOlderVersionMadeIsWhole) {
  v1::Hello old = HelloOf("old");
  old.set_sends_objects(false);
  keeper_->Joined(WorkerId("old"), old, false);
  const std::string id = BuildOn("old");
  keeper_->Report(WorkerId("old"), ReportOf(id, "ready"));
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("old build made", "b install made"));
}

TEST_F(KeeperTest, BuiltByOneThenSentToTheOthersAndToThoseThatCome) {
  EXPECT_FALSE(keeper_->Build(RecipeText(), WorkerId()).ok());  // nobody is there
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  const std::string id = BuildOn("b");
  EXPECT_THAT(TakeOrders(), ElementsAre("b build made"));
  EXPECT_EQ(BuildOn(""), id);  // asked again: the same
  EXPECT_THAT(TakeOrders(), IsEmpty());
  keeper_->Report(WorkerId("a"), ReportOf(id, "ready"));  // who was not asked says nothing
  EXPECT_EQ(StateOf(id), "making");
  keeper_->Report(WorkerId("b"), ReportOf(id, "ready"));
  EXPECT_EQ(StateOf(id), "ready");
  EXPECT_THAT(TakeOrders(), ElementsAre("a install made"));
  keeper_->Report(WorkerId("a"), ReportOf(id, "unfit", "no python 3.11"));
  keeper_->Joined(WorkerId("c"), HelloOf("c"), false);
  keeper_->Joined(WorkerId("old"), HelloOf("old", "", false), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("c install made"));
  const auto all = keeper_->List(false);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].places_size(), 4);
  EXPECT_EQ(all[0].places(0).state(), "unfit");
  EXPECT_EQ(all[0].places(0).reason(), "no python 3.11");
  EXPECT_EQ(all[0].places(1).state(), "ready");
  EXPECT_EQ(all[0].places(2).state(), "waiting");
  EXPECT_EQ(all[0].places(3).state(), "old");
}

TEST_F(KeeperTest, ARestartForgetsNothingAndTellsOrdersAgain) {
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  const std::string id = BuildOn("a");
  TakeOrders();
  Restart();
  EXPECT_EQ(StateOf(id), "making");
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a build made"));
  keeper_->Report(WorkerId("a"), ReportOf(id, "ready"));
  Restart();
  keeper_->Joined(WorkerId("a"), HelloOf("a", id), false);
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a install made", "b install made"));
  keeper_->Drop({id}, "env gc");
  EXPECT_THAT(TakeOrders(), ElementsAre("a remove made", "b remove made"));
  EXPECT_THAT(keeper_->List(false), IsEmpty());
  Restart();
  keeper_->Joined(WorkerId("a"), HelloOf("a", id), false);  // was away when it was told
  EXPECT_THAT(TakeOrders(), ElementsAre("a remove made"));
}

TEST_F(KeeperTest, ABuilderThatDiesTwiceFailsTheBuildAndItCanBeAskedForAgain) {
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  const std::string id = BuildOn("a");
  for (int death = 1; death <= EnvironmentKeeper::kDeaths; ++death) {
    EXPECT_EQ(StateOf(id), "making") << death;
    keeper_->Left(WorkerId("a"));
    EXPECT_THAT(keeper_->List(false)[0].reason(), HasSubstr("which is away"));
    keeper_->Joined(WorkerId("a"), HelloOf("a"), true);
  }
  EXPECT_EQ(StateOf(id), "failed");
  TakeOrders();
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  EXPECT_EQ(BuildOn("b"), id);
  EXPECT_THAT(TakeOrders(), ElementsAre("b build made"));
  keeper_->Report(WorkerId("b"), ReportOf(id, "failed", "no compiler"));
  EXPECT_EQ(keeper_->Log(id, 0)->environment().reason(), "no compiler");
}

TEST_F(KeeperTest, ALogIsFollowedAndNotTakenTwice) {
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  const std::string id = BuildOn("a");
  v1::EnvironmentReport report = ReportOf(id, "making");
  report.set_log("one two ");
  keeper_->Report(WorkerId("a"), report);
  report.set_log("one two three");  // a new session tells all of it
  keeper_->Report(WorkerId("a"), report);
  const auto log = keeper_->Log(id, 4);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->data(), "two three");
  EXPECT_EQ(log->next_offset(), 13);
  EXPECT_FALSE(keeper_->Log("nobody", 0).ok());
}

TEST_F(KeeperTest, NamesAreGuarded) {
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  v1::DeriveEnvironmentRequest derive;
  derive.set_base("default");
  derive.set_patch_sha256(std::string(64, '1'));
  const auto derived = keeper_->Derive(derive, WorkerId());
  ASSERT_TRUE(derived.ok()) << derived.status();
  EXPECT_EQ(derived->name(), "default-11111111");
  EXPECT_THAT(TakeOrders(), ElementsAre("a derive default-11111111"));
  for (const std::string& name : {std::string("feature/fusion"), std::string(65, 'x')}) {
    derive.set_name(name);
    const absl::Status refused = keeper_->Derive(derive, WorkerId()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_THAT(refused.message(), HasSubstr("another --name"));
  }
  EXPECT_EQ(keeper_->List(true).size(), 1u);
  derive.set_name("default");
  EXPECT_THAT(keeper_->Derive(derive, WorkerId()).status().message(), HasSubstr("another --name"));
  derive.set_base("nowhere");
  EXPECT_THAT(keeper_->Derive(derive, WorkerId()).status().message(), HasSubstr("nowhere"));
  v1::Hello other = HelloOf("b");
  other.mutable_environments(0)->set_hash("another build");
  keeper_->Joined(WorkerId("b"), other, false);
  derive.set_base("default");
  derive.set_name("x");
  EXPECT_THAT(keeper_->Derive(derive, WorkerId()).status().message(), HasSubstr("--worker"));
  EXPECT_TRUE(keeper_->Derive(derive, WorkerId("b")).ok());

  // The same name with another recipe takes it over when it is ready.
  const std::string first = BuildOn("a");
  keeper_->Report(WorkerId("a"), ReportOf(first, "ready"));
  const auto second = keeper_->Build(RecipeText("torch==3"), WorkerId("a"));
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(StateOf(first), "ready");
  keeper_->Report(WorkerId("a"), ReportOf(second->id(), "ready"));
  EXPECT_EQ(StateOf(first), "removed");
  EXPECT_EQ(StateOf(second->id()), "ready");
}

TEST_F(KeeperTest, ADefaultNameThatIsTooLongIsRefusedToo) {
  v1::Hello hello = HelloOf("a");
  const std::string base(56, 'x');
  hello.mutable_environments(0)->set_name(base);
  keeper_->Joined(WorkerId("a"), hello, false);
  v1::DeriveEnvironmentRequest derive;
  derive.set_base(base);
  derive.set_patch_sha256(std::string(64, '1'));
  EXPECT_TRUE(absl::IsInvalidArgument(keeper_->Derive(derive, WorkerId()).status()));
  EXPECT_THAT(TakeOrders(), IsEmpty());
}

TEST_F(KeeperTest, WhatSomebodyChangedOrRemovedOnAHostIsSeenAndSentAgain) {
  const std::string id = MadeByA();
  keeper_->Has(WorkerId("a"), HelloOf("a", id).environments());
  EXPECT_THAT(PlaceOf("a"), HasSubstr("ready"));
  BuildOn("");
  EXPECT_THAT(TakeOrders(), ElementsAre("a build made"));  // there is nothing to do
  keeper_->Has(WorkerId("a"), HelloOf("a").environments());
  EXPECT_THAT(PlaceOf("a"), HasSubstr("changed: changed or removed on host-a"));
  // Put back by hand.
  keeper_->Has(WorkerId("a"), HelloOf("a", id).environments());
  EXPECT_THAT(PlaceOf("a"), HasSubstr("ready"));
  keeper_->Has(WorkerId("a"), HelloOf("a").environments());
  BuildOn("");
  EXPECT_THAT(TakeOrders(), ElementsAre("a install made"));
  EXPECT_THAT(PlaceOf("a"), HasSubstr("waiting"));
  keeper_->Report(WorkerId("a"), ReportOf(id, "ready"));
  EXPECT_THAT(PlaceOf("a"), HasSubstr("ready"));
}

TEST_F(KeeperTest, AChangedOneIsRemovedEverywhereAndUntilThatIsSaid) {
  ASSERT_TRUE(Write([&] { return AddWorker("a"); }).ok());
  const std::string id = MadeByA();
  TakeOrders();
  keeper_->Left(WorkerId("a"));
  keeper_->Drop({id}, "env gc");
  TakeOrders();
  // Changed on its host meanwhile: it does not list it any more.
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a remove made"));
  Restart();
  keeper_->Joined(WorkerId("a"), HelloOf("a"), true);
  EXPECT_THAT(TakeOrders(), ElementsAre("a remove made"));
  keeper_->Report(WorkerId("a"), ReportOf(id, "removed"));
  keeper_->Left(WorkerId("a"));
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  EXPECT_THAT(TakeOrders(), IsEmpty());
  Restart();
  keeper_->Joined(WorkerId("a"), HelloOf("a"), false);
  EXPECT_THAT(TakeOrders(), IsEmpty());
}

TEST_F(KeeperTest, AnotherBuildOfTheSameRecipeIsNotThisOne) {
  ASSERT_TRUE(Write([&] { return AddWorker("a"); }).ok());
  const std::string id = MadeByA();
  keeper_->Joined(WorkerId("b"), HelloOf("b"), false);
  Lacks("b", id, "1");
  keeper_->Left(WorkerId("a"));
  // Made again by b, and not bit for bit the same.
  EXPECT_EQ(BuildOn(""), id);
  v1::EnvironmentReport made = ReportOf(id, "ready");
  made.set_hash("hash-of-b");
  keeper_->Report(WorkerId("b"), made);
  keeper_->Joined(WorkerId("c"), HelloOf("c"), false);
  keeper_->Left(WorkerId("b"));
  TakeOrders();
  // a is back with what it built: it gets b's like everybody, and is not asked for b's files.
  keeper_->Joined(WorkerId("a"), HelloOf("a", id), false);
  EXPECT_THAT(TakeOrders(), ElementsAre("a install made"));
  EXPECT_THAT(PlaceOf("a"), HasSubstr("waiting"));
  Lacks("c", id, "2");
  EXPECT_THAT(TakeOrders(), IsEmpty());
  v1::Hello with_it = HelloOf("b", id);
  with_it.mutable_environments(1)->set_hash("hash-of-b");
  keeper_->Joined(WorkerId("b"), with_it, false);
  EXPECT_THAT(TakeOrders(), ElementsAre("b send made 22", "b install made"));
}

}  // namespace
}  // namespace dynbench::session
