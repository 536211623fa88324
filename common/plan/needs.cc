#include "common/plan/needs.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/plan/pairs.h"

namespace dynbench::plan {
namespace {

// The longer first: ">=" is not ">" followed by "=…".
constexpr const char* kComparisons[] = {"!=", ">=", "<=", "==", "=", ">", "<"};

bool IsKey(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

// The numbers of a version: "2.13.0+cpu" -> {2, 13, 0}, "2.15.0.dev20261101" -> {2, 15, 0}. Empty:
// it is none ("8xh100" is a word).
std::vector<int64_t> NumbersOf(std::string_view text) {
  std::vector<int64_t> numbers;
  size_t i = 0;
  while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
    int64_t number = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
      number = std::min<int64_t>(number * 10 + (text[i] - '0'), 1'000'000'000'000);
    }
    numbers.push_back(number);
    if (i >= text.size() || text[i] != '.') break;
    ++i;
  }
  const std::string_view tail = text.substr(std::min(i, text.size()));
  const bool version = tail.empty() || tail[0] == '+' || tail.substr(0, 3) == "dev" ||
                       tail.substr(0, 2) == "rc" || tail.substr(0, 3) == "git";
  return version ? numbers : std::vector<int64_t>();
}

bool Holds(const std::string& comparison, const std::string& have, const std::string& want) {
  if (comparison.empty()) return true;
  if (comparison == "=") return have == want || CompareVersions(have, want) == 0;
  if (comparison == "!=") return have != want && CompareVersions(have, want) != 0;
  const int order = CompareVersions(have, want);
  if (comparison == ">=") return order >= 0;
  if (comparison == "<=") return order <= 0;
  return comparison == ">" ? order > 0 : order < 0;
}

const std::string* Find(const std::map<std::string, std::string>& map, const std::string& key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace

int CompareVersions(std::string_view a, std::string_view b) {
  std::vector<int64_t> left = NumbersOf(a);
  std::vector<int64_t> right = NumbersOf(b);
  if (left.empty() || right.empty()) return a < b ? -1 : (b < a ? 1 : 0);
  const size_t n = std::max(left.size(), right.size());
  left.resize(n);
  right.resize(n);
  return left < right ? -1 : (right < left ? 1 : 0);
}

absl::StatusOr<Requirement> ParseRequirement(std::string_view text) {
  Requirement requirement;
  size_t at = text.size();
  for (const char* comparison : kComparisons) {
    const size_t found = text.find(comparison);
    if (found == std::string_view::npos || found >= at) continue;
    at = found;
    requirement.comparison = comparison;
  }
  requirement.key = std::string(text.substr(0, at));
  if (at < text.size()) {
    requirement.value = std::string(text.substr(at + requirement.comparison.size()));
  }
  const bool complete = requirement.comparison.empty() || !requirement.value.empty();
  if (!IsKey(requirement.key) || !complete) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", std::string(text), "\" is no requirement; write a label (pool=a100, host!=old), a ",
        "version (torch>=2.13, driver<560) or a label alone (gpu)"));
  }
  if (requirement.comparison == "==") requirement.comparison = "=";
  return requirement;
}

Needs NeedsOf(const Experiment& e, const std::vector<std::string>& requirements) {
  Needs needs;
  needs.requirements = requirements;
  std::sort(needs.requirements.begin(), needs.requirements.end());
  if (e.engine != "native") return needs;
  // A checkout of torchbench may come from a variable of the process, which no probe saw: the
  // runner decides.
  if (e.source.loader != "torchbench") needs.loader = e.source.loader;
  needs.packages = e.requirements;
  const std::string& path = e.options.ahead_of_time;
  // The words of worker/host/environment.h.
  if (path == "aot_inductor" || path == "nativert" || path == "aot_precompile") {
    needs.capabilities.push_back(path);
  }
  if (!e.options.quantization.empty()) needs.capabilities.push_back("torchao");
  if (!e.distributed.empty()) {
    needs.capabilities.push_back(e.device == "cuda" ? "distributed_nccl" : "distributed_gloo");
  }
  return needs;
}

Needs NeedsOf(const Experiment& e, const Request& request) {
  Needs needs = NeedsOf(e, request.require);
  needs.environments = PairEnvironments(request);
  return needs;
}

std::string MissingRequirement(const Needs& needs, const Labels& labels,
                               const EnvironmentOffer& environment) {
  std::vector<std::string> missing;
  for (const std::string& text : needs.requirements) {
    const auto requirement = ParseRequirement(text);
    if (!requirement.ok()) {
      missing.push_back(std::string(requirement.status().message()));
      continue;
    }
    const std::string* have = Find(labels, requirement->key);
    if (have == nullptr) have = Find(environment.versions, requirement->key);
    if (have == nullptr) {
      if (requirement->comparison == "!=") continue;
      missing.push_back(absl::StrCat("it has no ", requirement->key, ", asked for: ", text));
    } else if (!Holds(requirement->comparison, *have, requirement->value)) {
      missing.push_back(absl::StrCat(requirement->key, " is ", *have, ", asked for: ", text));
    }
  }
  return absl::StrJoin(missing, "; ");
}

std::string MissingBuildNeed(const Needs& needs, const EnvironmentOffer& environment) {
  std::vector<std::string> missing;
  if (!needs.loader.empty() && !environment.suites.empty() &&
      environment.suites.count(needs.loader) == 0) {
    missing.push_back(absl::StrCat("no loader for ", needs.loader,
                                   " (has: ", absl::StrJoin(environment.suites, ", "), ")"));
  }
  for (const std::string& capability : needs.capabilities) {
    if (environment.capabilities.empty() || environment.capabilities.count(capability) > 0) {
      continue;
    }
    missing.push_back(absl::StrCat("no capability ", capability,
                                   " (has: ", absl::StrJoin(environment.capabilities, ", "), ")"));
  }
  for (const std::string& text : needs.packages) {
    const auto requirement = ParseRequirement(text);
    if (!requirement.ok()) continue;  // the runner knows more forms
    const std::string* have = Find(environment.versions, requirement->key);
    if (have == nullptr || Holds(requirement->comparison, *have, requirement->value)) continue;
    missing.push_back(absl::StrCat(requirement->key, " is ", *have, ", needed: ", text,
                                   " (after an upgrade register the environment again)"));
  }
  return absl::StrJoin(missing, "; ");
}

}  // namespace dynbench::plan
