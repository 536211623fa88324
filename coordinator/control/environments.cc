#include "coordinator/control/environments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/durations.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/recipe.h"
#include "common/store/environments.h"
#include "nlohmann/json.hpp"

namespace dynbench::control {
namespace {

using Json = nlohmann::json;

// An object that nothing names may be one whose verb is on its way.
constexpr int64_t kYoungMs = int64_t{3'600} * 1'000;

// The digests that a manifest names, and its own.
void AddObjectsOf(const ObjectFolder& objects, const std::string& manifest,
                  std::set<std::string>* digests) {
  if (!IsSha256Hex(manifest)) return;
  digests->insert(manifest);
  std::ifstream file(objects.PathOf(manifest), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const Json json = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return;
  for (const Json& entry : json["files"]) {
    if (entry.is_array() && entry.size() == 4 && entry[3].is_string()) {
      digests->insert(entry[3].get<std::string>());
    }
  }
}

// What an environment that is being made is made of.
void AddPartsOf(const std::string& origin_json, std::set<std::string>* digests) {
  const Json origin = Json::parse(origin_json, nullptr, /*allow_exceptions=*/false);
  if (!origin.is_object()) return;
  if (origin.contains("patch_sha256")) digests->insert(origin.value("patch_sha256", ""));
  const auto recipe = plan::RecipeFromJson(origin_json);
  if (!recipe.ok()) return;
  for (const plan::RecipeWheel& wheel : recipe->wheels) digests->insert(wheel.sha256);
}

// What of the objects goes: those of `dropped` at once, others when they are old.
void Sweep(const ObjectFolder& objects, const std::set<std::string>& needed,
           const std::set<std::string>& dropped, bool dry_run,
           v1::CollectEnvironmentsReply* reply) {
  const int64_t now_ms = UnixNow().ms;
  objects.ForEach([&](const ObjectFolder::Object& object) {
    struct stat info {};
    if (needed.count(object.sha256) > 0 || lstat(object.path.c_str(), &info) != 0) return;
    const bool young = now_ms - int64_t{info.st_mtime} * 1'000 < kYoungMs;
    if (young && dropped.count(object.sha256) == 0) return;
    reply->set_objects(reply->objects() + 1);
    reply->set_object_bytes(reply->object_bytes() + info.st_size);
    if (!dry_run) unlink(object.path.c_str());
  });
}

// Why it stays; empty: it goes.
absl::StatusOr<std::string> WhyKept(store::Database& db, const v1::FleetEnvironment& environment,
                                    const std::set<std::string>& in_use, int64_t unused_for_ms) {
  if (environment.state() == "making") return std::string("it is being made");
  if (in_use.count(environment.name()) > 0) return std::string("a waiting or running job names it");
  if (unused_for_ms <= 0) return std::string();
  ASSIGN_OR_RETURN(const UnixTimeMs used, store::LastUseOfEnvironment(db, environment.name()));
  const int64_t ago_ms = UnixNow().ms - std::max(used.ms, std::max(environment.finished_unix_ms(),
                                                                   environment.created_unix_ms()));
  if (ago_ms >= unused_for_ms) return std::string();
  return absl::StrCat("it was made or used ", ago_ms / 3'600'000, " hours ago");
}

absl::Status Drop(const Context& context, const std::vector<std::string>& ids) {
  auto done = std::make_shared<std::promise<absl::Status>>();
  auto committed = done->get_future();
  context.dispatcher->DropEnvironments(ids, "env gc",
                                       [done](const absl::Status& s) { done->set_value(s); });
  if (committed.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
    return absl::UnavailableError("the store does not answer; try again");
  }
  return committed.get();
}

absl::Status Missing(const std::string& what) {
  return absl::NotFoundError(absl::StrCat(what,
                                          " has not been sent to the coordinator; "
                                          "send it first (PutObjects)"));
}

}  // namespace

absl::Status CheckObjectsAreThere(const Context& context, const v1::BuildEnvironmentRequest& r) {
  ASSIGN_OR_RETURN(const plan::Recipe recipe, plan::RecipeFromJson(r.recipe_json()));
  for (const plan::RecipeWheel& wheel : recipe.wheels) {
    if (!context.objects->Has(wheel.sha256)) return Missing(wheel.file);
  }
  return absl::OkStatus();
}

absl::Status CheckObjectsAreThere(const Context& context, const v1::DeriveEnvironmentRequest& r) {
  if (!IsSha256Hex(r.patch_sha256())) return absl::InvalidArgumentError("no patch is named");
  return context.objects->Has(r.patch_sha256()) ? absl::OkStatus() : Missing("the patch");
}

absl::Status CollectEnvironments(const Context& context, store::Database& db,
                                 const v1::CollectEnvironmentsRequest& request,
                                 v1::CollectEnvironmentsReply* reply) {
  ASSIGN_OR_RETURN(const auto all, context.dispatcher->ViewEnvironments(/*with_removed=*/true));
  ASSIGN_OR_RETURN(const auto in_use, store::EnvironmentsInUse(db));
  ASSIGN_OR_RETURN(const auto rows, store::LoadFleetEnvironments(db));
  std::set<std::string> needed, dropped;
  std::vector<std::string> ids;
  bool making = false;
  for (const v1::FleetEnvironment& environment : all) {
    const auto row = std::find_if(rows.environments.begin(), rows.environments.end(),
                                  [&](const auto& r) { return r.id == environment.id(); });
    const std::string manifest = row == rows.environments.end() ? "" : row->manifest;
    if (environment.state() == "removed") {
      AddObjectsOf(*context.objects, manifest, &dropped);
      continue;
    }
    if (environment.state() == "making") {
      making = true;
      AddPartsOf(environment.origin_json(), &needed);
    }
    ASSIGN_OR_RETURN(const std::string why,
                     WhyKept(db, environment, in_use, request.unused_for_ms()));
    if (why.empty()) {
      *reply->add_dropped() = environment;
      ids.push_back(environment.id());
      AddObjectsOf(*context.objects, manifest, &dropped);
    } else {
      reply->add_kept(absl::StrCat(environment.name(), ": ", why));
      AddObjectsOf(*context.objects, manifest, &needed);
    }
  }
  if (!request.dry_run() && !ids.empty()) RETURN_IF_ERROR(Drop(context, ids));
  // What is being made may be sent with objects of a dropped one, which were found to be there.
  if (making) dropped.clear();
  Sweep(*context.objects, needed, dropped, request.dry_run(), reply);
  return absl::OkStatus();
}

}  // namespace dynbench::control
