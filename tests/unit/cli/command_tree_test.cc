// Method: whole command lines through RunCommand, as main does, with the streams caught. Usage
// errors must leave stdout empty, exit 2, and name what was wrong and what is near. No coordinator
// runs.
#include "tools/dynbenchctl/command_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tools/dynbenchctl/run.h"

namespace dynbench::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Ran {
  int code;
  std::string out, err;
};

Ran Type(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = RunCommand(words, Terminal{out, err}, "/", "/nowhere/bin/dynbenchctl");
  return {code, out.str(), err.str()};
}

TEST(CommandTree, WrongWordsExitTwoAndNameTheNearest) {
  const std::pair<std::vector<std::string>, std::vector<std::string>> cases[] = {
      {{}, {"no verb", "submit"}},
      {{"sbumit", "--suite", "timm"}, {"sbumit", "submit"}},
      {{"submit", "--perfomance"}, {"--perfomance", "--performance"}},
      {{"suite"}, {"no verb", "list"}},
      {{"suite", "lst"}, {"lst", "list"}},
      {{"results", "1", "--tset", "accuracy"}, {"--tset", "--test"}},
      {{"results", "1", "--test", "acuracy"}, {"acuracy", "accuracy"}},
      {{"results"}, {"JOB"}},
      {{"results", "1", "2"}, {"2"}},
      {{"results", "x1"}, {"x1"}},
      {{"results", "1", "--csv", "--json"}, {"--csv", "--json"}},
      {{"results", "1", "--samples"}, {"--samples"}},
      {{"cancel", "1"}, {"--reason"}},
      {{"cancel", "1", "--reason", " "}, {"--reason"}},
      {{"retry", "1"}, {"--failed"}},
      {{"wait", "1", "--wait-timeout", "-1"}, {"--wait-timeout"}},
      {{"wait", "0"}, {"'0'"}},
      {{"wait", "1", "--wait-timeout", "nan"}, {"--wait-timeout", "nan"}},
      {{"status", "--limit", "0"}, {"--limit", "'0'", "above 0"}},
      {{"submit", "--suite"}, {"--suite needs a value"}},
      {{"submit", "--suite", ""}, {"--suite is missing"}},
      {{"submit", "--suite", "timm", "--tolerance", "0.01"}, {"'0.01'", "--tolerance takes no"}},
      {{"submit", "--suite", "timm", "--tolerance=0.01"}, {"--tolerance takes no", "0.01"}},
      {{"submit", "--suite", "timm", "--nnc"}, {"--nnc", "use --backend inductor"}},
      {{"submit", "--suite", "timm", "--", "./bench"}, {"./bench", "--engine command"}},
      {{"results", "1", "--pays", "--coverage"}, {"--pays", "--coverage"}},
      {{"results", "1", "--tag", "x"}, {"--tag", "no effect"}},
      {{"export", "1"}, {"--output"}},
      {{"export", "1", "--output", "x", "--format", "upstraem"}, {"upstraem", "upstream"}},
      {{"retry", "1", "--debug=proflier"}, {"proflier", "profiler"}},
      // A forgotten value must not swallow the flag after it.
      {{"submit", "--suite", "timm", "--label", "--wait"}, {"--label needs a value", "--wait"}},
      {{"submit", "--suite", "timm", "--repeat", "3", "-n", "4"}, {"-n is given twice"}},
      {{"submit", "--suite", "timm", "--backend=", "--json"}, {"--backend wants a name"}},
      {{"submit", "--suite", "timm", "--label", std::string(300, 'x')}, {"--label", "300"}},
      {{"submit", "--suite", "timm", "--threads", "100000"}, {"--threads", "4096"}},
      {{"submit", "--suite", "timm", "--db", "x.db"}, {"--db"}},
      {{"status", "--coordinator", "nohost"}, {"nohost", "HOST:PORT"}},
      {{"status", "--coordinator", "h:70000"}, {"h:70000"}},
      {{"status", "--db", "/none/such.db"}, {"/none/such.db"}},
      {{"completion", "fsh"}, {"fsh", "fish"}},
      {{"logs", "1", "m", "--json"}, {"--json"}},
      {{"suite", "show", "tim"}, {"tim", "timm"}},
      {{"submit", "--suite", "timm", "--ddp"}, {"--ddp", "training"}},
      {{"submit", "--skip-fp64-check"}, {"--skip-fp64-check", "read by nothing"}},
      {{"status", "--ddp"}, {"unknown flag --ddp"}},
  };
  for (const auto& [words, named] : cases) {
    const Ran ran = Type(words);
    std::string line;
    for (const std::string& word : words) line += word + " ";
    EXPECT_EQ(ran.code, 2) << line << ran.err;
    EXPECT_EQ(ran.out, "") << line;
    for (const std::string& name : named) EXPECT_THAT(ran.err, HasSubstr(name)) << line;
  }
}

TEST(CommandTree, ACoordinatorThatIsNotThereIsInfrastructure) {
  // Port 1 of loopback: nobody listens there without being root's service.
  const Ran ran = Type({"status", "--coordinator", "127.0.0.1:1"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(ran.err, HasSubstr("dynbenchctl local up"));
  EXPECT_EQ(ran.out, "");
}

TEST(CommandTree, GlobalFlagsStandAnywhere) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--json", "version"}, {"version", "--json"}}) {
    const Ran ran = Type(words);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("\"schema\": \"dynbench.version/1\""));
  }
}

TEST(CommandTree, HelpIsAnAnswerWhereverItIsAsked) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"help", "suite", "list"},
                                                {"suite", "list", "--help"},
                                                {"suite", "list", "-h"}}) {
    const Ran ran = Type(words);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("usage: dynbenchctl suite list"));
    EXPECT_EQ(ran.err, "");
  }
}

TEST(CommandTree, AValueMayBeginWithADash) {
  const Ran ran = Type({"plan", "--coordinator", "127.0.0.1:1", "--suite", "timm", "-k", "-100"});
  EXPECT_THAT(ran.err, Not(HasSubstr("unknown flag")));
}

TEST(CommandTree, PlansWithoutACoordinatorAndSaysSo) {
  const Ran ran = Type({"plan", "--coordinator", "127.0.0.1:1", "--suite", "timm", "--performance",
                        "--total-partitions", "7", "--partition-id", "6", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("no coordinator answers"));
  const Json plan = Json::parse(ran.out);
  EXPECT_EQ(plan["schema"], "dynbench.plan/1");
  EXPECT_EQ(plan["experiments"].size(), 6U) << "upstream's last slice of 18 in 7";
}

}  // namespace
}  // namespace dynbench::cli
