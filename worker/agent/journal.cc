#include "worker/agent/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/mutex.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"
#include "worker/host/durable_file.h"
#include "worker/process/unique_fd.h"

namespace dynbench::worker {
namespace {

constexpr char kSchema[] = "dynbench.running/1";
constexpr size_t kPageBytes = 4096;
// A killed process leaves its last write. For what takes the whole host down the file is synced
// too, but not for each of many short experiments.
constexpr int64_t kSyncAfterMs = 100;

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
  // The rest belongs to the writing thread.
  UniqueFd fd;
  size_t size = 0;
  bool sync_planned = false;

  bool WriteNewest() {
    std::optional<std::string> text;
    {
      MutexLock lock(mu);
      text.swap(newest);
    }
    if (!text) return false;  // an earlier turn wrote it
    const absl::Status written = Write(*std::move(text));
    // Without it a death would not count against the experiment's crash budget; nothing is lost.
    if (!written.ok()) spdlog::error("{}", written.ToString());
    return written.ok();
  }

  // In place and in one call, so that whoever kills this process leaves the old text or the new
  // one; blanks cover the rest of a longer one. What has no room in a page is replaced as a whole.
  absl::Status Write(std::string text) {
    if (!fd || text.size() > kPageBytes) {
      fd.reset();
      RETURN_IF_ERROR(WriteFileDurably(path, text));
      fd.reset(open(path.c_str(), O_WRONLY | O_CLOEXEC));
      size = text.size();
      return fd ? absl::OkStatus() : FileError(path);
    }
    if (size > kPageBytes) {
      fd.reset();
      return Write(std::move(text));
    }
    text.resize(std::max(text.size(), size), '\n');
    size = text.size();
    const ssize_t n = pwrite(fd.get(), text.data(), text.size(), 0);
    return n == static_cast<ssize_t>(text.size()) ? absl::OkStatus() : FileError(path);
  }

  void Sync() {
    sync_planned = false;
    if (fd) fdatasync(fd.get());
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
  if (disk_ == nullptr) {
    if (file_->WriteNewest()) file_->Sync();
    return;
  }
  disk_->Post([file = file_, disk = disk_] {
    if (!file->WriteNewest() || std::exchange(file->sync_planned, true)) return;
    disk->After(kSyncAfterMs, [file] { file->Sync(); });
  });
}

}  // namespace dynbench::worker
