#include "coordinator/session/environment_keeper.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "common/plan/recipe.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

constexpr char kMaking[] = "making";
constexpr char kReady[] = "ready";
constexpr char kFailed[] = "failed";
constexpr char kRemoved[] = "removed";
constexpr char kUnfit[] = "unfit";
constexpr char kChanged[] = "changed";

const v1::Environment* FindNamed(const std::vector<v1::Environment>& environments,
                                 const std::string& name) {
  for (const v1::Environment& environment : environments) {
    if (environment.name() == name) return &environment;
  }
  return nullptr;
}

// What a derivation of it is named by.
std::string IdentityOf(const v1::Environment& environment) {
  return environment.id().empty() ? environment.hash() : environment.id();
}

}  // namespace

void EnvironmentKeeper::Load(const store::FleetEnvironments& rows) {
  for (const store::FleetEnvironmentRow& row : rows.environments) {
    Entry& entry = entries_[row.id];
    entry.row = row;
    entry.log = row.log;
    const auto origin = nlohmann::json::parse(row.origin_json, nullptr, false);
    if (row.kind == "derived" && origin.is_object()) entry.base = origin.value("base", "");
  }
  for (const store::EnvironmentPlaceRow& place : rows.places) {
    entries_[place.environment].places[place.worker] = {place.state, place.reason};
    // Away until it comes, and may be one that others wait for.
    Worker& worker = workers_[place.worker];
    worker.host = place.host;
    worker.capable = true;
  }
}

// ---- workers ----

void EnvironmentKeeper::Joined(const WorkerId& id, const v1::Hello& hello, bool died) {
  Worker& worker = workers_[id];
  worker.host = hello.host();
  worker.capable = hello.makes_environments();
  worker.sends_objects = hello.sends_objects();
  worker.connected = true;
  worker.environments = {hello.environments().begin(), hello.environments().end()};
  for (auto& [name, entry] : entries_) {
    if (died && entry.row.state == kMaking && entry.row.builder == id &&
        !HasReady(worker, entry.row)) {
      ++entry.row.deaths;
      entry.log.clear();
      entry.log_begin = 0;
      if (entry.row.deaths >= kDeaths) {
        Fail(entry, absl::StrCat("the worker ", id.value, " died ", entry.row.deaths,
                                 " times while it made it; build it again, on another --worker"));
      } else {
        Save(entry);
      }
    }
    // What failed before may succeed now; what does not fit may after a restart of the worker.
    // Where it has to be removed is known until it was.
    const auto place = entry.places.find(id);
    if (entry.row.state != kRemoved && place != entry.places.end() &&
        (died || place->second.state != kUnfit)) {
      entry.places.erase(place);
    }
  }
  // What it was asked for in another session it may have forgotten.
  for (auto& [name, entry] : entries_) ObjectsOfGone(entry, id);
  TellAll(id);
  for (auto& [name, entry] : entries_) {
    if (worker.sends_objects && HasReady(worker, entry.row)) TellOld(entry);
  }
}

void EnvironmentKeeper::Left(const WorkerId& id) {
  const auto worker = workers_.find(id);
  if (worker == workers_.end()) return;
  worker->second.connected = false;
  for (auto& [name, entry] : entries_) ObjectsOfGone(entry, id);
}

void EnvironmentKeeper::Has(
    const WorkerId& id, const google::protobuf::RepeatedPtrField<v1::Environment>& environments) {
  Worker& worker = workers_[id];
  worker.environments = {environments.begin(), environments.end()};
  for (auto& [name, entry] : entries_) {
    NoteChange(entry, id, worker);
    AskHolder(entry);
  }
}

// What somebody did on the host itself.
void EnvironmentKeeper::NoteChange(Entry& entry, const WorkerId& id, const Worker& worker) {
  const auto place = entry.places.find(id);
  if (entry.row.state != kReady || place == entry.places.end()) return;
  const bool has = HasReady(worker, entry.row);
  if (place->second.state == kReady && !has) {
    SetPlace(entry, id, kChanged,
             absl::StrCat("changed or removed on ", HostOf(id),
                          "; dynbenchctl env build (derive) sends it again"));
  } else if (place->second.state == kChanged && has) {
    SetPlace(entry, id, kReady, "");
  }
}

