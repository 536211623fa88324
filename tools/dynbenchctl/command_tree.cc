#include "tools/dynbenchctl/command_tree.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/plan/suite.h"
#include "tools/dynbenchctl/help.h"
#include "tools/dynbenchctl/upstream_flags.h"

namespace dynbench::cli {
namespace {

const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    if (const CLI::Option* option = at->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

bool HasArguments(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) return true;
  }
  return false;
}

std::vector<std::string> VerbNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& candidates) {
  const auto nearest = plan::Nearest(word, candidates);
  return nearest.empty() ? "" : "; did you mean " + absl::StrJoin(nearest, " or ") + "?";
}

absl::Status Usage(const CLI::App& app, const std::string& message) {
  return absl::InvalidArgumentError(message + "\n  see: " + CommandPath(app) + " --help");
}

}  // namespace

CommandTree::CommandTree() : root_("Distributed benchmarks of compiled PyTorch.", "dynbenchctl") {
  root_.formatter(std::make_shared<HelpFormatter>());
  root_.fallthrough();
  root_.require_subcommand(0, 1);
  root_.set_help_flag("-h,--help", "print this help and exit")->group(kEveryVerb);
  root_
      .add_option("--coordinator", globals_.coordinator,
                  "the coordinator to ask, host:port (default: $DYNBENCH_COORDINATOR, else "
                  "127.0.0.1:7411)")
      ->envname("DYNBENCH_COORDINATOR")
      ->type_name("HOST:PORT")
      ->group(kEveryVerb);
  root_
      .add_option("--tls", globals_.tls,
                  "folder with ca.crt, tls.crt and tls.key, for a coordinator with TLS (default: "
                  "$DYNBENCH_TLS, else no TLS)")
      ->envname("DYNBENCH_TLS")
      ->type_name("DIR")
      ->group(kEveryVerb);
  root_.add_option("--db", globals_.db, "read this database instead of asking a coordinator")
      ->type_name("FILE")
      ->group(kEveryVerb);
  root_.add_flag("--json", globals_.json, "print JSON with a field \"schema\" instead of text")
      ->group(kEveryVerb);
  root_.add_flag("-q,--quiet", globals_.quiet, "no progress and no notes, only the answer")
      ->group(kEveryVerb);
  root_.footer(
      "`dynbenchctl VERB --help` explains one verb. Exit codes: 0 done, 1 an experiment failed, "
      "2 usage,\n3 infrastructure, 4 nothing measured, 5 refused, 6 a wait's time limit passed.");
}

CLI::App* CommandTree::AddVerb(const std::string& name, const std::string& summary, Run run,
                               CLI::App* parent) {
  CLI::App* verb = (parent == nullptr ? &root_ : parent)->add_subcommand(name, summary);
  verb->footer("");  // not the root's
  verb->set_help_flag("-h,--help", "print this help and exit")->group(kEveryVerb);
  runs_[verb] = std::move(run);
  return verb;
}

CLI::App* CommandTree::AddGroup(const std::string& name, const std::string& summary) {
  CLI::App* group = root_.add_subcommand(name, summary);
  group->footer("");
  group->set_help_flag("-h,--help", "print this help and exit")->group(kEveryVerb);
  group->require_subcommand(1);
  return group;
}

void CommandTree::Choices(CLI::Option* option, std::vector<std::string> choices) {
  choices_[option] = std::move(choices);
}

std::vector<std::string> CommandTree::ChoicesOf(const CLI::Option* option) const {
  const auto found = choices_.find(option);
  return found == choices_.end() ? std::vector<std::string>{} : found->second;
}

absl::Status CommandTree::CheckValue(const CLI::App& app, const CLI::Option& option,
                                     const std::string& value) const {
  const auto choices = ChoicesOf(&option);
  if (choices.empty()) return absl::OkStatus();
  const std::string text = option.get_delimiter() == ',' ? value : value + ",";
  for (const std::string& word :
       std::vector<std::string>(absl::StrSplit(text, ',', absl::SkipEmpty()))) {
    if (std::find(choices.begin(), choices.end(), word) != choices.end()) continue;
    return Usage(app, option.get_name() + ": '" + word + "' is not one of " +
                          absl::StrJoin(choices, ", ") + DidYouMean(word, choices));
  }
  return absl::OkStatus();
}

