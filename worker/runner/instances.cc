#include "worker/runner/instances.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "worker/runner/cores.h"
#include "worker/runner/instance_results.h"
#include "worker/runner/python_embedding.h"

namespace dynbench::runner {
namespace {

struct Copy {
  Instance instance;
  pid_t pid = 0;
  worker::LineChannel channel;
  bool wants_window = false, in_window = false, window_done = false;
};

std::runtime_error Failed(const std::string& what) {
  return std::runtime_error(what + ": " + strerror(errno));
}

// In the copy's own process: its folder, its cores, its end with its parent's.
void SetUpCopy(const Attempt& attempt, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  SetAffinity(attempt.cores);
  if (mkdir(attempt.work_dir.c_str(), 0700) != 0 || chdir(attempt.work_dir.c_str()) != 0) {
    throw Failed("folder of an instance, " + attempt.work_dir);
  }
  // Cold stays cold: what the others compile is not in its cache.
  if (attempt.experiment.at("start") == "cold" && mkdir(attempt.cache_dir.c_str(), 0700) != 0) {
    throw Failed("cache folder of an instance, " + attempt.cache_dir);
  }
}

Attempt AttemptOf(const Attempt& whole, int index, const std::vector<int>& cores) {
  Attempt attempt = whole;
  const std::string name = "/instance-" + std::to_string(index);
  attempt.work_dir += name;
  if (whole.experiment.at("start") == "cold") attempt.cache_dir += name;
  attempt.cores = cores;
  attempt.experiment["instances"] = 1;
  attempt.copy = true;
  attempt.lanes = 1;  // all of them have one window
  return attempt;
}

class Relay {
 public:
  Relay(std::vector<Copy>& copies, worker::LineChannel& control)
      : copies_(copies), control_(control) {}

  // Until every copy has closed its channel.
  void Run() {
    while (true) {
      std::vector<pollfd> ready = {{control_.fd(), POLLIN, 0}};
      std::vector<Copy*> order;
      for (Copy& copy : copies_) {
        if (!copy.channel.open()) continue;
        ready.push_back({copy.channel.fd(), POLLIN, 0});
        order.push_back(&copy);
      }
      if (order.empty()) return;
      if (poll(ready.data(), ready.size(), -1) < 0) continue;
      if (ready[0].revents != 0) ReadWorker();
      for (size_t i = 0; i < order.size(); ++i) {
        if (ready[i + 1].revents != 0) ReadCopy(*order[i]);
      }
      AskForTheWindow();
      LeaveTheWindow();
    }
  }

 private:
  void ReadWorker() {
    // Without a worker there is nobody to take the result.
    if (!control_.Receive()) _exit(1);
    while (const auto line = control_.TakeLine()) {
      const Json message = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
      const bool go = message.is_object() && message.value("type", "") == "go";
      for (Copy& copy : copies_) {
        if (!copy.channel.open() || (go && !copy.wants_window)) continue;
        copy.in_window = copy.in_window || go;
        copy.channel.Send(*line);
      }
    }
  }

  void ReadCopy(Copy& copy) {
    const bool open = copy.channel.Receive();
    while (const auto line = copy.channel.TakeLine()) {
      const Json message = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
      const std::string type = message.is_object() ? message.value("type", "") : "";
      if (type == "window") {
        copy.wants_window = true;
      } else if (type == "window_done") {
        copy.window_done = true;
      } else if (type == "result") {
        copy.instance.result = message;
      } else if (type == "phase") {
        copy.instance.phase = message.value("phase", "");
        if (begun_.insert(copy.instance.phase).second) control_.Send(*line);
      }
    }
    if (!open) copy.channel.Close();
  }

  void AskForTheWindow() {
    if (asked_) return;
    bool any = false;
    for (const Copy& copy : copies_) {
      // One that has reported, or died, will not ask any more.
      if (!copy.channel.open() || copy.instance.result.is_object()) continue;
      if (!copy.wants_window) return;
      any = true;
    }
    if (!any) return;
    asked_ = true;
    control_.Send(R"({"type":"window"})");
  }

  void LeaveTheWindow() {
    if (left_ || !asked_) return;
    bool any = false;
    for (const Copy& copy : copies_) {
      any = any || copy.in_window;
      if (!copy.channel.open() || copy.instance.result.is_object()) continue;
      if (copy.wants_window && !copy.window_done) return;
    }
    if (!any) return;
    left_ = true;
    control_.Send(R"({"type":"window_done"})");
  }

  std::vector<Copy>& copies_;
  worker::LineChannel& control_;
  std::set<std::string> begun_;
  bool asked_ = false, left_ = false;
};

void SendWhole(const Json& message, worker::LineChannel& control) {
  control.Send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Starts a copy; in its own process, returns 0 with `channel` its own end.
pid_t StartCopy(const Attempt& attempt, Copy& copy, worker::LineChannel& channel) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw Failed("socketpair");
  worker::UniqueFd here(ends[0]), there(ends[1]);
  const pid_t parent = getpid();
  copy.pid = ForkPython();
  if (copy.pid < 0) throw Failed("fork of an instance");
  if (copy.pid == 0) {
    here.reset();
    channel = worker::LineChannel(std::move(there));
    SetUpCopy(attempt, parent);
    return 0;
  }
  copy.instance.cores = attempt.cores;
  copy.channel = worker::LineChannel(std::move(here));
  return copy.pid;
}

void Refuse(const std::string& error, worker::LineChannel& control) {
  SendWhole({{"type", "result"},
             {"outcome", "failed"},
             {"status", "option_refused"},
             {"blame", "none"},
             {"phase", "prepare"},
             {"error", error}},
            control);
}

}  // namespace

bool HasInstances(const Attempt& attempt) {
  return attempt.experiment.value("instances", 1) > 1 && !attempt.prepare &&
         attempt.experiment.at("test") == "performance";
}

int RunInstances(const Attempt& attempt, worker::LineChannel& control) {
  std::vector<std::vector<int>> parts;
  try {
    parts = SplitCores(attempt.cores.empty() ? AllowedCores() : attempt.cores,
                       attempt.experiment.at("instances"));
  } catch (const std::invalid_argument& error) {
    Refuse(error.what(), control);
    return 0;
  }
  std::vector<Copy> copies(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const Attempt own = AttemptOf(attempt, static_cast<int>(i), parts[i]);
    worker::LineChannel channel;
    if (StartCopy(own, copies[i], channel) == 0) {
      control.Close();
      for (size_t before = 0; before < i; ++before) copies[before].channel.Close();
      return RunAttempt(own, channel);
    }
  }
  Relay(copies, control).Run();
  std::vector<Instance> instances;
  for (Copy& copy : copies) {
    while (waitpid(copy.pid, &copy.instance.wait_status, 0) < 0 && errno == EINTR) {
    }
    instances.push_back(std::move(copy.instance));
  }
  SendWhole(JoinResults(instances, attempt.experiment.at("iterations_per_run")), control);
  return 0;
}

}  // namespace dynbench::runner
