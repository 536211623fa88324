#include "worker/host/host_settings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/host/split.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kCompilerLimitMs = 5'000;

std::string ReadLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return std::string(absl::StripAsciiWhitespace(line));
}

std::string Governors(const std::string& root) {
  std::set<std::string> governors;
  std::error_code ignored;
  const std::string folder = root + "/sys/devices/system/cpu/cpufreq";
  for (const auto& policy : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string governor = ReadLine(policy.path().string() + "/scaling_governor");
    if (!governor.empty()) governors.insert(governor);
  }
  return absl::StrJoin(governors, ", ");
}

// Drivers spell it in two ways, one of them the other way round.
std::string Turbo(const std::string& root) {
  const std::string boost = ReadLine(root + "/sys/devices/system/cpu/cpufreq/boost");
  if (!boost.empty()) return boost == "0" ? "off" : "on";
  const std::string none = ReadLine(root + "/sys/devices/system/cpu/intel_pstate/no_turbo");
  return none.empty() ? "" : none == "0" ? "on" : "off";
}

// "always [madvise] never" -> "madvise"
std::string Chosen(const std::string& line) {
  const size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return line.substr(open + 1, close - open - 1);
}

void AddFromCpuinfo(const std::string& root, std::map<std::string, std::string>* settings) {
  std::ifstream in(root + "/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line) && !line.empty()) {  // the first processor speaks for all
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (absl::StartsWith(line, "microcode")) (*settings)["microcode"] = line.substr(colon + 2);
    if (absl::StartsWith(line, "flags")) {
      (*settings)["virtual machine"] = absl::StrContains(line + " ", " hypervisor ") ? "yes" : "no";
    }
  }
}

std::string Getenv(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string Compiler() {
  SpawnOptions options;
  options.argv = {"/usr/bin/env", Getenv("CXX").empty() ? "c++" : Getenv("CXX"), "--version"};
  options.environment = {{"PATH", Getenv("PATH")}, {"LANG", "C.UTF-8"}};
  options.working_dir = "/";
  const auto result = RunCommand(options, kCompilerLimitMs);
  if (!result.ok() || result->exit.code != 0) return "";
  return result->output.substr(0, result->output.find('\n'));
}

std::map<std::string, std::string> KernelSettings(const std::string& root) {
  std::map<std::string, std::string> settings;
  settings["governor"] = Governors(root);
  settings["turbo"] = Turbo(root);
  settings["SMT"] = ReadLine(root + "/sys/devices/system/cpu/smt/control");
  settings["transparent huge pages"] =
      Chosen(ReadLine(root + "/sys/kernel/mm/transparent_hugepage/enabled"));
  const std::string balancing = ReadLine(root + "/proc/sys/kernel/numa_balancing");
  if (!balancing.empty()) settings["NUMA balancing"] = balancing == "0" ? "off" : "on";
  AddFromCpuinfo(root, &settings);
  return settings;
}

void DropEmpty(std::map<std::string, std::string>* settings) {
  std::erase_if(*settings, [](const auto& setting) { return setting.second.empty(); });
}

std::string AllowedCores(const std::string& root) {
  std::ifstream in(root + "/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (!absl::StartsWith(line, "Cpus_allowed_list:")) continue;
    return std::string(absl::StripAsciiWhitespace(line.substr(line.find(':') + 1)));
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> ReadHostSettings(const std::string& root) {
  std::map<std::string, std::string> settings = KernelSettings(root);
  if (root.empty()) settings["C++ compiler"] = Compiler();
  DropEmpty(&settings);
  return settings;
}

std::map<std::string, std::string> ReadChangingSettings(const std::string& root) {
  std::map<std::string, std::string> settings = KernelSettings(root);
  settings["allowed cores"] = AllowedCores(root);
  // NVML, which tells it as well, may take a second to start.
  settings["GPU driver"] = ReadLine(root + "/proc/driver/nvidia/version");
  DropEmpty(&settings);
  return settings;
}

std::string ChangedSettings(const std::map<std::string, std::string>& before,
                            const std::map<std::string, std::string>& after) {
  std::set<std::string> names;
  for (const auto* settings : {&before, &after}) {
    for (const auto& [name, value] : *settings) names.insert(name);
  }
  const auto value_of = [](const std::map<std::string, std::string>& settings,
                           const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string("absent") : found->second;
  };
  std::string text;
  for (const std::string& name : names) {
    const std::string was = value_of(before, name), is = value_of(after, name);
    if (was == is) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", name, " was ", was, ", is ", is);
  }
  return text;
}

}  // namespace dynbench::worker
