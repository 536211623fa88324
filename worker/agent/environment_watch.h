// Notices environments that are added, changed or removed while the worker runs, by looking every
// second. Belongs to the agent's loop.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "worker/host/environment.h"
#include "worker/process/event_loop.h"

namespace dynbench::worker {

class EnvironmentWatch {
 public:
  using Environments = std::map<std::string, Environment>;

  // Looks at once; `changed` is called for each later difference. An environment whose torch was
  // changed under its record is left out until it is added again, and that is logged.
  EnvironmentWatch(EventLoop* loop, std::string environments_dir,
                   std::function<void(const Environments&)> changed);
  ~EnvironmentWatch();

  const Environments& usable() const { return usable_; }

 private:
  bool Look();  // true: something differs from before
  void Again();

  EventLoop* loop_;
  const std::string environments_dir_;
  const std::function<void(const Environments&)> changed_;
  Environments usable_;
  std::string problems_;  // as logged last
  EventLoop::TimerId timer_ = 0;
};

}  // namespace dynbench::worker
