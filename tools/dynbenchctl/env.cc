#include <map>
#include <memory>
#include <set>

#include "common/base/status.h"
#include "common/plan/nearest.h"
#include "tools/dynbenchctl/env_text.h"
#include "tools/dynbenchctl/source.h"
#include "tools/dynbenchctl/table.h"
#include "tools/dynbenchctl/verbs.h"

namespace dynbench::cli {
namespace {

// One environment as one worker has it.
struct Entry {
  const WorkerView* worker;
  const EnvironmentView* environment;
};

std::vector<Entry> EntriesOf(const std::vector<WorkerView>& workers, const std::string& name) {
  std::vector<Entry> entries;
  for (const WorkerView& worker : workers) {
    for (const EnvironmentView& environment : worker.environments) {
      if (name.empty() || environment.name == name) entries.push_back({&worker, &environment});
    }
  }
  return entries;
}

std::string Suites(const EnvironmentView& environment) {
  std::string text;
  for (const std::string& suite : environment.suites) text += (text.empty() ? "" : ", ") + suite;
  return text;
}

void Print(Context& context, const std::vector<Entry>& entries,
           const std::vector<v1::FleetEnvironment>& fleet) {
  if (context.globals.json) {
    Json list = Json::array();
    for (const Entry& entry : entries) {
      list.push_back({{"name", entry.environment->name},
                      {"torch_version", entry.environment->torch_version},
                      {"hash", entry.environment->hash},
                      {"python", entry.environment->python},
                      {"suites", entry.environment->suites},
                      {"capabilities", entry.environment->capabilities},
                      {"worker", entry.worker->id},
                      {"host", entry.worker->host},
                      {"connected", entry.worker->connected}});
    }
    PrintJson(context, {{"schema", "dynbench.environments/1"},
                        {"environments", list},
                        {"fleet", FleetEnvironmentsJson(fleet)}});
    return;
  }
  formats::TextTable table(
      {{"environment"}, {"torch"}, {"hash"}, {"suites"}, {"host"}, {"worker"}, {"python"}});
  for (const Entry& entry : entries) {
    AddTextRow(table, {entry.environment->name, entry.environment->torch_version,
                       entry.environment->hash.substr(0, 12), Suites(*entry.environment),
                       entry.worker->host, entry.worker->id, entry.environment->python});
  }
  if (!entries.empty()) context.out() << table.Render(StyleOf(context));
}

VerbResult List(Context& context) {
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto workers, source->Workers());
  const auto entries = EntriesOf(workers, "");
  ASSIGN_OR_RETURN(const auto fleet, source->FleetEnvironments());
  if (entries.empty()) {
    PrintNote(context,
              "no worker has an environment; add one on its host: dynbench-worker env add NAME "
              "--python PATH");
  }
  Print(context, entries, fleet);
  if (!context.globals.json) context.out() << FleetEnvironmentsText(fleet, StyleOf(context));
  return ExitCode::kDone;
}

VerbResult Show(Context& context, const std::string& name) {
  ASSIGN_OR_RETURN(const auto source, OpenSource(context.globals));
  ASSIGN_OR_RETURN(const auto workers, source->Workers());
  const auto entries = EntriesOf(workers, name);
  ASSIGN_OR_RETURN(auto fleet, source->FleetEnvironments());
  std::set<std::string> names;
  for (const v1::FleetEnvironment& environment : fleet) names.insert(environment.name());
  std::erase_if(fleet, [&](const auto& e) { return e.name() != name && e.id() != name; });
  if (entries.empty() && fleet.empty()) {
    for (const Entry& entry : EntriesOf(workers, "")) names.insert(entry.environment->name);
    return absl::NotFoundError(
        "no worker has an environment '" + name + "'" +
        plan::DidYouMean(name, std::vector<std::string>(names.begin(), names.end())) +
        "; add it on its host: dynbench-worker env add " + name + " --python PATH");
  }
  std::set<std::string> hashes;
  for (const Entry& entry : entries) hashes.insert(entry.environment->hash);
  if (hashes.size() > 1) {
    PrintNote(context, "the name stands for " + std::to_string(hashes.size()) +
                           " different builds on different hosts; their results are not the same "
                           "environment's");
  }
  Print(context, entries, fleet);
  for (const v1::FleetEnvironment& environment : fleet) {
    if (!context.globals.json) context.out() << FleetEnvironmentText(environment);
  }
  return ExitCode::kDone;
}

}  // namespace

void AddEnv(CommandTree& tree) {
  CLI::App* group =
      tree.AddGroup("env",
                    "The Python environments of the fleet. One that is there already is registered "
                    "on its host: dynbench-worker env add NAME --python PATH.");
  AddEnvMakers(tree, group);
  tree.AddVerb("list", "All environments of all workers.", &List, group);
  auto name = std::make_shared<std::string>();
  CLI::App* show = tree.AddVerb(
      "show", "One environment on each worker that has it.",
      [name](Context& context) { return Show(context, *name); }, group);
  show->add_option("NAME", *name, "name of the environment")->required();
}

}  // namespace dynbench::cli
