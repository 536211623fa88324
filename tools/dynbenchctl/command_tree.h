// The tree of verbs: CLI11 holds the grammar, this class what CLI11 does not know (the function of
// each verb and the values that a flag allows). Parsing, help, completion and docs all read it.
//
// Thread-compatible.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/dynbenchctl/context.h"

namespace dynbench::cli {

class CommandTree {
 public:
  using Run = std::function<VerbResult(Context&)>;

  CommandTree();
  CommandTree(const CommandTree&) = delete;
  CommandTree& operator=(const CommandTree&) = delete;

  CLI::App& root() { return root_; }
  const CLI::App& root() const { return root_; }
  Globals& globals() { return globals_; }

  // Adds a verb to `parent` (the root when nullptr). Its options are bound by the caller to storage
  // that `run` keeps alive; `run` is called after a successful parse.
  CLI::App* AddVerb(const std::string& name, const std::string& summary, Run run,
                    CLI::App* parent = nullptr);
  // A verb that only groups others ("suite", "local").
  CLI::App* AddGroup(const std::string& name, const std::string& summary);

  // Restricts `option` to `choices`; another value is a usage error that names the nearest one.
  void Choices(CLI::Option* option, std::vector<std::string> choices);
  // Empty when any value goes.
  std::vector<std::string> ChoicesOf(const CLI::Option* option) const;

  // `option` may stand alone and then means `value`; another one is only taken with "=".
  void OptionalValue(const CLI::Option* option, const std::string& value) {
    optional_values_[option] = value;
  }

  // What follows "--" belongs to `verb` unparsed: a program and its arguments.
  void Tail(const CLI::App* verb, std::vector<std::string>* words) { tails_[verb] = words; }

  // Parses `args` (without the program's name). InvalidArgument carries the whole message. Sets
  // `*run` to the verb's function, or to one that prints help where help was asked for.
  absl::Status Parse(const std::vector<std::string>& args, Run* run);

 private:
  absl::StatusOr<std::vector<std::string>> CheckWords(const std::vector<std::string>& args) const;
  absl::Status CheckValue(const CLI::App& app, const CLI::Option& option,
                          const std::string& value) const;

  CLI::App root_;
  Globals globals_;
  std::map<const CLI::App*, Run> runs_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  std::map<const CLI::App*, std::vector<std::string>*> tails_;
  std::map<const CLI::Option*, std::string> optional_values_;
};

// Every verb of dynbenchctl, in the order of its help.
void AddAllVerbs(CommandTree& tree);

}  // namespace dynbench::cli
