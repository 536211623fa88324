#include "worker/agent/journal.h"

#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {
namespace {

constexpr char kSchema[] = "dynbench.running/1";

nlohmann::json Encode(const std::set<AttemptId>& attempts) {
  nlohmann::json list = nlohmann::json::array();
  for (const AttemptId& attempt : attempts) {
    list.push_back({attempt.experiment.value, attempt.lease.value});
  }
  return list;
}

void Decode(const nlohmann::json& list, std::set<AttemptId>* attempts) {
  for (const auto& pair : list) {
    attempts->insert({ExperimentId(pair.at(0)), LeaseEpoch(pair.at(1))});
  }
}

}  // namespace

void Journal::Load() {
  const auto text = ReadWholeFile(path_);
  if (!text.ok()) return;
  try {
    const auto json = nlohmann::json::parse(*text);
    Decode(json.at("running"), &died_);
    Decode(json.at("died"), &died_);
  } catch (const nlohmann::json::exception& error) {
    spdlog::error("{} cannot be read: {}", path_, error.what());
  }
  Write();
}

void Journal::Reported() {
  if (died_.empty()) return;
  died_.clear();
  Write();
}

void Journal::SetRunning(const std::set<AttemptId>& running) {
  if (running == running_) return;
  running_ = running;
  Write();
}

void Journal::Write() {
  const nlohmann::json json = {
      {"schema", kSchema}, {"running", Encode(running_)}, {"died", Encode(died_)}};
  const absl::Status written = WriteFileDurably(path_, json.dump() + "\n");
  // Without it a death would not count against the experiment's crash budget; nothing is lost.
  if (!written.ok()) spdlog::error("{}", written.ToString());
}

}  // namespace dynbench::worker