// Walks the words once before CLI11 does, for messages that name what was wrong and what is near.
// Binds each value to its flag ("--repeat -3" becomes "--repeat=-3"), so that a value may begin
// with a dash.
absl::StatusOr<std::vector<std::string>> CommandTree::CheckWords(
    const std::vector<std::string>& args) const {
  std::vector<std::string> bound;
  const CLI::App* app = &root_;
  bool help = false;
  std::set<const CLI::Option*> given;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      const auto tail = tails_.find(app);
      if (tail != tails_.end()) {
        tail->second->assign(args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
        break;
      }
      bound.insert(bound.end(), args.begin() + static_cast<std::ptrdiff_t>(i), args.end());
      break;
    }
    bound.push_back(arg);
    if (arg.size() < 2 || arg[0] != '-') {
      const auto verbs = VerbNames(*app);
      if (verbs.empty()) {
        if (HasArguments(*app)) continue;
        return Usage(
            *app,
            "'" + arg + "' is not expected" +
                (i > 0 && args[i - 1][0] == '-' ? ": " + args[i - 1] + " takes no value" : ""));
      }
      if (std::find(verbs.begin(), verbs.end(), arg) == verbs.end()) {
        return Usage(*app, "unknown verb '" + arg + "'" + DidYouMean(arg, verbs));
      }
      app = app->get_subcommand(arg);
      continue;
    }
    const bool is_long = arg[1] == '-';
    const size_t equals = is_long ? arg.find('=') : std::string::npos;
    const std::string name = is_long ? arg.substr(0, equals) : arg.substr(0, 2);
    const CLI::Option* option = FindOption(*app, name);
    if (option == nullptr) {
      const bool takes_upstream_flags = app->get_name() == "submit" || app->get_name() == "plan";
      if (takes_upstream_flags) {
        if (const auto reason = WhyRefused(name)) return Usage(*app, *reason);
      }
      return Usage(*app, "unknown flag " + name + DidYouMean(name, FlagNames(*app)));
    }
    help = help || name == "--help" || name == "-h";
    if (!TakesValue(*option)) {
      if (equals == std::string::npos) continue;
      return Usage(*app, name + " takes no value, but '" + arg.substr(equals + 1) + "' was given");
    }
    const auto alone = optional_values_.find(option);
    if (alone != optional_values_.end() && equals == std::string::npos) {
      bound.back() += "=" + alone->second;
      continue;
    }
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = arg.substr(equals + 1);
      if (value->empty()) {  // CLI11 would take the next word, a flag perhaps, as its value
        bound.back() = name;
        bound.push_back(*value);
      }
    } else if (!is_long && arg.size() > 2) {
      value = arg.substr(2);
    } else if (i + 1 < args.size()) {
      value = args[++i];
      if (value->empty()) {
        bound.push_back(*value);  // CLI11 takes "--flag=" for a flag without a value
      } else {
        bound.back() += (is_long ? "=" : "") + *value;
      }
    }
    if (!value) return Usage(*app, name + " needs a value: " + OptionLabel(*option));
    if (equals == std::string::npos && value->compare(0, 2, "--") == 0 &&
        FindOption(*app, value->substr(0, value->find('='))) != nullptr) {
      return Usage(*app, name + " needs a value, but the flag " + *value +
                             " follows; if that is the value, write " + name + "=" + *value);
    }
    if (option->get_items_expected_max() == 1 && !given.insert(option).second) {
      return Usage(*app, name + " is given twice; keep one of them");
    }
    RETURN_IF_ERROR(CheckValue(*app, *option, *value));
  }
  if (!help && !VerbNames(*app).empty() && runs_.count(app) == 0) {
    return Usage(*app, "no verb given; one of: " + absl::StrJoin(VerbNames(*app), ", "));
  }
  return bound;
}

absl::Status CommandTree::Parse(const std::vector<std::string>& words, Run* run) {
  std::vector<std::string> args = words;
  if (!args.empty() && args[0] == "help") {  // "help VERB" is "VERB --help"
    args.erase(args.begin());
    args.push_back("--help");
  }
  const auto bound = CheckWords(args);
  if (!bound.ok()) return bound.status();
  CLI::App* app = &root_;
  auto descend = [&] {
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  };
  try {
    std::vector<std::string> reversed(bound->rbegin(), bound->rend());  // as CLI11 wants it
    root_.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    descend();
    *run = [app](Context& context) -> VerbResult {
      context.out() << app->help();
      return ExitCode::kDone;
    };
    return absl::OkStatus();
  } catch (const CLI::ParseError& error) {
    descend();
    return Usage(*app, error.what());
  }
  descend();
  *run = runs_.at(app);
  return absl::OkStatus();
}

}  // namespace dynbench::cli
