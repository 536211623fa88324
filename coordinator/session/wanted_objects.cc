#include "coordinator/session/wanted_objects.h"

#include <algorithm>
#include <utility>

namespace dynbench::session {

bool WantedObjects::IsAsked(const std::string& sha256) const {
  return std::any_of(asks_.begin(), asks_.end(), [&](const auto& ask) {
    return ask.second.sha256.empty() || ask.second.sha256.count(sha256) > 0;
  });
}

void WantedObjects::Want(const std::string& sha256) {
  if (!IsAsked(sha256)) unasked_.insert(sha256);
}

void WantedObjects::WantAll() {
  const bool asked = std::any_of(asks_.begin(), asks_.end(),
                                 [](const auto& ask) { return ask.second.sha256.empty(); });
  if (!asked) all_unasked_ = true;
}

void WantedObjects::ClearUnasked() {
  unasked_.clear();
  all_unasked_ = false;
}

std::vector<WantedObjects::Ask> WantedObjects::AskFor(const WorkerId& holder,
                                                      int64_t* last_number) {
  std::vector<Ask> asks;
  const auto add = [&](std::vector<std::string> digests) {
    const int64_t number = ++*last_number;
    asks_[number] = {holder, {digests.begin(), digests.end()}};
    asks.push_back({number, std::move(digests)});
  };
  if (std::exchange(all_unasked_, false)) {
    unasked_.clear();  // are among them
    add({});
    return asks;
  }
  std::vector<std::string> digests;
  for (const std::string& digest : unasked_) {
    digests.push_back(digest);
    if (digests.size() == kOfAsk) add(std::exchange(digests, {}));
  }
  if (!digests.empty()) add(std::move(digests));
  unasked_.clear();
  return asks;
}

bool WantedObjects::Sent(const WorkerId& holder, int64_t number) {
  const auto ask = asks_.find(number);
  if (ask == asks_.end() || ask->second.holder != holder) return false;
  if (ask->second.sha256.empty()) complete_ = true;
  asks_.erase(ask);
  return true;
}

void WantedObjects::TakeBack(const Asked& asked) {
  unasked_.insert(asked.sha256.begin(), asked.sha256.end());
  if (asked.sha256.empty()) all_unasked_ = true;
}

bool WantedObjects::Unable(const WorkerId& holder, int64_t number, const std::string& why) {
  const auto ask = asks_.find(number);
  if (ask == asks_.end() || ask->second.holder != holder) return false;
  unable_[holder] = why;
  Gone(holder);
  return true;
}

void WantedObjects::Gone(const WorkerId& holder) {
  std::erase_if(asks_, [&](const auto& ask) {
    if (ask.second.holder != holder) return false;
    TakeBack(ask.second);
    return true;
  });
}

}  // namespace dynbench::session