// Of one that is not made yet any content, else this build: another one has the same id.
bool EnvironmentKeeper::HasReady(const Worker& worker,
                                 const store::FleetEnvironmentRow& row) const {
  return std::any_of(worker.environments.begin(), worker.environments.end(),
                     [&](const v1::Environment& e) {
                       return e.id() == row.id && (row.hash.empty() || e.hash() == row.hash);
                     });
}

void EnvironmentKeeper::TellAll(const WorkerId& id) {
  for (auto& [name, entry] : entries_) {
    if (entry.row.state != kRemoved || MayHave(entry, id)) Tell(entry, id);
  }
}

void EnvironmentKeeper::Tell(Entry& entry, const WorkerId& id) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || !found->second.connected || !found->second.capable) return;
  const store::FleetEnvironmentRow& row = entry.row;
  v1::EnvironmentOrder order;
  order.set_id(row.id);
  order.set_name(row.name);
  if (row.state == kMaking && row.builder == id) {
    order.set_on_demand(true);
    if (row.kind == "built") {
      order.set_action("build");
      order.set_recipe_json(row.origin_json);
    } else {
      const auto origin = nlohmann::json::parse(row.origin_json, nullptr, false);
      order.set_action("derive");
      order.set_base(entry.base);
      order.set_patch_sha256(origin.value("patch_sha256", ""));
    }
  } else if (row.state == kReady) {
    const auto place = entry.places.find(id);
    if (place != entry.places.end() && place->second.state == kUnfit) return;
    // One that cannot say what it lacks is told when there is nothing to lack.
    if (!found->second.sends_objects && !HasReady(found->second, row) && !entry.wanted.complete() &&
        FindHolder(entry)) {
      if (place != entry.places.end()) entry.places.erase(place);
      entry.wanted.WantAll();
      return AskHolder(entry);
    }
    order.set_action("install");
    order.set_manifest_sha256(row.manifest);
    order.set_origin_json(row.origin_json);
    order.set_libraries(row.libraries);
  } else if (row.state == kRemoved) {
    order.set_action("remove");
  } else {
    return;
  }
  services_.send(id, order);
}

void EnvironmentKeeper::Push(Entry& entry) {
  for (const auto& [id, worker] : workers_) {
    const auto place = entry.places.find(id);
    const bool ready = place != entry.places.end() && place->second.state == kReady;
    if (ready && HasReady(worker, entry.row)) continue;
    Tell(entry, id);
  }
}

// One that somebody changed is not in a worker's list, nor is what is left of one whose making or
// removal was cut off: whoever may have any of it is told until it has said that nothing is left.
void EnvironmentKeeper::Remove(Entry& entry, const std::string& reason) {
  entry.row.state = kRemoved;
  entry.row.reason = reason;
  entry.wanted = WantedObjects();
  Save(entry);
  for (const auto& [id, unused] : workers_) {
    entry.places.try_emplace(id);
    Tell(entry, id);
  }
}

void EnvironmentKeeper::OnRemoved(Entry& entry, const WorkerId& worker) {
  if (entry.places.erase(worker) == 0) return;
  services_.commit([id = entry.row.id, worker](store::Database& db) {
    return store::DeleteEnvironmentPlace(db, id, worker);
  });
}

bool EnvironmentKeeper::MayHave(const Entry& entry, const WorkerId& id) const {
  if (entry.places.count(id) > 0) return true;
  const auto worker = workers_.find(id);
  if (worker == workers_.end()) return false;
  const std::vector<v1::Environment>& all = worker->second.environments;
  return std::any_of(all.begin(), all.end(),
                     [&](const v1::Environment& e) { return e.id() == entry.row.id; });
}

void EnvironmentKeeper::Report(const WorkerId& worker, const v1::EnvironmentReport& report) {
  const auto found = entries_.find(report.id());
  if (found == entries_.end()) return;  // of another database
  Entry& entry = found->second;
  if (report.state() == "sent" || report.state() == "unable") {
    return OnSendEnded(entry, worker, report);
  }
  if (entry.row.state == kMaking && entry.row.builder == worker) {
    return OnBuilder(entry, worker, report);
  }
  if (entry.row.state == kRemoved && report.state() == kRemoved) return OnRemoved(entry, worker);
  if (entry.row.state != kReady) return;
  if (report.state() == "lacking") return OnLacking(entry, worker, report);
  if (report.state() == "sending") {
    entry.sending = report.reason();
    return;
  }
  if (report.state() == kReady) AddReady(worker, entry.row);
  SetPlace(entry, worker, report.state(), report.reason());
}

