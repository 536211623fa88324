#include "worker/engine/native_engine.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/check.h"
#include "common/base/sha256.h"
#include "common/base/status.h"
#include "spdlog/spdlog.h"
#include "worker/process/cgroup.h"
#include "worker/process/process_tree.h"

namespace dynbench::worker {
namespace {

// Further zygotes that live at once: both sides of a pair, and the pair before it.
constexpr size_t kFurtherZygotes = 4;

// No profile's name has such a mark.
std::string WithInstance(const std::string& profile, int instance) {
  return instance == 0 ? profile : absl::StrCat(profile, "+", instance);
}

// The runner's folder is part of it: a rebuilt runner of the same torch is another zygote; and the
// python: two environments may have one torch and differ in everything else.
std::string KeyOf(const Environment& environment) {
  return absl::StrCat(environment.hash, " ", environment.runner_dir, " ", environment.facts.python);
}

std::string KeyOf(const Environment& environment, const std::string& profile, int instance) {
  return absl::StrCat(KeyOf(environment), " ", WithInstance(profile, instance));
}

std::string ZygoteFolder(const std::string& state_dir, const Environment& environment,
                         const std::string& profile, int instance) {
  return absl::StrCat(state_dir, "/zygotes/", Sha256Hex(KeyOf(environment)).substr(0, 16), "-",
                      WithInstance(profile, instance));
}

bool PlainName(const std::string& name) { return CheckEnvironmentName(name).ok(); }

}  // namespace

struct NativeEngine::Warm {
  std::string environment;
  std::unique_ptr<Zygote> zygote;
  std::vector<std::unique_ptr<Lane>> idle;
  bool asked = false;  // an idle lane is on its way
  int instance = 0;
  int64_t used = 0;  // the order in which further zygotes were asked for
};

NativeEngine::NativeEngine(NativeEngineOptions options) : options_(std::move(options)) {
  CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Cgroup::RemoveLeftovers();
  thread_ = std::thread([this] {
    prctl(PR_SET_NAME, "engine");
    loop_.Run();
    EndEverything();
  });
}

NativeEngine::~NativeEngine() {
  loop_.Stop();
  thread_.join();
}

std::string NativeEngine::PrecompiledHeadersDir(const std::string& state_dir,
                                                const Environment& environment) {
  // Beside the runner, so that the workers of a host share them (the runner locks while it builds).
  if (access(environment.runner_dir.c_str(), W_OK) == 0) {
    return environment.runner_dir + "/precompiled_headers";
  }
  return absl::StrCat(state_dir, "/precompiled_headers/", environment.hash.substr(0, 16));
}

void NativeEngine::SetEnvironments(std::map<std::string, Environment> environments) {
  loop_.Post([this, environments = std::move(environments)] {
    environments_ = environments;
    std::set<std::string> wanted;
    for (const auto& [name, environment] : environments_) {
      wanted.insert(KeyOf(environment));
      const auto warm = WarmFor(environment, "default", 0);
      if (!warm.ok()) spdlog::error("environment {}: {}", name, warm.status().ToString());
    }
    for (auto it = warm_.begin(); it != warm_.end();) {
      const std::string without_profile = it->first.substr(0, it->first.rfind(' '));
      it = wanted.count(without_profile) > 0 ? std::next(it) : warm_.erase(it);
    }
  });
}

absl::StatusOr<NativeEngine::Warm*> NativeEngine::WarmFor(const Environment& environment,
                                                          const std::string& profile_name,
                                                          int instance) {
  if (!PlainName(profile_name)) {
    return absl::InvalidArgumentError(absl::StrCat("no launch profile \"", profile_name, "\""));
  }
  const std::string key = KeyOf(environment, profile_name, instance);
  const auto it = warm_.find(key);
  if (it != warm_.end()) {
    it->second->used = ++uses_;
    return it->second.get();
  }
  ASSIGN_OR_RETURN(const plan::LaunchProfile profile, options_.profile(profile_name));
  ASSIGN_OR_RETURN(const std::vector<std::string> preload,
                   ResolvePreload(profile, LibraryFolders(environment.facts.torch_dir)));
  const std::string folder = ZygoteFolder(options_.state_dir, environment, profile_name, instance);
  ZygoteSpec spec{environment, profile_name,
                  ChildEnvironment(options_.variables, profile, preload, folder + "/tmp"), folder,
                  options_.cores};
  auto warm = std::make_unique<Warm>();
  warm->environment = environment.name;
  warm->zygote = std::make_unique<Zygote>(&loop_, std::move(spec));
  warm->zygote->on_ready = [this, key] { KeepOneLaneReady(key); };
  warm->instance = instance;
  warm->used = ++uses_;
  Warm* raw = warm.get();
  warm_[key] = std::move(warm);
  raw->zygote->Start();
  EndSpareZygotes();
  return raw;
}

void NativeEngine::EndSpareZygotes() {
  std::set<std::string> asked;  // somebody waits for a lane of it
  for (const auto& [id, waiting] : waiting_) {
    const plan::Experiment& e = waiting.attempt->spec().experiment;
    const auto environment = environments_.find(e.environment);
    if (environment != environments_.end()) {
      asked.insert(KeyOf(environment->second, e.profile, std::max(e.zygote, 0)));
    }
  }
  size_t further = 0;
  std::map<int64_t, std::string> unused;  // the one that was asked for longest ago first
  for (const auto& [key, warm] : warm_) {
    if (warm->instance == 0) continue;
    ++further;
    if (asked.count(key) == 0) unused[warm->used] = key;
  }
  unused.erase(uses_);  // the one that is being made
  for (; further > kFurtherZygotes && !unused.empty(); --further) {
    // What was forked from it lives on: a busy lane needs no zygote.
    warm_.erase(unused.begin()->second);
    unused.erase(unused.begin());
  }
}

void NativeEngine::KeepOneLaneReady(const std::string& key) {
  const auto it = warm_.find(key);
  if (it == warm_.end() || it->second->asked || !it->second->idle.empty()) return;
  it->second->asked = true;
  it->second->zygote->RequestLane([this, key](absl::StatusOr<std::unique_ptr<Lane>> lane) {
    const auto warm = warm_.find(key);
    if (warm == warm_.end()) return;
    warm->second->asked = false;
    if (lane.ok()) GiveBack(key, *std::move(lane));
  });
}

void NativeEngine::Start(AttemptSpec spec, AttemptObserver observer) {
  loop_.Post([this, asked_at = MonotonicNow(), spec = std::move(spec),
              observer = std::move(observer)]() mutable {
    const auto returned = observer.returned;
    const auto give_up = [&](const std::string& reason) {
      if (returned) returned(reason);
    };
    const auto environment = environments_.find(spec.experiment.environment);
    if (environment == environments_.end()) {
      return give_up(absl::StrCat("this worker has no environment ", spec.experiment.environment));
    }
    const int zygote = std::max(spec.experiment.zygote, 0);
    const auto warm = WarmFor(environment->second, spec.experiment.profile, zygote);
    if (!warm.ok()) return give_up(std::string(warm.status().message()));
    const std::string key = KeyOf(environment->second, spec.experiment.profile, zygote);
    const AttemptId id = spec.id;
    auto attempt = std::make_shared<Attempt>(&loop_, std::move(spec), observer, asked_at);
    waiting_[id] = {std::move(observer), attempt};
    Begin(key, attempt, returned);
  });
}

void NativeEngine::Begin(const std::string& key, const std::shared_ptr<Attempt>& attempt,
                         std::function<void(std::string)> returned) {
  Warm& warm = *warm_.at(key);
  while (!warm.idle.empty()) {
    std::unique_ptr<Lane> lane = std::move(warm.idle.back());
    warm.idle.pop_back();
    if (lane->alive()) return RunOn(key, attempt, std::move(lane));
  }
  warm.zygote->RequestLane([this, key, attempt, returned = std::move(returned)](
                               absl::StatusOr<std::unique_ptr<Lane>> lane) {
    if (waiting_.count(attempt->spec().id) == 0) {  // cancelled meanwhile
      if (lane.ok()) GiveBack(key, *std::move(lane));
      return;
    }
    if (lane.ok()) return RunOn(key, attempt, *std::move(lane));
    waiting_.erase(attempt->spec().id);
    if (returned) returned(std::string(lane.status().message()));
  });
}

void NativeEngine::RunOn(const std::string& key, const std::shared_ptr<Attempt>& attempt,
                         std::unique_ptr<Lane> lane) {
  const AttemptId id = attempt->spec().id;
  waiting_.erase(id);
  attempts_[id] = attempt;
  attempt->Run(std::move(lane), [this, key, id](std::unique_ptr<Lane> back) {
    // The attempt is in its own call: it goes when that has returned.
    const auto it = attempts_.find(id);
    if (it != attempts_.end()) {
      loop_.Post([ended = std::move(it->second)] {});
      attempts_.erase(it);
    }
    if (back) {
      GiveBack(key, std::move(back));
    } else {
      SweepOrphans();
    }
  });
}

void NativeEngine::GiveBack(const std::string& key, std::unique_ptr<Lane> lane) {
  const auto it = warm_.find(key);
  // A lane may be in its own call here; one that nobody wants goes later.
  if (it == warm_.end() || !lane->alive()) {
    loop_.Post([unwanted = std::shared_ptr<Lane>(std::move(lane))] {});
    return;
  }
  // A lane that ends while idle is noticed when it is taken.
  it->second->idle.push_back(std::move(lane));
}

void NativeEngine::Cancel(const AttemptId& attempt, const std::string& reason) {
  loop_.Post([this, attempt, reason] {
    const auto running = attempts_.find(attempt);
    if (running != attempts_.end()) return running->second->Cancel(reason);
    const auto waiting = waiting_.find(attempt);
    if (waiting == waiting_.end()) return;
    const AttemptObserver observer = std::move(waiting->second.observer);
    waiting_.erase(waiting);
    Ending ending;
    ending.cancelled = true;
    ending.cancel_reason = reason;
    if (observer.finished) observer.finished(ResultWithoutReport(ending, ""), "");
  });
}

void NativeEngine::Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) {
  loop_.Post([this, attempts = std::move(attempts), done = std::move(done)] {
    std::vector<Attempt*> stopping;
    for (const AttemptId& id : attempts) {
      const auto it = attempts_.find(id);
      if (it != attempts_.end()) stopping.push_back(it->second.get());
      const auto waiting = waiting_.find(id);
      if (waiting != waiting_.end()) stopping.push_back(waiting->second.attempt.get());
    }
    done(Attempt::Freeze(stopping));
  });
}

