#include "common/judge/fingerprint.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>

#include "nlohmann/json.hpp"

namespace dynbench::judge {
namespace {

using Json = nlohmann::json;

std::string Word(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number() ? found->dump() : "";
}

void Put(Facts* facts, const std::string& name, const std::string& value) {
  if (!value.empty()) (*facts)[name] = value;
}

Json Parse(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

// "2 x NVIDIA H200": the kinds of GPU and how many.
std::string Gpus(const Json& inventory) {
  const auto found = inventory.find("gpus");
  if (found == inventory.end() || !found->is_array()) return "";
  std::map<std::string, int> kinds;
  for (const Json& gpu : *found) {
    if (gpu.is_object()) ++kinds[Word(gpu, "name")];
  }
  std::string text;
  for (const auto& [name, count] : kinds) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
  }
  return text;
}

// Whole GiB: the kernel reserves some pages more or fewer at each boot.
std::string Memory(const Json& inventory) {
  const auto found = inventory.find("memory_bytes");
  if (found == inventory.end() || !found->is_number()) return "";
  return std::to_string(std::llround(found->get<double>() / (1024.0 * 1024 * 1024))) + " GiB";
}

}  // namespace

Facts HostFacts(std::string_view inventory_json) {
  const Json json = Parse(inventory_json);
  Facts facts;
  Put(&facts, "host", Word(json, "host"));
  Put(&facts, "CPU", Word(json, "cpu_model"));
  Put(&facts, "physical cores", Word(json, "physical_cores"));
  Put(&facts, "sockets", Word(json, "sockets"));
  Put(&facts, "architecture", Word(json, "arch"));
  Put(&facts, "kernel", Word(json, "kernel"));
  Put(&facts, "memory", Memory(json));
  Put(&facts, "GPU", Gpus(json));
  Put(&facts, "driver", Word(json, "driver"));
  Put(&facts, "CUDA driver", Word(json, "cuda"));
  const auto settings = json.find("settings");
  if (settings != json.end() && settings->is_object()) {
    for (const auto& [name, value] : settings->items()) {
      if (value.is_string()) Put(&facts, name, value.get<std::string>());
    }
  }
  return facts;
}

Facts BuildFacts(std::string_view environment_json) {
  const Json json = Parse(environment_json);
  Facts facts;
  Put(&facts, "environment", Word(json, "hash"));
  Put(&facts, "torch", Word(json, "torch_version"));
  Put(&facts, "torch commit", Word(json, "torch_git"));
  Put(&facts, "python", Word(json, "python_version"));
  const auto packages = json.find("packages");
  if (packages != json.end() && packages->is_object()) {
    for (const auto& [name, version] : packages->items()) {
      if (version.is_string()) Put(&facts, name, version.get<std::string>());
    }
  }
  return facts;
}

int CoresIn(std::string_view core_set) {
  std::set<int> cores;
  while (!core_set.empty()) {
    const size_t comma = core_set.find(',');
    const std::string_view part = core_set.substr(0, comma);
    core_set = comma == std::string_view::npos ? "" : core_set.substr(comma + 1);
    int first = 0;
    const char* end = part.data() + part.size();
    const auto [after, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc()) return 0;
    int last = first;
    if (after != end && *after == '-') std::from_chars(after + 1, end, last);
    if (last - first > 1 << 16) return 0;
    for (int core = first; core <= last; ++core) cores.insert(core);
  }
  return static_cast<int>(cores.size());
}

}  // namespace dynbench::judge
