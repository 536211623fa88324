// Method: every verb and flag of the tree must be in each script; the bash script is run by bash on
// half-typed lines, as a person pressing the tabulator key does.
#include "tools/dynbenchctl/completion_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <sstream>

#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

class Completion : public ::testing::Test {
 protected:
  Completion() {
    AddAllVerbs(tree_);
    script_ = folder_.Write("completion.bash", BashCompletion(tree_));
  }

  // What bash offers for the last of `words`.
  std::vector<std::string> Offered(const std::vector<std::string>& words) {
    std::string line = "source '" + script_ + "'; COMP_WORDS=(";
    for (const std::string& word : words) line += "'" + word + "' ";
    line += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
            "; _dynbenchctl; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const std::string test = folder_.Write("test.bash", line);
    FILE* pipe = popen(("bash '" + test + "' 2>&1").c_str(), "r");
    std::string text;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text.push_back(static_cast<char>(c));
    pclose(pipe);
    std::vector<std::string> offered;
    std::istringstream lines(text);
    for (std::string word; std::getline(lines, word);) offered.push_back(word);
    return offered;
  }

  const TemporaryFolder folder_;
  CommandTree tree_;
  std::string script_;
};

TEST_F(Completion, EveryVerbAndFlagIsInEveryScript) {
  const std::string scripts[] = {BashCompletion(tree_), ZshCompletion(tree_),
                                 FishCompletion(tree_)};
  std::function<void(const CLI::App&)> visit = [&](const CLI::App& app) {
    for (const CLI::App* verb : app.get_subcommands({})) {
      for (const std::string& script : scripts) EXPECT_THAT(script, HasSubstr(verb->get_name()));
      visit(*verb);
    }
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        for (const std::string& script : scripts) EXPECT_THAT(script, HasSubstr(name));
      }
    }
  };
  visit(tree_.root());
}

TEST_F(Completion, Verbs) {
  EXPECT_THAT(Offered({"dynbenchctl", "su"}), ElementsAre("submit", "suite"));
  EXPECT_THAT(Offered({"dynbenchctl", "local", ""}), IsSupersetOf({"up", "down", "status"}));
  EXPECT_THAT(Offered({"dynbenchctl", "--json", "stat"}), ElementsAre("status"));
}

TEST_F(Completion, FlagsOfTheVerbAndThoseOfAll) {
  EXPECT_THAT(Offered({"dynbenchctl", "results", "3", "--"}),
              IsSupersetOf({"--csv", "--test", "--json", "--coordinator", "--help"}));
  EXPECT_THAT(Offered({"dynbenchctl", "results", "3", "--"}), Not(Contains("--suite")));
}

TEST_F(Completion, ValuesThatAFlagAllows) {
  EXPECT_THAT(Offered({"dynbenchctl", "submit", "--start", ""}),
              ElementsAre("cold", "warm", "shared"));
  EXPECT_THAT(Offered({"dynbenchctl", "submit", "--start", "=", "w"}), ElementsAre("warm"));
  EXPECT_THAT(Offered({"dynbenchctl", "submit", "--start", "="}),
              ElementsAre("cold", "warm", "shared"));
}

}  // namespace
}  // namespace dynbench::cli
