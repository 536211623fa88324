// Method: upstream's whole list of options, as facts in tests/golden/upstream_flags.txt. Each must
// be taken by submit (and then change the request, the output or what is said on stderr) or be
// refused with a reason; and both documents must name it. So no dashboard command is ever swallowed
// silently, and the documents cannot fall behind.
#include "tools/dynbenchctl/upstream_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_split.h"
#include "tests/unit/cli/submit_testing.h"

namespace dynbench::cli {
namespace {

struct Fact {
  std::vector<std::string> spellings;
  bool takes_value = false;
};

std::string FileText(const std::string& path) {
  std::ifstream file(std::string(DYNBENCH_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The options above the line "# later" and those below it.
std::vector<Fact> Facts(size_t* later) {
  std::vector<Fact> facts;
  std::istringstream text(FileText("tests/golden/upstream_flags.txt"));
  for (std::string line; std::getline(text, line);) {
    if (line == "# later") *later = facts.size();
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    facts.push_back({absl::StrSplit(words[0], ','), words[1] != "S"});
  }
  return facts;
}

class UpstreamFlags : public ::testing::Test {
 protected:
  UpstreamFlags() : facts_(Facts(&later_)) {
    verb_ = tree_.AddVerb("submit", "", [](Context&) { return ExitCode::kDone; });
    AddSubmitFlags(tree_, verb_, &flags_);
  }
  const CLI::Option* Option(const std::string& flag) {
    const CLI::Option* own = verb_->get_option_no_throw(flag);
    return own != nullptr ? own : tree_.root().get_option_no_throw(flag);
  }

  size_t later_ = 0;
  std::vector<Fact> facts_;
  CommandTree tree_;
  SubmitFlags flags_;
  CLI::App* verb_;
};

TEST_F(UpstreamFlags, TheFactsAreAllOfThem) { EXPECT_EQ(later_, 125U); }

TEST_F(UpstreamFlags, EachSpellingIsTakenOrRefusedWithAReason) {
  for (const Fact& fact : facts_) {
    for (const std::string& flag : fact.spellings) {
      const CLI::Option* option = Option(flag);
      const auto reason = WhyRefused(flag);
      EXPECT_NE(option != nullptr, reason.has_value()) << flag;
      if (reason) {
        EXPECT_EQ(reason->rfind(flag + ": ", 0), 0U) << *reason;
      }
      if (option != nullptr) {
        EXPECT_EQ(option->get_items_expected_max() > 0, fact.takes_value) << flag;
      }
    }
  }
}

TEST_F(UpstreamFlags, NothingIsRefusedThatUpstreamDoesNotHave) {
  std::set<std::string> known;
  for (const Fact& fact : facts_) known.insert(fact.spellings.begin(), fact.spellings.end());
  for (const std::string& flag : RefusedFlags()) EXPECT_TRUE(known.contains(flag)) << flag;
}

// What else must be typed for a flag to mean something, and a value that it takes.
const std::map<std::string, std::vector<std::string>>& Lines() {
  static const std::map<std::string, std::vector<std::string>> lines = {
      {"--accuracy", {"--accuracy"}},
      {"--quantization", {"--quantization", "int8dynamic"}},
      {"--backend", {"--backend", "aot_eager"}},
      {"--filter", {"--filter", "x"}},
      {"--exclude", {"--exclude", "x"}},
      {"--exclude-exact", {"--exclude-exact", "x"}},
      {"--only", {"--only", "x"}},
      {"--part", {"--part", "x"}},
      {"--total-partitions", {"--total-partitions", "2", "--partition-id", "0"}},
      {"--partition-id", {"--total-partitions", "2", "--partition-id", "1"}},
      {"--devices", {"--devices", "cpu"}},
      {"--threads", {"--threads", "2"}},
      {"--timeout", {"--timeout", "5"}},
      {"--ddp", {"--ddp", "--training"}},
      {"--optimize-ddp-mode", {"--ddp", "--training", "--optimize-ddp-mode", "no_optimization"}},
      {"--amp-dtype", {"--amp", "--amp-dtype", "float16"}},
      {"--batch-size", {"--batch-size", "2"}},
      {"--batch-size-file", {"--batch-size-file", "sizes.csv"}},
      {"--iterations", {"--iterations", "3"}},
      {"--iterations-per-run", {"--iterations-per-run", "3"}},
      {"--repeat", {"--repeat", "3"}},
      {"--collect-outputs", {"--training", "--collect-outputs"}},
      {"--enable-activation-checkpointing", {"--training", "--enable-activation-checkpointing"}},
      {"--use-eval-mode", {"--training", "--use-eval-mode"}},
      {"--inductor-compile-mode", {"--inductor-compile-mode", "max-autotune"}},
      {"--inductor-config", {"--inductor-config", "a=b"}},
      {"--batch-invariant", {"--accuracy", "--batch-invariant"}},
      {"--baseline", {"--baseline", "old.csv", "--output", "x.csv", "--wait"}},
      {"--dump-raw-metrics", {"--dump-raw-metrics", "--output", "x.csv", "--wait"}},
      {"--generate-aot-autograd-stats",
       {"--generate-aot-autograd-stats", "--output", "x.csv", "--wait"}},
      {"--save-model-outputs-to", {"--save-model-outputs-to", "/d"}},
      {"--compare-model-outputs-with", {"--compare-model-outputs-with", "/d"}},
      {"--output", {"--output", "x.csv", "--wait"}},
      {"--output-directory", {"--output-directory", ".", "--wait"}},
      {"--tag", {"--tag", "x"}},
      {"--hf-inference-mode", {"--hf-inference-mode", "generate"}},
      {"--prompt-length", {"--hf-inference-mode", "generate", "--prompt-length", "7"}},
  };
  return lines;
}

// Everything that a command line leads to, as text: requests, files, notes.
std::string Effect(const std::vector<BuiltRequest>& all) {
  std::string text;
  for (const BuiltRequest& built : all) {
    plan::Request request = built.request;
    request.given.clear();  // that a flag was typed is no effect
    text += plan::ToJson(request) + "\n" + built.output.folder + "\n";
    text += built.output.options.tag.value_or("-");
    text += built.output.options.baseline ? "baseline" : "-";
    text += built.output.beside.stats ? "stats" : "-";
    text += built.output.beside.raw_timings ? "raw" : "-";
    for (const std::string& note : built.notes) text += "\n" + note;
  }
  return text;
}

TEST_F(UpstreamFlags, EachThatIsTakenHasAnEffect) {
  TemporaryFolder folder;
  folder.Write("sizes.csv", "x,4\n");
  folder.Write("old.csv", "dev,name,batch_size,speedup\ncpu,x,1,1.5\n");
  const auto effect = [&](std::vector<std::string> words) -> std::string {
    words.insert(words.begin(), {"--suite", "timm"});
    const auto built = RequestsOf(words, folder.path());
    EXPECT_TRUE(built.ok()) << ::testing::PrintToString(words) << built.status();
    return built.ok() ? Effect(*built) : "";
  };
  for (const Fact& fact : facts_) {
    const std::string& flag = fact.spellings.front();
    // --quiet is every verb's; --disable-output says what happens anyway.
    if (WhyRefused(flag) || flag == "--quiet" || flag == "--disable-output") continue;
    const auto line = Lines().find(flag);
    std::vector<std::string> words = {flag};
    if (line != Lines().end()) words = line->second;
    std::vector<std::string> without;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] != flag) {
        without.push_back(words[i]);
      } else if (fact.takes_value) {
        ++i;
      }
    }
    if (flag == "--total-partitions") without.clear();
    if (flag == "--partition-id") without = {"--total-partitions", "2", "--partition-id", "0"};
    if (flag == "--output" || flag == "--output-directory") without.clear();
    if (flag == "--ddp") without = {"--training"};
    EXPECT_NE(effect(words), effect(without)) << flag;
  }
}

TEST_F(UpstreamFlags, BothDocumentsNameEach) {
  const std::string differences = FileText("docs/upstream-differences.md");
  const std::string cli = FileText("docs/cli.md");
  for (const Fact& fact : facts_) {
    const std::string& flag = fact.spellings.front();
    // The whole word: "--export" is not named by "--export-nativert".
    const auto names = [&](const std::string& text) {
      for (size_t at = 0; (at = text.find(flag, at)) != std::string::npos; at += flag.size()) {
        const char next = at + flag.size() < text.size() ? text[at + flag.size()] : ' ';
        if (next != '-' && next != '_' && std::isalnum(static_cast<unsigned char>(next)) == 0) {
          return true;
        }
      }
      return false;
    };
    EXPECT_TRUE(names(differences)) << flag << " in docs/upstream-differences.md";
    if (!WhyRefused(flag)) EXPECT_TRUE(names(cli)) << flag << " in docs/cli.md";
  }
}

}  // namespace
}  // namespace dynbench::cli
