#include "common/judge/differences.h"

#include <map>
#include <set>

#include "nlohmann/json.hpp"

namespace dynbench::judge {
namespace {

using Json = nlohmann::json;
using Values = std::map<std::string, std::set<std::string>>;

// What a different value of these means is worth a word, not a refusal.
bool OnlyNoted(const std::string& field) {
  return field == "host" || field == "accuracy function" || field == "chosen kernels";
}

std::string ChosenKernels(const std::string& compiler_report) {
  const Json json = Json::parse(compiler_report, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("autotune") || !json["autotune"].is_object()) return "";
  const Json& autotune = json["autotune"];
  return autotune.contains("hash") && autotune["hash"].is_string()
             ? autotune["hash"].get<std::string>().substr(0, 12)
             : "";
}

void AddEffective(const Process& process, Values* values) {
  if (!process.row.result) return;
  const plan::Result& result = *process.row.result;
  const auto add = [&](const char* field, const std::string& value) {
    if (!value.empty()) (*values)[field].insert(value);
  };
  if (result.batch_size > 0) add("batch size", std::to_string(result.batch_size));
  add("weights", result.weights);
  if (result.threads > 0) add("threads", std::to_string(result.threads));
  if (const int cores = CoresIn(result.cores); cores > 0) add("cores", std::to_string(cores));
  if (result.outcome == plan::Outcome::kPassed && result.start_proof.cache_files_before >= 0) {
    add("start", result.start_proof.proven ? "proven" : "not proven");
  }
  add("accuracy function", result.accuracy_function_hash.substr(0, 12));
  add("chosen kernels", ChosenKernels(result.compiler_report));
}

Values ValuesOf(const std::vector<const Process*>& processes) {
  Values values;
  for (const Process* process : processes) {
    for (const auto& [name, value] : process->host) values[name].insert(value);
    // The row's own word for the host is there even when its inventory is not.
    if (!process->row.worker_host.empty()) values["host"] = {};
    AddEffective(*process, &values);
  }
  for (const Process* process : processes) {
    if (!process->row.worker_host.empty()) values["host"].insert(process->row.worker_host);
  }
  return values;
}

std::string Joined(const std::set<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

void AddMixedBuilds(const char* side, const std::vector<const Process*>& processes,
                    std::vector<Difference>* differences) {
  std::set<std::string> builds;
  for (const Process* process : processes) {
    const auto found = process->build.find("environment");
    if (found != process->build.end()) builds.insert(found->second.substr(0, 12));
  }
  if (builds.size() < 2) return;
  differences->push_back({std::string("builds within ") + side, Joined(builds), "", true});
}

// {"options": {"freezing": true}} -> "options.freezing": "true".
void Flatten(const Json& json, const std::string& prefix, Facts* facts) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      Flatten(value, name, facts);
    } else {
      (*facts)[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
}

Facts SeriesFacts(const plan::Experiment& experiment) {
  Json json = Json::parse(plan::ToJson(experiment));
  // As plan::SeriesKey leaves them out.
  for (const char* key :
       {"environment", "partition", "output", "planned_outcome", "reason", "timeout_ms"}) {
    json.erase(key);
  }
  if (experiment.engine == "script") json.erase("command");
  Facts facts;
  Flatten(json, "", &facts);
  return facts;
}

}  // namespace

std::string ToString(const Difference& d) {
  if (d.fresh.empty() && !d.base.empty()) return d.field + " " + d.base;
  return d.field + " " + (d.base.empty() ? "none" : d.base) + " → " +
         (d.fresh.empty() ? "none" : d.fresh);
}

std::vector<Difference> ProcessDifferences(const std::vector<const Process*>& base,
                                           const std::vector<const Process*>& fresh) {
  std::vector<Difference> differences;
  const Values of_base = ValuesOf(base), of_fresh = ValuesOf(fresh);
  for (const auto& [field, values] : of_base) {
    const auto other = of_fresh.find(field);
    if (other == of_fresh.end() || other->second == values) continue;
    differences.push_back({field, Joined(values), Joined(other->second), !OnlyNoted(field)});
  }
  AddMixedBuilds("base", base, &differences);
  AddMixedBuilds("new", fresh, &differences);
  return differences;
}

std::vector<Difference> SeriesDifferences(const plan::Experiment& base,
                                          const plan::Experiment& fresh) {
  const Facts of_base = SeriesFacts(base);
  Facts of_fresh = SeriesFacts(fresh);
  std::vector<Difference> differences;
  for (const auto& [field, value] : of_base) {
    const std::string other = of_fresh[field];
    of_fresh.erase(field);
    if (other != value) differences.push_back({field, value, other, true});
  }
  for (const auto& [field, value] : of_fresh) differences.push_back({field, "", value, true});
  return differences;
}

std::vector<Difference> BuildDifferences(const Side& base, const Side& fresh) {
  Values of_base, of_fresh;
  for (const Process& process : base.processes) {
    for (const auto& [name, value] : process.build) of_base[name].insert(value);
  }
  for (const Process& process : fresh.processes) {
    for (const auto& [name, value] : process.build) of_fresh[name].insert(value);
  }
  std::vector<Difference> differences;
  for (const auto& [field, values] : of_base) {
    const std::set<std::string>& other = of_fresh[field];
    if (values != other) differences.push_back({field, Joined(values), Joined(other), false});
  }
  for (const auto& [field, values] : of_fresh) {
    if (!of_base.contains(field)) differences.push_back({field, "", Joined(values), false});
  }
  return differences;
}

}  // namespace dynbench::judge
