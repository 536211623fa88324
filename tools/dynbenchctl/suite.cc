#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "common/base/status.h"
#include "common/plan/catalog.h"
#include "common/plan/nearest.h"
#include "tools/dynbenchctl/suite_text.h"
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
    Json suites = Json::array(), configurations = Json::array(), profiles = Json::array(),
         presets = Json::array();
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

// "cpu aarch64: reason" of each skip rule.
std::string Skips(const ModelRules& model) {
  std::string text;
  for (const plan::SkipRule& rule : model.skip) {
    const std::string when = ConditionWords(rule.when, rule.slow);
    text += (text.empty() ? "" : "; ") + when + ": " + rule.reason;
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

VerbResult Show(Context& context, const std::string& name, const std::string& only) {
  ASSIGN_OR_RETURN(const Suite suite, Find(name));
  if (!only.empty()) {
    const auto found = std::find_if(suite.models.begin(), suite.models.end(),
                                    [&](const ModelRules& model) { return model.name == only; });
    if (found == suite.models.end()) {
      std::vector<std::string> names;
      for (const ModelRules& model : suite.models) names.push_back(model.name);
      return absl::NotFoundError("the suite " + suite.name + " has no model '" + only + "'" +
                                 plan::DidYouMean(only, names));
    }
    Suite alone = suite;
    alone.models = {*found};
    if (context.globals.json) {
      PrintJson(context, plan::ToJson(alone));
    } else {
      context.out() << ModelText(alone.models.front());
    }
    return ExitCode::kDone;
  }
  if (context.globals.json) {
    PrintJson(context, plan::ToJson(suite));
    return ExitCode::kDone;
  }
  const auto right = formats::Align::kRight;
  formats::TextTable table({{"model"},
                            {"batch", right},
                            {"training", right},
                            {"accuracy", right},
                            {"tolerance", right},
                            {"rules", right},
                            {"skipped"}});
  for (const ModelRules& model : suite.models) {
    auto size = [](int n) { return n == 0 ? std::string("model's") : std::to_string(n); };
    char tolerance[32];
    std::snprintf(tolerance, sizeof tolerance, "%g", model.tolerance_inference);
    const size_t rules = model.rules.size();
    AddTextRow(table, {model.name, size(model.batch_size), size(model.batch_size_training),
                       size(model.batch_size_accuracy), tolerance,
                       rules == 0 ? "" : std::to_string(rules), Skips(model)});
  }
  context.out() << suite.name << ": " << suite.description << "\n\n"
                << table.Render(StyleOf(context))
                << "rules depend on mode, device or precision: suite show NAME MODEL\n";
  return ExitCode::kDone;
}

// One file, whichever kind its folder says it is; answers what it holds.
absl::StatusOr<std::string> ValidateFile(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string folder = fs::path(path).parent_path().filename();
  if (folder != "configurations" && folder != "profiles" && folder != "presets") {
    ASSIGN_OR_RETURN(const Suite suite, plan::LoadSuite(path));
    return "suite " + suite.name + ", " + std::to_string(suite.models.size()) + " models";
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (folder == "configurations") {
    ASSIGN_OR_RETURN(const auto configuration, plan::ParseConfiguration(text, path));
    return "configuration " + configuration.name;
  }
  if (folder == "profiles") {
    ASSIGN_OR_RETURN(const auto profile, plan::ParseProfile(text, path));
    return "profile " + profile.name;
  }
  ASSIGN_OR_RETURN(const auto preset, plan::ParsePreset(text, path));
  return "preset " + preset.name + ", " + std::to_string(preset.submissions.size()) +
         " submissions";
}

VerbResult Validate(Context& context, const std::vector<std::string>& files) {
  Json list = Json::array();
  bool all_fine = true;
  for (const std::string& file : files) {
    const auto what = ValidateFile(AbsolutePath(context, file));
    const std::string error(what.status().message());
    all_fine = all_fine && what.ok();
    list.push_back({{"file", file},
                    {"valid", what.ok()},
                    {"holds", what.ok() ? Json(*what) : Json(nullptr)},
                    {"error", error}});
    const auto suite = what.ok() ? plan::LoadSuite(AbsolutePath(context, file))
                                 : absl::StatusOr<Suite>(what.status());
    list.back()["models"] = suite.ok() ? Json(suite->models.size()) : Json(nullptr);
    if (!what.ok()) {
      PrintError(context, error);
    } else if (!context.globals.json && !context.globals.quiet) {
      context.out() << file << ": " << *what << "\n";
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
      "suite", "The installed suites, configurations, profiles and presets; needs no coordinator.");
  tree.AddVerb("list", "All suites, configurations, launch profiles and presets.", &List, group);
  auto name = std::make_shared<std::string>();
  auto model = std::make_shared<std::string>();
  CLI::App* show = tree.AddVerb(
      "show", "The models of a suite with their rules, or everything about one of them.",
      [name, model](Context& context) { return Show(context, *name, *model); }, group);
  show->add_option("NAME", *name, "an installed suite, or your own FILE.yaml")->required();
  show->add_option("MODEL", *model, "only this model, every rule with its reason");
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* validate = tree.AddVerb(
      "validate",
      "Check suite files (and those of configurations, profiles and presets, by their folder); "
      "errors name file, line and rule.",
      [files](Context& context) { return Validate(context, *files); }, group);
  validate->add_option("FILE", *files, "suite files")->required();
}

}  // namespace dynbench::cli
