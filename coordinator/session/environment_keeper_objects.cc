// Objects on demand: a worker that installs says what it and the coordinator lack; a holder, a
// worker that has the environment, is asked to send it. See environment_keeper.h.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/sha256.h"
#include "coordinator/session/environment_keeper.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

constexpr char kReady[] = "ready";
constexpr char kLacking[] = "lacking";

}  // namespace

// The one that made it first: it has all of it for certain. Empty: none can be asked now.
WorkerId EnvironmentKeeper::FindHolder(const Entry& entry) const {
  WorkerId holder;
  for (const auto& [id, worker] : workers_) {
    if (!worker.connected || !worker.sends_objects || !HasReady(worker, entry.row)) continue;
    if (entry.wanted.unable().count(id) > 0) continue;
    if (!holder || id == entry.row.builder) holder = id;
  }
  return holder;
}

bool EnvironmentKeeper::IsLacking(const Entry& entry, const WorkerId& id) const {
  const auto worker = workers_.find(id);
  if (worker == workers_.end() || !worker->second.connected || !worker->second.capable) {
    return false;
  }
  const auto place = entry.places.find(id);
  if (place != entry.places.end() && place->second.state == kLacking) return true;
  // One that cannot say so waits for all of it.
  return !worker->second.sends_objects && place == entry.places.end() && !entry.wanted.empty() &&
         !HasReady(worker->second, entry.row);
}

bool EnvironmentKeeper::AnyLacking(const Entry& entry) const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [&](const auto& worker) { return IsLacking(entry, worker.first); });
}

void EnvironmentKeeper::OnLacking(Entry& entry, const WorkerId& worker,
                                  const v1::EnvironmentReport& report) {
  entry.places[worker] = {kLacking, report.reason()};
  for (const std::string& digest : report.missing()) {
    if (IsSha256Hex(digest)) entry.wanted.Want(digest);
  }
  AskHolder(entry);
  // All of it came before this was heard.
  if (entry.wanted.empty()) TellLacking(entry);
}

void EnvironmentKeeper::AskHolder(Entry& entry) {
  if (entry.row.state != kReady || entry.wanted.empty()) return;
  const WorkerId holder = FindHolder(entry);
  if (!holder) return;
  last_ask_ = std::max(last_ask_, services_.now().ms);
  for (WantedObjects::Ask& ask : entry.wanted.AskFor(holder, &last_ask_)) {
    v1::EnvironmentOrder order;
    order.set_id(entry.row.id);
    order.set_name(entry.row.name);
    order.set_action("send");
    order.set_ask(ask.number);
    for (std::string& digest : ask.sha256) order.add_sha256(std::move(digest));
    services_.send(holder, order);
  }
}

void EnvironmentKeeper::OnSendEnded(Entry& entry, const WorkerId& worker,
                                    const v1::EnvironmentReport& report) {
  const bool sent = report.state() == "sent";
  const bool known = sent ? entry.wanted.Sent(worker, report.ask())
                          : entry.wanted.Unable(worker, report.ask(), report.reason());
  if (!known) return;  // nobody needs it any more
  if (!sent) {
    spdlog::warn("worker {} cannot send the environment {}: {}", worker.value, entry.row.name,
                 report.reason().substr(0, 200));
  }
  AskHolder(entry);
  if (entry.wanted.empty()) TellLacking(entry);
}

void EnvironmentKeeper::TellLacking(Entry& entry) {
  entry.sending.clear();
  for (const auto& [id, worker] : workers_) {
    const auto place = entry.places.find(id);
    const bool lacks = place != entry.places.end() && place->second.state == kLacking;
    if (lacks) entry.places.erase(place);
    if (lacks || (!worker.sends_objects && !HasReady(worker, entry.row))) Tell(entry, id);
  }
}

// Workers of an older version that asked the coordinator for what it had not: a holder has come.
void EnvironmentKeeper::TellOld(Entry& entry) {
  for (const auto& [id, worker] : workers_) {
    const auto place = entry.places.find(id);
    if (worker.connected && !worker.sends_objects && place != entry.places.end() &&
        place->second.state == "failed") {
      Tell(entry, id);
    }
  }
}

// Of `gone` nothing comes now. What nobody needs any more is not asked of another one.
void EnvironmentKeeper::ObjectsOfGone(Entry& entry, const WorkerId& gone) {
  entry.wanted.Gone(gone);
  entry.wanted.Forgive(gone);
  const auto place = entry.places.find(gone);
  if (place != entry.places.end() && place->second.state == kLacking) entry.places.erase(place);
  if (!AnyLacking(entry)) entry.wanted.ClearUnasked();
  AskHolder(entry);
}

std::string EnvironmentKeeper::HostOf(const WorkerId& id) const {
  const auto worker = workers_.find(id);
  return worker == workers_.end() || worker->second.host.empty() ? id.value : worker->second.host;
}

EnvironmentKeeper::Place EnvironmentKeeper::DescribeLacking(const Entry& entry) const {
  if (const WorkerId asked = entry.wanted.asked()) {
    return {"waiting", absl::StrCat("for files that ", HostOf(asked), " sends",
                                    entry.sending.empty() ? "" : ": ", entry.sending)};
  }
  static constexpr char kNext[] =
      "; ask again (dynbenchctl env build, derive) to have another worker make it";
  if (!entry.wanted.unable().empty()) {
    const auto& [unable, why] = *entry.wanted.unable().begin();
    return {kLacking, absl::StrCat(HostOf(unable), " cannot send it: ", why, kNext)};
  }
  for (const auto& [id, place] : entry.places) {
    const auto worker = workers_.find(id);
    const bool there = worker != workers_.end() && worker->second.connected;
    if (place.state == kReady && !there) {
      return {kLacking,
              absl::StrCat("waits for ", HostOf(id), ", which has it and is away", kNext)};
    }
  }
  return {kLacking, absl::StrCat("no worker has its files any more", kNext)};
}

}  // namespace dynbench::session
