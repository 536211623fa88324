#include "worker/agent/environment_watch.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kLookEveryMs = 1'000;  // the brief of `env add`: noticed within 2 s

}  // namespace

EnvironmentWatch::EnvironmentWatch(EventLoop* loop, std::string environments_dir,
                                   std::function<void(const Environments&)> changed)
    : loop_(loop), environments_dir_(std::move(environments_dir)), changed_(std::move(changed)) {
  Look();
  Again();
}

EnvironmentWatch::~EnvironmentWatch() { loop_->Cancel(timer_); }

void EnvironmentWatch::Again() {
  timer_ = loop_->After(kLookEveryMs, [this] {
    if (Look()) changed_(usable_);
    Again();
  });
}

bool EnvironmentWatch::Look() {
  std::vector<std::string> problems;
  Environments found = LoadEnvironments(environments_dir_, &problems);
  std::erase_if(found, [&](const auto& entry) {
    const absl::Status status = CheckUnchanged(entry.second);
    if (!status.ok()) problems.push_back(std::string(status.message()));
    return !status.ok();
  });
  const std::string text = absl::StrJoin(problems, "; ");
  if (text != problems_ && !text.empty()) spdlog::warn("environments left out: {}", text);
  problems_ = text;
  bool same = found.size() == usable_.size();
  for (const auto& [name, environment] : found) {
    const auto it = usable_.find(name);
    same = same && it != usable_.end() && ToJson(it->second) == ToJson(environment);
  }
  if (!same) usable_ = std::move(found);
  return !same;
}

}  // namespace dynbench::worker
