#include "tools/dynbenchctl/submissions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/status.h"
#include "common/formats/upstream_files.h"
#include "common/plan/catalog.h"
#include "common/plan/nearest.h"
#include "nlohmann/json.hpp"

namespace dynbench::cli {
namespace {

using Json = nlohmann::json;

// Fields of a request that may be typed beside --preset; everything else is the preset's to decide.
constexpr std::array<std::string_view, 30> kOpen = {"environments",
                                                    "device",
                                                    "models",
                                                    "filters",
                                                    "excludes",
                                                    "exclude_exact",
                                                    "no_skip",
                                                    "fast",
                                                    "profile",
                                                    "starts",
                                                    "weights",
                                                    "total_partitions",
                                                    "partition_id",
                                                    "policy",
                                                    "repeat",
                                                    "target_precision",
                                                    "precision_budget_ms",
                                                    "threads",
                                                    "timeout_ms",
                                                    "set_env",
                                                    "priority",
                                                    "require",
                                                    "deadline_unix_ms",
                                                    "unplaceable_grace_s",
                                                    "base",
                                                    "new",
                                                    "rounds_min",
                                                    "rounds_max",
                                                    "budget_s",
                                                    "pair_seed"};

absl::StatusOr<plan::Preset> FindPreset(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string folder, plan::FindSuitesFolder());
  ASSIGN_OR_RETURN(const plan::Catalog catalog, plan::LoadCatalog(folder));
  const auto found = catalog.presets.find(name);
  if (found != catalog.presets.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, preset] : catalog.presets) names.push_back(known);
  return absl::NotFoundError("there is no preset '" + name + "'" + plan::DidYouMean(name, names) +
                             "; dynbenchctl suite list names them");
}

void AddLabel(const std::string& word, plan::Request* request) {
  request->label = request->label.empty() ? word : request->label + " " + word;
}

absl::StatusOr<BuiltRequest> BuildSide(SubmitFlags flags, const std::string& cwd, bool unbacked) {
  flags.compare_backed_unbacked = false;
  (unbacked ? flags.unbacked_batch_only : flags.dynamic_batch_only) = true;
  const std::string word = unbacked ? "unbacked" : "backed";
  ASSIGN_OR_RETURN(BuiltRequest built, BuildRequest(flags, cwd));
  AddLabel(word, &built.request);
  if (!built.request.output.empty()) {
    built.request.output = formats::WithSuffix(built.request.output, "_" + word);
  }
  return built;
}

absl::StatusOr<std::vector<BuiltRequest>> BuildPreset(const SubmitFlags& flags,
                                                      const std::string& cwd) {
  if (flags.output) {
    return absl::InvalidArgumentError(
        "--output names one file and a preset is several jobs; use --output-directory, which names "
        "the files as upstream's CI does, or export JOB later");
  }
  SubmitFlags alone = flags;
  alone.output_directory.reset();  // files are named from the rows, not from the request
  ASSIGN_OR_RETURN(const BuiltRequest typed, BuildRequest(alone, cwd));
  ASSIGN_OR_RETURN(const plan::Preset preset, FindPreset(*flags.preset));
  ASSIGN_OR_RETURN(std::vector<plan::Request> requests,
                   FillPreset(preset, typed.request, flags.suite.value_or("")));
  std::vector<BuiltRequest> all;
  for (plan::Request& request : requests) {
    BuiltRequest built;
    built.request = std::move(request);
    if (all.empty()) built.notes = typed.notes;
    if (flags.output_directory) {
      built.output.folder = ResolvePath(cwd, *flags.output_directory);
      built.output.options.tag = flags.tag;
      built.output.dashboard_names = true;
    }
    all.push_back(std::move(built));
  }
  return all;
}

}  // namespace

absl::StatusOr<std::vector<plan::Request>> FillPreset(const plan::Preset& preset,
                                                      const plan::Request& typed,
                                                      const std::string& suite) {
  const Json usual = Json::parse(plan::ToJson(plan::Request()));
  const Json given = Json::parse(plan::ToJson(typed));
  Json open = Json::object();
  for (const auto& [key, value] : given.items()) {
    if (value == usual.at(key) || key == "label" || key == "user" || key == "given") continue;
    if (std::find(kOpen.begin(), kOpen.end(), std::string_view(key)) == kOpen.end()) {
      return absl::InvalidArgumentError("--preset " + preset.name + " decides '" + key +
                                        "' itself; leave its flag out, or submit without --preset");
    }
    open[key] = value;
  }
  std::vector<plan::Request> requests;
  for (const plan::Request& submission : preset.submissions) {
    if (!suite.empty() && submission.suite != suite) continue;
    Json json = Json::parse(plan::ToJson(submission));
    json.update(open);
    ASSIGN_OR_RETURN(plan::Request request, plan::RequestFromJson(json.dump()));
    request.given.insert(typed.given.begin(), typed.given.end());
    if (!typed.label.empty()) AddLabel(typed.label, &request);
    if (request.label.empty()) request.label = preset.name;
    requests.push_back(std::move(request));
  }
  if (requests.empty()) {
    return absl::InvalidArgumentError("--preset " + preset.name + " submits nothing of --suite " +
                                      suite);
  }
  return requests;
}

absl::StatusOr<std::vector<BuiltRequest>> BuildRequests(const SubmitFlags& flags,
                                                        const std::string& cwd) {
  std::vector<BuiltRequest> all;
  if (flags.preset) return BuildPreset(flags, cwd);
  if (!flags.compare_backed_unbacked) {
    ASSIGN_OR_RETURN(all.emplace_back(), BuildRequest(flags, cwd));
    return all;
  }
  ASSIGN_OR_RETURN(all.emplace_back(), BuildSide(flags, cwd, /*unbacked=*/false));
  ASSIGN_OR_RETURN(all.emplace_back(), BuildSide(flags, cwd, /*unbacked=*/true));
  all.back().notes.clear();
  return all;
}

}  // namespace dynbench::cli