void EnvironmentKeeper::AddReady(const WorkerId& id, const store::FleetEnvironmentRow& row) {
  Worker& worker = workers_[id];
  if (HasReady(worker, row)) return;
  v1::Environment& environment = worker.environments.emplace_back();
  environment.set_name(row.name);
  environment.set_id(row.id);
  environment.set_hash(row.hash);
}

void EnvironmentKeeper::OnBuilder(Entry& entry, const WorkerId& worker,
                                  const v1::EnvironmentReport& report) {
  AppendLog(entry, report);
  store::FleetEnvironmentRow& row = entry.row;
  if (report.state() == kFailed || report.state() == kUnfit) return Fail(entry, report.reason());
  entry.progress = report.reason().empty() ? report.state()
                                           : absl::StrCat(report.state(), ": ", report.reason());
  if (report.state() != kReady) return;
  if (!IsSha256Hex(report.manifest_sha256())) return;
  // Before the new one: one name is ready once.
  for (auto& [id, other] : entries_) {
    if (id == row.id || other.row.name != row.name || other.row.state != kReady) continue;
    Remove(other, absl::StrCat("replaced by ", row.id.substr(0, 12)));
  }
  row.state = kReady;
  row.reason.clear();
  row.manifest = report.manifest_sha256();
  row.hash = report.hash();
  row.libraries = report.libraries();
  row.torch_version = report.torch_version();
  if (!report.origin_json().empty()) row.origin_json = report.origin_json();
  row.files = report.files();
  row.size_bytes = report.size_bytes();
  row.finished_at = services_.now();
  entry.progress.clear();
  entry.wanted = WantedObjects();
  // One that knows nothing of demand has sent all of it.
  if (!workers_[worker].sends_objects) entry.wanted.SetComplete();
  Save(entry);
  spdlog::info("environment {} ({}) was made by worker {}: {} files, {} MiB", row.name,
               row.id.substr(0, 12), worker.value, row.files, row.size_bytes >> 20);
  AddReady(worker, row);
  SetPlace(entry, worker, kReady, "");
  Push(entry);
}

// A worker tells its whole log again in a new session; what is known of it is skipped.
void EnvironmentKeeper::AppendLog(Entry& entry, const v1::EnvironmentReport& report) {
  const int64_t end = entry.log_begin + static_cast<int64_t>(entry.log.size());
  const auto size = static_cast<int64_t>(report.log().size());
  const int64_t skip = std::clamp<int64_t>(end - report.log_offset(), 0, size);
  entry.log.append(report.log(), static_cast<size_t>(skip), std::string::npos);
  if (entry.log.size() > kLogBytes) {
    const size_t cut = entry.log.size() - kLogBytes;
    entry.log.erase(0, cut);
    entry.log_begin += static_cast<int64_t>(cut);
  }
}

void EnvironmentKeeper::SetPlace(Entry& entry, const WorkerId& worker, const std::string& state,
                                 const std::string& reason) {
  Place& place = entry.places[worker];
  const bool same = place.state == state && place.reason == reason;
  place = {state, reason};
  const bool kept = state == kReady || state == kFailed || state == kUnfit;
  if (same || (!kept && state != kChanged)) return;
  if (state != kReady) {
    spdlog::warn("environment {} on worker {} is {}: {}", entry.row.name, worker.value, state,
                 reason);
  }
  if (!kept) return;  // seen again at the worker's next Hello
  services_.commit(
      [row = store::EnvironmentPlaceRow{entry.row.id, worker, state, reason, services_.now()}](
          store::Database& db) { return store::PutEnvironmentPlace(db, row); });
}

void EnvironmentKeeper::Fail(Entry& entry, const std::string& reason) {
  spdlog::warn("environment {} ({}) failed: {}", entry.row.name, entry.row.id.substr(0, 12),
               reason.substr(0, 200));
  entry.row.state = kFailed;
  entry.row.reason = reason;
  entry.row.finished_at = services_.now();
  entry.progress.clear();
  Save(entry);
}

