#include "tools/dynbenchctl/local_fleet.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "common/base/status.h"
#include "common/base/time.h"
#include "nlohmann/json.hpp"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/remote_source.h"

extern char** environ;

namespace dynbench::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kCoordinatorStartMs = 30'000;  // a large database is checked first
constexpr int64_t kWorkerStartMs = 120'000;      // imports of a cold disk
constexpr int64_t kPollMs = 30;
constexpr int64_t kStopGraceMs = 20'000;  // a worker ends its trees and writes its spool

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return absl::InvalidArgumentError("cannot make the folder " + path + ": " + error.message());
  }
  chmod(path.c_str(), 0700);
  return absl::OkStatus();
}

std::string LastLines(const std::string& path, size_t count) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::string text;
  for (size_t i = lines.size() > count ? lines.size() - count : 0; i < lines.size(); ++i) {
    text += "\n  " + lines[i];
  }
  return text;
}

json ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) return json();
  return json::parse(std::string{std::istreambuf_iterator<char>(file), {}}, nullptr, false);
}

std::string Text(const json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : "";
}

// Polls `done` until it holds, the process has ended, or `limit_ms` have passed.
absl::Status WaitUntil(const std::string& what, const ProcessRef& process, const std::string& log,
                       int64_t limit_ms, const std::function<bool()>& done) {
  const MonotonicTime deadline = MonotonicNow() + limit_ms * kNsPerMs;
  while (!done()) {
    if (!IsRunning(process)) {
      return absl::UnavailableError(what + " ended at once; its log " + log +
                                    " says:" + LastLines(log, 5));
    }
    if (MonotonicNow() >= deadline) {
      return absl::DeadlineExceededError(what + " is not ready after " +
                                         std::to_string(limit_ms / 1000) + " s; its log " + log +
                                         " says:" + LastLines(log, 5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
  }
  return absl::OkStatus();
}

absl::Status StartCoordinator(const LocalPaths& paths, const FleetOptions& options,
                              LocalState* state) {
  RETURN_IF_ERROR(MakeFolder(paths.Coordinator()));
  const std::string log = paths.Log("coordinator");
  ASSIGN_OR_RETURN(
      state->coordinator,
      StartDaemon({options.bin_dir + "/dynbench-coordinator", "--listen",
                   "127.0.0.1:" + std::to_string(options.port), "--state-dir", paths.Coordinator()},
                  log));
  RETURN_IF_ERROR(WriteLocalState(paths, *state));
  json ready;
  RETURN_IF_ERROR(WaitUntil("the coordinator", state->coordinator, log, kCoordinatorStartMs, [&] {
    ready = ReadJson(paths.CoordinatorJson());  // of an earlier run until it is replaced
    return ready.is_object() && ready.value("pid", 0) == state->coordinator.pid;
  }));
  state->address = Text(ready, "address");
  state->http_url = Text(ready, "http_url");
  state->metrics_url = Text(ready, "metrics_url");
  state->database = Text(ready, "database");
  RETURN_IF_ERROR(WriteLocalState(paths, *state));
  return Client::Connect(state->address, /*tls=*/"").status();
}

// The worker said that it is connected, and the coordinator knows an environment of it.
bool WorkerReady(Source& coordinator, const LocalWorker& worker) {
  const json ready = ReadJson(worker.state_dir + "/worker.json");
  if (!ready.is_object() || ready.value("pid", 0) != worker.process.pid ||
      !ready.value("connected", false)) {
    return false;
  }
  const auto workers = coordinator.Workers();
  if (!workers.ok()) return false;
  const std::string id = Text(ready, "worker_id");
  return std::any_of(workers->begin(), workers->end(), [&](const WorkerView& view) {
    return view.id == id && view.connected && !view.environments.empty();
  });
}

absl::Status StartWorkers(const LocalPaths& paths, const FleetOptions& options, LocalState* state) {
  const auto count = static_cast<size_t>(options.workers);
  state->workers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    LocalWorker& worker = state->workers[i];
    if (IsRunning(worker.process)) continue;
    worker.state_dir = paths.Worker(i + 1);
    RETURN_IF_ERROR(MakeFolder(worker.state_dir));
    std::vector<std::string> words = {options.bin_dir + "/dynbench-worker",
                                      "run",
                                      "--coordinator",
                                      state->address,
                                      "--state-dir",
                                      worker.state_dir,
                                      "--environments-dir",
                                      paths.Environments(),
                                      "--share",
                                      std::to_string(i + 1) + "/" + std::to_string(count),
                                      "--lanes",
                                      options.lanes};
    if (!options.tune.empty()) words.insert(words.end(), {"--tune", options.tune});
    ASSIGN_OR_RETURN(worker.process,
                     StartDaemon(words, paths.Log("worker-" + std::to_string(i + 1))));
    RETURN_IF_ERROR(WriteLocalState(paths, *state));
  }
  ASSIGN_OR_RETURN(auto client, Client::Connect(state->address, /*tls=*/""));
  const auto coordinator = MakeRemoteSource(std::move(client));
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "worker-" + std::to_string(i + 1);
    RETURN_IF_ERROR(WaitUntil(name, state->workers[i].process, paths.Log(name), kWorkerStartMs,
                              [&] { return WorkerReady(*coordinator, state->workers[i]); }));
  }
  return absl::OkStatus();
}

// Runs a program to its end with our own stdout and stderr both going to stderr.
absl::StatusOr<int> RunProgram(const std::vector<std::string>& argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::NotFoundError("cannot start " + argv[0] + ": " + std::strerror(error));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalLock>> LocalLock::Take(const LocalPaths& paths) {
  RETURN_IF_ERROR(MakeFolder(paths.root));
  RETURN_IF_ERROR(MakeFolder(paths.root + "/log"));
  const std::string path = paths.root + "/local.lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return absl::InvalidArgumentError("cannot open " + path + ": " + std::strerror(errno));
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return absl::FailedPreconditionError("another dynbenchctl local command is at work in " +
                                         paths.root + "; wait for it");
  }
  return std::unique_ptr<LocalLock>(new LocalLock(fd));
}

LocalLock::~LocalLock() { close(fd_); }

absl::Status RegisterEnvironments(const LocalPaths& paths, const FleetOptions& options) {
  RETURN_IF_ERROR(MakeFolder(paths.Environments()));
  for (const auto& [name, python] : options.environments) {
    ASSIGN_OR_RETURN(const int code,
                     RunProgram({options.bin_dir + "/dynbench-worker", "env", "add", name,
                                 "--python", python, "--environments-dir", paths.Environments()}));
    if (code != 0) {
      return absl::InvalidArgumentError("environment " + name + " (" + python +
                                        ") was not accepted; the message above says why");
    }
  }
  return absl::OkStatus();
}

absl::Status StartFleet(const LocalPaths& paths, const FleetOptions& options, LocalState* state) {
  unsetenv("DYNBENCH_TLS");  // of another fleet: this one does not leave the machine
  const bool had_coordinator = CoordinatorRuns(*state);
  std::vector<ProcessRef> before;
  for (const LocalWorker& worker : state->workers) before.push_back(worker.process);
  auto start = [&]() -> absl::Status {
    if (!had_coordinator) RETURN_IF_ERROR(StartCoordinator(paths, options, state));
    return StartWorkers(paths, options, state);
  };
  absl::Status status = start();
  if (status.ok()) return status;
  LocalState started;
  for (const LocalWorker& worker : state->workers) {
    if (std::find(before.begin(), before.end(), worker.process) == before.end()) {
      started.workers.push_back(worker);
    }
  }
  if (!had_coordinator) started.coordinator = state->coordinator;
  const absl::Status stopped = StopFleet(started);
  if (!had_coordinator && stopped.ok()) (void)RemoveLocalState(paths);
  return status;
}

absl::Status StopFleet(const LocalState& state) {
  std::vector<ProcessRef> workers;
  for (const LocalWorker& worker : state.workers) workers.push_back(worker.process);
  absl::Status stopped = StopAll(workers, kStopGraceMs);
  RETURN_IF_ERROR(StopAll({state.coordinator}, kStopGraceMs));
  return stopped;
}

bool CoordinatorRuns(const LocalState& state) { return IsRunning(state.coordinator); }

size_t WorkersRunning(const LocalState& state) {
  return static_cast<size_t>(
      std::count_if(state.workers.begin(), state.workers.end(),
                    [](const LocalWorker& worker) { return IsRunning(worker.process); }));
}

}  // namespace dynbench::cli
