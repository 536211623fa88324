#include <memory>

#include "common/base/status.h"
#include "common/plan/catalog.h"
#include "common/plan/nearest.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

using plan::ModelRules;
using plan::Suite;

absl::StatusOr<plan::Catalog> Installed() {
  ASSIGN_OR_RETURN(const std::string folder, plan::FindSuitesFolder());
  return plan::LoadCatalog(folder);
}

VerbResult List(Context& context) {
  ASSIGN_OR_RETURN(const plan::Catalog catalog, Installed());
  if (context.globals.json) {
    Json suites = Json::array(), configurations = Json::array(), profiles = Json::array();
    for (const auto& [name, suite] : catalog.suites) {
      suites.push_back({{"name", name},
                        {"models", suite.models.size()},
                        {"loader", suite.loader},
                        {"description", suite.description}});
    }
    for (const auto& [name, configuration] : catalog.configurations) {
      configurations.push_back({{"name", name},
                                {"upstream_name", configuration.upstream_name},
                                {"description", configuration.description}});
    }
    for (const auto& [name, profile] : catalog.profiles) {
      profiles.push_back({{"name", name}, {"description", profile.description}});
    }
    Json presets = Json::array();
    for (const auto& [name, preset] : catalog.presets) {
      presets.push_back({{"name", name},
                         {"submissions", preset.submissions.size()},
                         {"description", preset.description}});
    }
    PrintJson(context, {{"schema", "dynbench.suites/1"},
                        {"suites", suites},
                        {"configurations", configurations},
                        {"profiles", profiles},
                        {"presets", presets}});
    return ExitCode::kDone;
  }
  formats::TextTable table(
      {{"kind"}, {"name"}, {"models", formats::Align::kRight}, {"description"}});
  for (const auto& [name, suite] : catalog.suites) {
    AddTextRow(table, {"suite", name, std::to_string(suite.models.size()), suite.description});
  }
  for (const auto& [name, configuration] : catalog.configurations) {
    AddTextRow(table, {"configuration", name, "", configuration.description});
  }
  for (const auto& [name, profile] : catalog.profiles) {
    AddTextRow(table, {"profile", name, "", profile.description});
  }
  for (const auto& [name, preset] : catalog.presets) {
    AddTextRow(table, {"preset", name, "", preset.description});
  }
  context.out() << table.Render(StyleOf(context));
  return ExitCode::kDone;
}

// "cpu aarch64", "float16 or amp": what a rule asks for.
std::string When(const plan::Condition& when) {
  std::vector<std::string> words = {when.device, when.arch,    when.mode,
                                    when.test,   when.backend, when.ahead_of_time};
  if (when.only_freezing) words.emplace_back("freezing");
  std::string precisions;
  for (const std::string& p : when.precision) precisions += (precisions.empty() ? "" : " or ") + p;
  words.push_back(precisions);
  if (when.cudagraphs) words.emplace_back(*when.cudagraphs ? "cudagraphs" : "no cudagraphs");
  if (when.distributed) words.emplace_back(*when.distributed ? "distributed" : "one process");
  std::string text;
  for (const std::string& word : words) {
    if (!word.empty()) text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// "cpu aarch64: reason" of each skip rule.
std::string Skips(const ModelRules& model) {
  std::string text;
  for (const plan::SkipRule& rule : model.skip) {
    std::string when = When(rule.when);
    if (rule.slow) when += when.empty() ? "--fast" : " --fast";
    text += (text.empty() ? "" : "; ") + (when.empty() ? "always" : when) + ": " + rule.reason;
  }
  return text;
}

absl::StatusOr<Suite> Find(const std::string& name) {
  if (name.find('/') != std::string::npos || name.find(".y") != std::string::npos) {
    return plan::LoadSuite(name);
  }
  ASSIGN_OR_RETURN(const plan::Catalog catalog, Installed());
  const auto found = catalog.suites.find(name);
  if (found != catalog.suites.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, suite] : catalog.suites) names.push_back(known);
  return absl::NotFoundError("there is no suite '" + name + "'" + plan::DidYouMean(name, names) +
                             "; dynbenchctl suite list names them");
}

VerbResult Show(Context& context, const std::string& name) {
  ASSIGN_OR_RETURN(const Suite suite, Find(name));
  if (context.globals.json) {
    PrintJson(context, Json::parse(plan::ToJson(suite).dump()));
    return ExitCode::kDone;
  }
  const auto right = formats::Align::kRight;
  formats::TextTable table({{"model"},
                            {"batch", right},
                            {"training", right},
                            {"accuracy", right},
                            {"tolerance", right},
                            {"skipped"}});
  for (const ModelRules& model : suite.models) {
    auto size = [](int n) { return n == 0 ? std::string("model's") : std::to_string(n); };
    char tolerance[32];
    std::snprintf(tolerance, sizeof tolerance, "%g", model.tolerance_inference);
    AddTextRow(table, {model.name, size(model.batch_size), size(model.batch_size_training),
                       size(model.batch_size_accuracy), tolerance, Skips(model)});
  }
  context.out() << suite.name << ": " << suite.description << "\n\n"
                << table.Render(StyleOf(context));
  return ExitCode::kDone;
}

VerbResult Validate(Context& context, const std::vector<std::string>& files) {
  Json list = Json::array();
  bool all_fine = true;
  for (const std::string& file : files) {
    const auto suite = plan::LoadSuite(AbsolutePath(context, file));
    const std::string error(suite.status().message());
    all_fine = all_fine && suite.ok();
    list.push_back({{"file", file},
                    {"valid", suite.ok()},
                    {"models", suite.ok() ? Json(suite->models.size()) : Json(nullptr)},
                    {"error", error}});
    if (!suite.ok()) {
      PrintError(context, error);
    } else if (!context.globals.json && !context.globals.quiet) {
      context.out() << file << ": suite " << suite->name << ", " << suite->models.size()
                    << " models\n";
    }
  }
  if (context.globals.json) {
    PrintJson(context, {{"schema", "dynbench.validation/1"}, {"files", list}});
  }
  return all_fine ? ExitCode::kDone : ExitCode::kUsage;
}

}  // namespace

void AddSuite(CommandTree& tree) {
  CLI::App* group = tree.AddGroup(
      "suite", "The installed suites, configurations and profiles; needs no coordinator.");
  tree.AddVerb("list", "All suites, configurations and launch profiles.", &List, group);
  auto name = std::make_shared<std::string>();
  CLI::App* show = tree.AddVerb(
      "show", "The models of a suite with their rules.",
      [name](Context& context) { return Show(context, *name); }, group);
  show->add_option("NAME", *name, "an installed suite, or your own FILE.yaml")->required();
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* validate = tree.AddVerb(
      "validate", "Check suite files; errors name file, line and rule.",
      [files](Context& context) { return Validate(context, *files); }, group);
  validate->add_option("FILE", *files, "suite files")->required();
}

}  // namespace dynbench::cli
