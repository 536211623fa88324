#include "tools/dynbenchctl/help.h"

#include <algorithm>
#include <vector>

#include "common/formats/text_table.h"

namespace dynbench::cli {
namespace {

constexpr size_t kTextColumn = 34;  // where explanations begin
constexpr size_t kLineWidth = 100;

// `label` and `text` side by side, `text` wrapped at words.
std::string Entry(const std::string& label, const std::string& text) {
  std::string result = "  " + label;
  size_t at = 2 + formats::DisplayWidth(label);
  if (at + 2 > kTextColumn) {
    result += "\n";
    at = 0;
  }
  result += std::string(kTextColumn - at, ' ');
  at = kTextColumn;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (at > kTextColumn && at + 1 + formats::DisplayWidth(word) > kLineWidth) {
      result += "\n" + std::string(kTextColumn, ' ');
      at = kTextColumn;
    }
    if (at > kTextColumn) {
      result += " ";
      ++at;
    }
    result += word;
    at += formats::DisplayWidth(word);
    begin = end + 1;
  }
  return result + "\n";
}

std::string Entries(const CLI::App& app, const std::string& group) {
  std::string entries;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group() != group) continue;
    entries += Entry(OptionLabel(*option), option->get_description());
  }
  return entries;
}

std::vector<const CLI::App*> Subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

}  // namespace

std::string CommandPath(const CLI::App& app) {
  const std::string& own = app.get_name();
  return app.get_parent() == nullptr ? own : CommandPath(*app.get_parent()) + " " + own;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string OptionLabel(const CLI::Option& option) {
  std::string label;
  for (const std::string& name : option.get_snames()) label += (label.empty() ? "-" : ",-") + name;
  for (const std::string& name : option.get_lnames()) {
    label += (label.empty() ? "--" : ",--") + name;
  }
  if (TakesValue(option)) label += " " + option.get_type_name();
  return label;
}

std::string UsageLine(const CLI::App& app) {
  std::string line = "usage: " + CommandPath(app);
  if (!Subcommands(app).empty()) {
    const bool optional = app.get_parent() != nullptr && app.get_require_subcommand_min() == 0;
    line += optional ? " [VERB]" : " VERB";
  }
  line += " [flags]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    const std::string more = option->get_expected_max() > 1 ? "..." : "";
    line += option->get_required() ? " " + name + more : " [" + name + more + "]";
  }
  return line;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  std::string text = UsageLine(*app) + "\n\n" + app->get_description() + "\n";
  const auto verbs = Subcommands(*app);
  if (!verbs.empty()) text += "\nverbs\n";
  for (const CLI::App* verb : verbs) text += Entry(verb->get_name(), verb->get_description());

  std::string positionals;
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) {
      positionals += Entry(option->get_name(true), option->get_description());
    }
  }
  if (!positionals.empty()) text += "\narguments\n" + positionals;
  std::vector<std::string> groups = app->get_groups();
  // What every verb has comes last, and the root's flags are listed with the verb's own.
  const auto own = std::remove(groups.begin(), groups.end(), kEveryVerb);
  groups.erase(own, groups.end());
  for (const std::string& group : groups) {
    const std::string entries = Entries(*app, group);
    if (!entries.empty()) text += "\n" + group + "\n" + entries;
  }
  const CLI::App* root = app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  text += "\n" + std::string(kEveryVerb) + "\n" + Entries(*root, kEveryVerb);
  const std::string footer = app->get_footer();
  if (!footer.empty()) text += "\n" + footer + "\n";
  return text;
}

}  // namespace dynbench::cli