void NativeEngine::Thaw(std::vector<AttemptId> attempts) {
  loop_.Post([this, attempts = std::move(attempts)] {
    for (const AttemptId& id : attempts) {
      const auto it = attempts_.find(id);
      if (it != attempts_.end()) it->second->Thaw();
      const auto waiting = waiting_.find(id);
      if (waiting != waiting_.end()) waiting->second.attempt->Thaw();
    }
  });
}

void NativeEngine::Probe(const std::string& environment, std::function<void(absl::Status)> done) {
  loop_.Post([this, environment, done = std::move(done)] {
    const auto it = environments_.find(environment);
    if (it == environments_.end()) {
      return done(
          absl::NotFoundError(absl::StrCat("this worker has no environment ", environment)));
    }
    const auto warm = WarmFor(it->second, "default", 0);
    if (!warm.ok()) return done(warm.status());
    for (const auto& lane : (*warm)->idle) {
      if (lane->alive()) return done(absl::OkStatus());
    }
    (*warm)->asked = true;  // one idle lane is enough
    (*warm)->zygote->RequestLane([this, key = KeyOf(it->second, "default", 0),
                                  done](absl::StatusOr<std::unique_ptr<Lane>> lane) {
      const absl::Status status = lane.status();
      const auto asked = warm_.find(key);
      if (asked != warm_.end()) asked->second->asked = false;
      if (status.ok()) GiveBack(key, *std::move(lane));
      done(status);
    });
  });
}

