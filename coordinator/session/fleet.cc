#include "coordinator/session/fleet.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace dynbench::session {
namespace {

using Json = nlohmann::json;

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> WordsAt(const Json& object, const char* key) {
  std::vector<std::string> words;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return words;
  for (const Json& word : *found) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

std::string ArchOf(const v1::Hello& hello) {
  const Json inventory = Json::parse(hello.inventory_json(), nullptr, /*allow_exceptions=*/false);
  return inventory.is_object() ? TextAt(inventory, "arch") : "";
}

bool HasDevice(const v1::Hello& hello, const std::string& device) {
  return std::any_of(hello.slots().begin(), hello.slots().end(),
                     [&](const v1::Slot& slot) { return slot.device() == device; });
}

Json EnvironmentToJson(const v1::Environment& e) {
  return {
      {"name", e.name()},
      {"python", e.python()},
      {"python_version", e.python_version()},
      {"torch_version", e.torch_version()},
      {"torch_git", e.torch_git()},
      {"hash", e.hash()},
      {"id", e.id()},
      {"packages", std::map<std::string, std::string>(e.packages().begin(), e.packages().end())},
      {"devices", std::vector<std::string>(e.devices().begin(), e.devices().end())},
      {"suites", std::vector<std::string>(e.suites().begin(), e.suites().end())},
      {"capabilities", std::vector<std::string>(e.capabilities().begin(), e.capabilities().end())}};
}

}  // namespace

ConnectedWorker& Fleet::Join(const WorkerId& id, std::shared_ptr<WorkerLink> link, v1::Hello hello,
                             MonotonicTime now, UnixTimeMs unix_now) {
  left_.erase(id);
  process_starts_[id] = hello.process_start_unix_ms();
  hello.clear_held();
  hello.clear_died();
  ConnectedWorker& worker = workers_[id];
  worker = ConnectedWorker();
  worker.id = id;
  worker.link = std::move(link);
  worker.hello = std::move(hello);
  worker.last_heard = now;
  worker.last_seen = unix_now;
  return worker;
}

ConnectedWorker* Fleet::Find(const WorkerId& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

void Fleet::Leave(const WorkerId& id) {
  const auto it = workers_.find(id);
  if (it == workers_.end()) return;
  left_[id] = it->second.last_heard;
  workers_.erase(it);
}

std::optional<MonotonicTime> Fleet::LastHeard(const WorkerId& id) const {
  const auto it = left_.find(id);
  if (it == left_.end()) return std::nullopt;
  return it->second;
}

int64_t Fleet::LastProcessStart(const WorkerId& id) const {
  const auto found = process_starts_.find(id);
  return found == process_starts_.end() ? 0 : found->second;
}

plan::FleetFacts Fleet::Facts() const {
  plan::FleetFacts facts;
  for (const auto& [id, worker] : workers_) {
    for (const v1::Slot& slot : worker.hello.slots()) {
      if (facts.default_device == "cpu" && !slot.device().empty()) {
        facts.default_device = slot.device();
      }
    }
  }
  for (const auto& [id, worker] : workers_) {
    const std::string arch = ArchOf(worker.hello);
    if (arch.empty() || !HasDevice(worker.hello, facts.default_device)) continue;
    facts.arch = arch;
    break;
  }
  return facts;
}

std::vector<scheduler::SlotOffer> Offers(const v1::Hello& hello) {
  std::vector<scheduler::SlotOffer> offers;
  for (const v1::Slot& slot : hello.slots()) {
    scheduler::SlotOffer offer{slot.index(), slot.device(), {}, slot.accepting(), slot.reason()};
    offer.lanes = std::max(1, slot.lanes());
    offer.labels = {hello.labels().begin(), hello.labels().end()};
    offer.labels["host"] = hello.host();
    offer.labels["worker"] = hello.worker_id();
    if (!hello.pool().empty()) offer.labels["pool"] = hello.pool();
    if (!slot.device_name().empty()) offer.labels["device_name"] = slot.device_name();
    for (const v1::Environment& environment : hello.environments()) {
      const auto& devices = environment.devices();
      if (devices.empty() ||
          std::find(devices.begin(), devices.end(), slot.device()) != devices.end()) {
        offer.environments.insert(environment.name());
        plan::EnvironmentOffer& facts = offer.facts[environment.name()];
        facts.capabilities = {environment.capabilities().begin(), environment.capabilities().end()};
        facts.suites = {environment.suites().begin(), environment.suites().end()};
        facts.versions = {environment.packages().begin(), environment.packages().end()};
        facts.versions["torch"] = environment.torch_version();
        facts.versions["python"] = environment.python_version();
      }
    }
    offers.push_back(std::move(offer));
  }
  return offers;
}

std::vector<scheduler::HeldLease> HeldLeases(const v1::Hello& hello) {
  std::vector<scheduler::HeldLease> held;
  for (const v1::HeldLease& lease : hello.held()) {
    scheduler::HeldLease& to = held.emplace_back();
    to.epoch = LeaseEpoch(lease.epoch());
    to.slot = lease.slot();
    for (const int64_t id : lease.experiments()) to.experiments.push_back(ExperimentId(id));
  }
  return held;
}

store::WorkerRow ToRow(const ConnectedWorker& worker) {
  const v1::Hello& hello = worker.hello;
  store::WorkerRow row;
  row.id = WorkerId(hello.worker_id());
  row.host = hello.host();
  row.version = hello.version();
  row.inventory_json = hello.inventory_json();
  Json environments = Json::array();
  for (const v1::Environment& e : hello.environments())
    environments.push_back(EnvironmentToJson(e));
  row.environments_json = environments.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const v1::Slot& slot : hello.slots()) {
    const size_t index = static_cast<size_t>(std::clamp(slot.index(), 0, 4095));
    if (row.slot_devices.size() <= index) row.slot_devices.resize(index + 1);
    row.slot_devices[index] = slot.device();
  }
  row.labels_json =
      Json(std::map<std::string, std::string>(hello.labels().begin(), hello.labels().end()))
          .dump(-1, ' ', false, Json::error_handler_t::replace);
  row.clock_skew_ms = worker.clock_skew_ms;
  return row;
}

v1::Worker ToProto(const ConnectedWorker& worker) {
  v1::Worker out;
  out.set_id(worker.id.value);
  out.set_host(worker.hello.host());
  out.set_version(worker.hello.version());
  out.set_connected(true);
  out.set_last_seen_unix_ms(worker.last_seen.ms);
  out.set_spooled_results(worker.hello.spooled_results());
  out.set_clock_skew_ms(worker.clock_skew_ms);
  out.set_degraded(worker.degraded);
  out.set_state("connected");
  *out.mutable_labels() = worker.hello.labels();
  for (const v1::Slot& slot : worker.hello.slots()) {
    v1::WorkerSlot& to = *out.add_slots();
    to.set_index(slot.index());
    to.set_device(slot.device());
    to.set_device_name(slot.device_name());
    to.set_cores(slot.cores());
    to.set_accepting(slot.accepting());
    to.set_reason(slot.reason());
  }
  for (const v1::Environment& e : worker.hello.environments()) {
    v1::WorkerEnvironment& to = *out.add_environments();
    to.set_name(e.name());
    to.set_torch_version(e.torch_version());
    to.set_hash(e.hash());
    to.set_python(e.python());
    *to.mutable_suites() = e.suites();
    *to.mutable_capabilities() = e.capabilities();
    to.set_id(e.id());
  }
  return out;
}

v1::Worker ToProto(const store::WorkerInfo& worker) {
  v1::Worker out;
  out.set_id(worker.id.value);
  out.set_host(worker.host);
  out.set_version(worker.version);
  out.set_last_seen_unix_ms(worker.last_seen.ms);
  out.set_state("away");
  out.set_clock_skew_ms(worker.clock_skew_ms);
  const Json labels = Json::parse(worker.labels_json, nullptr, false);
  if (labels.is_object()) {
    for (const auto& [name, value] : labels.items()) {
      if (value.is_string()) (*out.mutable_labels())[name] = value.get<std::string>();
    }
  }
  const Json environments = Json::parse(worker.environments_json, nullptr, false);
  if (!environments.is_array()) return out;
  for (const Json& e : environments) {
    if (!e.is_object()) continue;
    v1::WorkerEnvironment& to = *out.add_environments();
    to.set_name(TextAt(e, "name"));
    to.set_torch_version(TextAt(e, "torch_version"));
    to.set_hash(TextAt(e, "hash"));
    to.set_python(TextAt(e, "python"));
    for (const std::string& suite : WordsAt(e, "suites")) to.add_suites(suite);
    for (const std::string& word : WordsAt(e, "capabilities")) to.add_capabilities(word);
    to.set_id(TextAt(e, "id"));
  }
  return out;
}

}  // namespace dynbench::session
