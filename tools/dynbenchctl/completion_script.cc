#include "tools/dynbenchctl/completion_script.h"

#include <functional>
#include <vector>

#include "tools/dynbenchctl/help.h"

namespace dynbench::cli {
namespace {

using Visit = std::function<void(const CLI::App&, const std::string& path)>;

// Every verb and group with its words, "" for the root, "suite list" for a leaf.
void Walk(const CLI::App& app, const std::string& path, const Visit& visit) {
  visit(app, path);
  for (const CLI::App* sub : app.get_subcommands({})) {
    Walk(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), visit);
  }
}

std::vector<const CLI::Option*> OptionsOf(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      const bool help_again = at != &app && option == at->get_help_ptr();
      if (!option->get_positional() && !help_again) options.push_back(option);
    }
  }
  return options;
}

std::string WordsOf(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : app.get_subcommands({})) words += sub->get_name() + " ";
  for (const CLI::Option* option : OptionsOf(app)) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The value is a file or folder.
bool WantsPath(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos ||
         type.find("PYTHON") != std::string::npos;
}

// Single quotes of a word inside single quotes.
std::string Escape(const std::string& text, const std::string& replacement) {
  std::string escaped;
  for (const char c : text) escaped += c == '\'' ? replacement : std::string(1, c);
  return escaped;
}

std::string FirstSentence(const std::string& text) {
  const size_t end = text.find_first_of(";(:");
  std::string sentence = text.substr(0, end);
  while (!sentence.empty() && (sentence.back() == ' ' || sentence.back() == '.')) {
    sentence.pop_back();
  }
  return sentence;
}

// The shell function that both bash and zsh (through bashcompinit) use.
std::string BashFunction(const CommandTree& tree) {
  std::string words, values;
  Walk(tree.root(), "", [&](const CLI::App& app, const std::string& path) {
    words += "    \"" + path + "\") words='" + WordsOf(app) + "' ;;\n";
    for (const CLI::Option* option : OptionsOf(app)) {
      const std::string choices = Joined(tree.ChoicesOf(option));
      if (choices.empty() && !WantsPath(*option)) continue;
      std::string names;
      for (const std::string& name : option->get_lnames()) {
        names += (names.empty() ? "\"" : "|\"") + path + " --" + name + "\"";
      }
      values += "    " + names + ") " +
                (choices.empty() ? "files=1" : "choices='" + choices + "'") + " ;;\n";
    }
  });
  std::string verbs;
  Walk(tree.root(), "", [&](const CLI::App&, const std::string& path) {
    if (!path.empty()) verbs += (verbs.empty() ? "\"" : "|\"") + path + "\"";
  });
  return "_dynbenchctl() {\n"
         "  local path='' word next previous='' words='' choices='' files='' i\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    word=${COMP_WORDS[i]}\n"
         "    next=\"${path:+$path }$word\"\n"
         "    case \"$next\" in " +
         verbs +
         ") path=$next ;; esac\n"
         "    previous=$word\n"
         "  done\n"
         // Bash splits --flag=value at the equals sign.
         "  [ \"$current\" = '=' ] && current=''\n"
         "  [ \"$previous\" = '=' ] && previous=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  case \"$path $previous\" in\n" +
         values +
         "  esac\n"
         "  if [ -n \"$files\" ]; then\n"
         "    COMPREPLY=($(compgen -f -- \"$current\")); return\n"
         "  fi\n"
         "  if [ -n \"$choices\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$choices\" -- \"$current\")); return\n"
         "  fi\n"
         "  case \"$path\" in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n";
}

}  // namespace

std::string BashCompletion(const CommandTree& tree) {
  return "# dynbenchctl completion for bash: source <(dynbenchctl completion bash)\n" +
         BashFunction(tree) + "complete -o filenames -F _dynbenchctl dynbenchctl\n";
}

std::string ZshCompletion(const CommandTree& tree) {
  return "#compdef dynbenchctl\n"
         "# dynbenchctl completion for zsh: source <(dynbenchctl completion zsh)\n"
         "autoload -Uz compinit bashcompinit\n"
         "(( $+functions[compdef] )) || compinit\n"
         "bashcompinit\n" +
         BashFunction(tree) + "complete -F _dynbenchctl dynbenchctl\n";
}

std::string FishCompletion(const CommandTree& tree) {
  std::string text =
      "# dynbenchctl completion for fish: dynbenchctl completion fish | source\n"
      "complete -c dynbenchctl -f\n";
  Walk(tree.root(), "", [&](const CLI::App& app, const std::string& path) {
    // A verb is offered while none of its siblings was typed; flags once their verb was.
    std::string seen;
    for (const CLI::App* sub : app.get_subcommands({})) seen += " " + sub->get_name();
    const std::string last = path.empty() ? "" : path.substr(path.rfind(' ') + 1);
    const std::string when =
        path.empty() ? "__fish_use_subcommand"
                     : "__fish_seen_subcommand_from " + last +
                           (seen.empty() ? "" : "; and not __fish_seen_subcommand_from" + seen);
    for (const CLI::App* sub : app.get_subcommands({})) {
      text += "complete -c dynbenchctl -n '" + when + "' -a " + sub->get_name() + " -d '" +
              Escape(FirstSentence(sub->get_description()), "\\'") + "'\n";
    }
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional()) continue;
      text += "complete -c dynbenchctl";
      if (!path.empty()) text += " -n '__fish_seen_subcommand_from " + last + "'";
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      const std::string choices = Joined(tree.ChoicesOf(option));
      if (!choices.empty()) {
        text += " -x -a '" + choices + "'";
      } else if (TakesValue(*option)) {
        text += WantsPath(*option) ? " -r -F" : " -x";
      }
      text += " -d '" + Escape(FirstSentence(option->get_description()), "\\'") + "'\n";
    }
  });
  return text;
}

}  // namespace dynbench::cli