void NativeEngine::Sweep() {
  loop_.Post([this] { SweepOrphans(); });
}

// A lane that was killed leaves its tree to this process. Whoever is our direct child without being
// a zygote or a living lane is such a rest.
void NativeEngine::SweepOrphans() {
  std::set<pid_t> ours;
  for (const auto& [key, warm] : warm_) {
    if (warm->zygote->pid() > 0) ours.insert(warm->zygote->pid());
    for (const auto& lane : warm->idle) ours.insert(lane->pid());
  }
  for (const auto& [id, attempt] : attempts_) {
    if (attempt->lane_pid() > 0) ours.insert(attempt->lane_pid());
  }
  const auto spared = [&](pid_t pid) {
    return ours.count(pid) > 0 || (options_.spare && options_.spare(pid));
  };
  const pid_t self = getpid();
  const auto report = KillTree({
      .root = self,
      .reap =
          [&] {
            for (const ProcessStat& process : ListProcesses()) {
              if (process.parent == self && process.state == 'Z' && !spared(process.pid)) {
                waitpid(process.pid, nullptr, WNOHANG);
              }
            }
          },
      .spare = [&](const ProcessStat& process) { return spared(process.pid); },
  });
  if (report.signalled > 0) spdlog::warn("killed {} orphaned processes", report.signalled);
}

void NativeEngine::EndEverything() {
  for (auto& [id, attempt] : attempts_) attempt->Thaw();
  attempts_.clear();
  waiting_.clear();
  warm_.clear();
  // Lanes end their own trees at the end of their sockets; what is left after that is killed.
  const pid_t self = getpid();
  KillTree({.root = self, .grace_ms = 2'000, .reap = [] {
              while (waitpid(-1, nullptr, WNOHANG) > 0) {
              }
            }});
}

}  // namespace dynbench::worker
