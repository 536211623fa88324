#include "worker/agent/journal.h"

#include <optional>
#include <utility>

#include "common/base/mutex.h"
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

// What is to be written, shared with the thread that writes it.
struct Journal::File {
  explicit File(std::string p) : path(std::move(p)) {}

  const std::string path;
  Mutex mu;
  std::optional<std::string> newest GUARDED_BY(mu);

  void WriteNewest() {
    std::optional<std::string> text;
    {
      MutexLock lock(mu);
      text.swap(newest);
    }
    if (!text) return;  // an earlier turn wrote it
    const absl::Status written = WriteFileDurably(path, *text);
    // Without it a death would not count against the experiment's crash budget; nothing is lost.
    if (!written.ok()) spdlog::error("{}", written.ToString());
  }
};

Journal::Journal(std::string path, EventLoop* disk)
    : file_(std::make_shared<File>(std::move(path))), disk_(disk) {}

void Journal::Load() {
  const auto text = ReadWholeFile(file_->path);
  if (!text.ok()) return;
  try {
    const auto json = nlohmann::json::parse(*text);
    Decode(json.at("running"), &died_);
    Decode(json.at("died"), &died_);
  } catch (const nlohmann::json::exception& error) {
    spdlog::error("{} cannot be read: {}", file_->path, error.what());
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
  {
    MutexLock lock(file_->mu);
    file_->newest = json.dump() + "\n";
  }
  if (disk_ == nullptr) return file_->WriteNewest();
  disk_->Post([file = file_] { file->WriteNewest(); });
}

}  // namespace dynbench::worker
