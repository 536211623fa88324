#include "coordinator/session/known_workers.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace dynbench::session {
namespace {

using Json = nlohmann::json;

constexpr int64_t kKnownForMs = int64_t{7} * 24 * 3600 * 1000;

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::set<std::string> WordsAt(const Json& object, const char* key) {
  std::set<std::string> words;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return words;
  for (const Json& word : *found) {
    if (word.is_string()) words.insert(word.get<std::string>());
  }
  return words;
}

plan::Labels TextsOf(const Json& object) {
  plan::Labels texts;
  if (!object.is_object()) return texts;
  for (const auto& [key, value] : object.items()) {
    if (value.is_string()) texts[key] = value.get<std::string>();
  }
  return texts;
}

// What the environments of a worker are for a slot with this device.
void AddEnvironments(const Json& environments, scheduler::SlotOffer* offer) {
  if (!environments.is_array()) return;
  for (const Json& e : environments) {
    if (!e.is_object()) continue;
    const std::set<std::string> devices = WordsAt(e, "devices");
    if (!devices.empty() && devices.count(offer->device) == 0) continue;
    const std::string name = TextAt(e, "name");
    offer->environments.insert(name);
    plan::EnvironmentOffer& facts = offer->facts[name];
    facts.capabilities = WordsAt(e, "capabilities");
    facts.suites = WordsAt(e, "suites");
    facts.versions = TextsOf(e.value("packages", Json::object()));
    facts.versions["torch"] = TextAt(e, "torch_version");
    facts.versions["python"] = TextAt(e, "python_version");
  }
}

}  // namespace

std::vector<scheduler::WorkerKnown> KnownWorkers(const std::vector<store::WorkerInfo>& workers,
                                                 const std::vector<store::KnownSlot>& slots,
                                                 UnixTimeMs now, const store::HoldRows& holds) {
  std::set<WorkerId> held;
  for (const store::DrainRow& drain : holds.drains) held.insert(drain.worker);
  for (const store::QuarantineRow& quarantine : holds.quarantines) {
    held.insert(quarantine.slot.worker);
  }
  std::map<WorkerId, std::vector<const store::KnownSlot*>> by_worker;
  for (const store::KnownSlot& slot : slots) by_worker[slot.slot.worker].push_back(&slot);
  std::vector<scheduler::WorkerKnown> known;
  for (const store::WorkerInfo& worker : workers) {
    if (now.ms - worker.last_seen.ms > kKnownForMs && held.count(worker.id) == 0) continue;
    const Json environments = Json::parse(worker.environments_json, nullptr, false);
    plan::Labels labels = TextsOf(Json::parse(worker.labels_json, nullptr, false));
    labels["host"] = worker.host;
    labels["worker"] = worker.id.value;
    scheduler::WorkerKnown event{worker.id, {}};
    for (const store::KnownSlot* slot : by_worker[worker.id]) {
      scheduler::SlotOffer offer;
      offer.index = slot->slot.index;
      offer.device = slot->device;
      offer.labels = labels;
      AddEnvironments(environments, &offer);
      event.slots.push_back(std::move(offer));
    }
    if (!event.slots.empty()) known.push_back(std::move(event));
  }
  return known;
}

}  // namespace dynbench::session