void EnvironmentKeeper::Save(const Entry& entry) {
  store::FleetEnvironmentRow row = entry.row;
  row.log = entry.log.size() <= kKeptLogBytes ? entry.log
                                              : entry.log.substr(entry.log.size() - kKeptLogBytes);
  services_.commit(
      [row = std::move(row)](store::Database& db) { return store::PutFleetEnvironment(db, row); });
}

// ---- people ----

absl::StatusOr<v1::FleetEnvironment> EnvironmentKeeper::Build(const std::string& recipe_json,
                                                              const WorkerId& worker) {
  ASSIGN_OR_RETURN(const plan::Recipe recipe, plan::RecipeFromJson(recipe_json));
  store::FleetEnvironmentRow row;
  row.id = plan::RecipeId(recipe);
  row.name = recipe.name;
  row.kind = "built";
  row.origin_json = plan::RecipeToJson(recipe);
  for (const auto& [id, other] : workers_) {
    const v1::Environment* named = FindNamed(other.environments, recipe.name);
    if (other.connected && named != nullptr && named->id().empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the name ", recipe.name, " is of an environment that was registered by hand on ",
          other.host, "; choose another name in the recipe"));
    }
  }
  return Want(
      std::move(row), worker, [](const Worker&) { return true; }, "");
}

absl::StatusOr<v1::FleetEnvironment> EnvironmentKeeper::Derive(
    const v1::DeriveEnvironmentRequest& request, const WorkerId& worker) {
  if (!IsSha256Hex(request.patch_sha256())) return absl::InvalidArgumentError("no patch");
  // Which build the name stands for, on the workers in question.
  std::string base;
  for (const auto& [id, other] : workers_) {
    if (!other.connected || (worker && id != worker)) continue;
    const v1::Environment* named = FindNamed(other.environments, request.base());
    if (named == nullptr) continue;
    if (!base.empty() && base != IdentityOf(*named)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the name ", request.base(),
                       " stands for different builds on different workers; say on which with "
                       "--worker (dynbenchctl env show ",
                       request.base(), ")"));
    }
    base = IdentityOf(*named);
  }
  if (base.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(worker ? absl::StrCat("the worker ", worker.value, " has no")
                            : std::string("no connected worker has an"),
                     " environment ", request.base(), "; dynbenchctl env list shows them"));
  }
  store::FleetEnvironmentRow row;
  row.name = request.name().empty()
                 ? absl::StrCat(request.base(), "-", request.patch_sha256().substr(0, 8))
                 : request.name();
  if (row.name == request.base()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the derived environment would replace its base ", row.name, "; give another --name"));
  }
  RETURN_IF_ERROR(Annotate(plan::CheckEnvironmentName(row.name),
                           "the derived environment; give another --name"));
  row.id = plan::DerivedId(row.name, base, request.patch_sha256());
  row.kind = "derived";
  row.origin_json = nlohmann::json{{"schema", "dynbench.derivation/1"},
                                   {"base", request.base()},
                                   {"patch_sha256", request.patch_sha256()}}
                        .dump();
  return Want(
      std::move(row), worker,
      [name = request.base()](const Worker& w) {
        return FindNamed(w.environments, name) != nullptr;
      },
      absl::StrCat(" and has the environment ", request.base()));
}

absl::StatusOr<v1::FleetEnvironment> EnvironmentKeeper::Want(
    store::FleetEnvironmentRow row, const WorkerId& wanted,
    const std::function<bool(const Worker&)>& fits, const std::string& lacking) {
  const auto known = entries_.find(row.id);
  if (known != entries_.end()) {
    Entry& entry = known->second;
    // Unless nobody can send it to those who lack it: then it is made again.
    if (entry.row.state == kReady && (FindHolder(entry) || !AnyLacking(entry))) {
      entry.wanted.ForgiveAll();
      std::erase_if(entry.places, [](const auto& place) {
        return place.second.state == kUnfit || place.second.state == kFailed ||
               place.second.state == kChanged;
      });
      Push(entry);
      return Describe(entry);
    }
    // One that is being made goes on, unless its worker is away.
    const auto builder = workers_.find(entry.row.builder);
    const bool there = builder != workers_.end() && builder->second.connected;
    if (entry.row.state == kMaking && there && (!wanted || wanted == entry.row.builder)) {
      return Describe(entry);
    }
  }
  WorkerId chosen;
  for (const auto& [id, worker] : workers_) {
    if (!worker.connected || !worker.capable || !fits(worker) || (wanted && id != wanted)) continue;
    chosen = id;
    break;
  }
  if (!chosen) {
    return absl::FailedPreconditionError(
        absl::StrCat(wanted ? absl::StrCat("the worker ", wanted.value, " is none that")
                            : std::string("no worker is connected that"),
                     " makes environments", lacking,
                     "; dynbenchctl workers lists them (an older worker "
                     "makes none: upgrade it)"));
  }
  row.state = kMaking;
  row.builder = chosen;
  row.created_at = services_.now();
  Entry& entry = entries_[row.id];
  const auto origin = nlohmann::json::parse(row.origin_json, nullptr, false);
  entry = Entry();
  if (row.kind == "derived") entry.base = origin.value("base", "");
  entry.row = std::move(row);
  services_.commit(
      [id = entry.row.id](store::Database& db) { return store::DeleteEnvironmentPlaces(db, id); });
  Save(entry);
  Tell(entry, chosen);
  return Describe(entry);
}

v1::FleetEnvironment EnvironmentKeeper::Describe(const Entry& entry) const {
  const store::FleetEnvironmentRow& row = entry.row;
  v1::FleetEnvironment out;
  out.set_id(row.id);
  out.set_name(row.name);
  out.set_kind(row.kind);
  out.set_state(row.state);
  out.set_reason(row.state == kMaking ? entry.progress : row.reason);
  out.set_builder(row.builder.value);
  out.set_origin_json(row.origin_json);
  out.set_hash(row.hash);
  out.set_torch_version(row.torch_version);
  out.set_files(row.files);
  out.set_size_bytes(row.size_bytes);
  out.set_created_unix_ms(row.created_at.ms);
  out.set_finished_unix_ms(row.finished_at.ms);
  const auto builder = workers_.find(row.builder);
  if (row.state == kMaking && (builder == workers_.end() || !builder->second.connected)) {
    out.set_reason(absl::StrCat("waits for worker ", row.builder.value,
                                ", which is away; ask again to have another one make it"));
  }
  if (row.state != kReady) return out;
  for (const auto& [id, worker] : workers_) {
    v1::EnvironmentPlace& place = *out.add_places();
    place.set_worker(id.value);
    place.set_host(worker.host);
    const auto found = entry.places.find(id);
    if (IsLacking(entry, id)) {
      const Place lacking = DescribeLacking(entry);
      place.set_state(lacking.state);
      place.set_reason(lacking.reason);
    } else if (!worker.capable) {
      place.set_state("old");
      place.set_reason("its worker is of an older version; upgrade it");
    } else if (found != entry.places.end()) {
      place.set_state(found->second.state);
      place.set_reason(found->second.reason);
    } else {
      place.set_state(worker.connected ? "waiting" : "away");
    }
  }
  return out;
}

std::vector<v1::FleetEnvironment> EnvironmentKeeper::List(bool with_removed) const {
  std::vector<v1::FleetEnvironment> all;
  for (const auto& [id, entry] : entries_) {
    if (entry.row.state != kRemoved || with_removed) all.push_back(Describe(entry));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.name(), a.created_unix_ms()) < std::pair(b.name(), b.created_unix_ms());
  });
  return all;
}

absl::StatusOr<v1::GetEnvironmentLogReply> EnvironmentKeeper::Log(const std::string& id,
                                                                  int64_t offset) const {
  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    return absl::NotFoundError(
        absl::StrCat("no environment ", id.substr(0, 64), "; dynbenchctl env list shows them"));
  }
  const Entry& entry = found->second;
  v1::GetEnvironmentLogReply reply;
  *reply.mutable_environment() = Describe(entry);
  const int64_t end = entry.log_begin + static_cast<int64_t>(entry.log.size());
  // One that began anew is read from its beginning.
  int64_t from = offset > end ? entry.log_begin : std::max(offset, entry.log_begin);
  from = std::max<int64_t>(from, 0);
  reply.set_data(entry.log.substr(static_cast<size_t>(from - entry.log_begin)));
  reply.set_next_offset(end);
  return reply;
}

void EnvironmentKeeper::Drop(const std::vector<std::string>& ids, const std::string& reason) {
  for (const std::string& id : ids) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) continue;
    Remove(found->second, reason);
  }
}

}  // namespace dynbench::session
