#include "worker/engine/program_engine.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/check.h"
#include "common/base/status.h"
#include "spdlog/spdlog.h"
#include "worker/engine/script_support.h"
#include "worker/host/durable_file.h"
#include "worker/process/owned_mark.h"
#include "worker/process/process_tree.h"
#include "worker/process/program_lane.h"

namespace dynbench::worker {
namespace {

constexpr int kSocketFd = 3;
// A lane costs about 2 MB and saves the start of a process.
constexpr size_t kIdleLanes = 2;

// What a program's name means, looked up as a shell does; a path stays.
absl::StatusOr<std::string> FindProgram(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0) return name;
    return absl::NotFoundError(absl::StrCat("this worker has no program ", name));
  }
  const std::vector<std::string> folders = absl::StrSplit(path, ':', absl::SkipEmpty());
  for (const std::string& folder : folders) {
    std::string candidate = absl::StrCat(folder, "/", name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return absl::NotFoundError(absl::StrCat("this worker has no program ", name, " in ", path));
}

absl::Status CheckScript(const Program& program) {
  if (program.argv.size() > 1 && access(program.argv[1].c_str(), R_OK) == 0) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat(
      "this worker has no readable script ", program.argv.size() > 1 ? program.argv[1] : "",
      "; put upstream's scripts there, or give --scripts a folder that every worker has"));
}

}  // namespace

ProgramEngine::ProgramEngine(ProgramEngineOptions options)
    : options_(std::move(options)), support_dir_(options_.state_dir + "/script_support") {
  CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  const absl::Status written = WriteScriptSupport(support_dir_);
  if (!written.ok()) spdlog::error("stacks of scripts: {}", written.ToString());
  thread_ = std::thread([this] {
    prctl(PR_SET_NAME, "programs");
    loop_.Run();
    EndEverything();
  });
}

ProgramEngine::~ProgramEngine() {
  loop_.Stop();
  thread_.join();
}

void ProgramEngine::SetEnvironments(std::map<std::string, Environment> environments) {
  loop_.Post([this, environments = std::move(environments)]() mutable {
    environments_ = std::move(environments);
  });
}

void ProgramEngine::Start(AttemptSpec spec, AttemptObserver observer) {
  loop_.Post([this, asked_at = MonotonicNow(), spec = std::move(spec),
              observer = std::move(observer)]() mutable {
    const absl::Status status = Begin(std::move(spec), observer, asked_at);
    if (!status.ok() && observer.returned) observer.returned(std::string(status.message()));
  });
}

absl::Status ProgramEngine::Begin(AttemptSpec spec, const AttemptObserver& observer,
                                  MonotonicTime asked_at) {
  auto aliases = std::make_unique<runner::PathAliases>();
  ASSIGN_OR_RETURN(Program program, Prepare(spec, aliases.get()));
  ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, TakeLane());
  const AttemptId id = spec.id;
  auto attempt = std::make_shared<ProgramAttempt>(&loop_, std::move(spec), observer, asked_at,
                                                  std::move(program), std::move(aliases));
  attempts_[id] = attempt;
  attempt->Run(std::move(lane),
               [this, id](std::unique_ptr<Lane> back) { Ended(id, std::move(back)); });
  return absl::OkStatus();
}

absl::StatusOr<Program> ProgramEngine::Prepare(const AttemptSpec& spec,
                                               runner::PathAliases* aliases) {
  const auto environment = environments_.find(spec.experiment.environment);
  if (environment == environments_.end()) {
    return absl::NotFoundError(
        absl::StrCat("this worker has no environment ", spec.experiment.environment));
  }
  if (spec.experiment.command.empty()) {
    return absl::InvalidArgumentError("the experiment has no command");
  }
  ASSIGN_OR_RETURN(const plan::LaunchProfile profile, options_.profile(spec.experiment.profile));
  ASSIGN_OR_RETURN(const std::vector<std::string> preload,
                   ResolvePreload(profile, LibraryFolders(environment->second.facts.torch_dir)));
  ProgramFolders folders{spec.cache_dir, spec.work_dir + "/tmp", support_dir_};
  RETURN_IF_ERROR(MakePrivateFolder(folders.tmp));
  try {
    folders.cache = aliases->For(folders.cache);
    folders.tmp = aliases->For(folders.tmp);
  } catch (const std::runtime_error& error) {
    return absl::UnavailableError(error.what());
  }
  Program program =
      MakeProgram(spec, environment->second, profile, preload, options_.variables, folders);
  ASSIGN_OR_RETURN(program.argv[0], FindProgram(program.argv[0], program.variables["PATH"]));
  if (program.is_script) {
    RETURN_IF_ERROR(CheckScript(program));
    if (spec.experiment.source.loader == "torchbench") {
      LinkTorchbench(program.argv[1], spec.work_dir);
    }
  }
  return program;
}

absl::StatusOr<std::unique_ptr<Lane>> ProgramEngine::TakeLane() {
  while (!idle_.empty()) {
    std::unique_ptr<Lane> lane = std::move(idle_.back());
    idle_.pop_back();
    if (lane->alive()) return lane;
  }
  auto [ours, theirs] = SocketPair();
  if (!ours) return absl::ResourceExhaustedError("no descriptors left");
  SpawnOptions options;
  options.argv = {options_.lane_program, kProgramLaneWord, absl::StrCat(kSocketFd)};
  options.environment = {{"PATH", "/usr/bin:/bin"}};
  for (const char* name : {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", kOwnerVariable}) {
    const auto it = options_.variables.find(name);
    if (it != options_.variables.end()) options.environment.insert(*it);
  }
  options.working_dir = options_.state_dir;
  options.fds = {{1, STDERR_FILENO}, {2, STDERR_FILENO}, {kSocketFd, theirs.get()}};
  // It ends its tree when the socket closes, and must outlive a killed worker for that long: what
  // has a session of its own dies with nobody.
  options.die_with_caller = false;
  ASSIGN_OR_RETURN(const pid_t pid, options_.processes->Spawn(options));
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd >= 0) {
    fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    lanes_[pid] = UniqueFd(pidfd);
    loop_.Watch(pidfd, [this, pid, pidfd] { ReapLane(pid, pidfd); });
  }
  fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  return std::make_unique<Lane>(&loop_, LineChannel(std::move(ours)), pid,
                                absl::StrCat(getpid(), "-", pid));
}

void ProgramEngine::ReapLane(pid_t pid, int pidfd) {
  if (waitpid(pid, nullptr, WNOHANG) == 0) return;
  loop_.Unwatch(pidfd);
  lanes_.erase(pid);
  options_.processes->Disown(pid);
  // Only now what it may have left is below the worker: its sockets close before its children are
  // handed on, so a sweep at its end of file may have found them below a lane that was ours still.
  if (options_.sweep) options_.sweep();
}

void ProgramEngine::Ended(const AttemptId& id, std::unique_ptr<Lane> lane) {
  const auto it = attempts_.find(id);
  // The attempt is in its own call, and so may the lane be: they go when that has returned.
  if (it != attempts_.end()) {
    loop_.Post([ended = std::move(it->second)] {});
    attempts_.erase(it);
  }
  if (!lane) {
    if (options_.sweep) options_.sweep();  // and again when it is reaped
  } else if (lane->alive() && idle_.size() < kIdleLanes) {
    idle_.push_back(std::move(lane));
  } else {
    loop_.Post([unwanted = std::shared_ptr<Lane>(std::move(lane))] {});
  }
}

void ProgramEngine::Cancel(const AttemptId& attempt, const std::string& reason) {
  loop_.Post([this, attempt, reason] {
    const auto it = attempts_.find(attempt);
    if (it == attempts_.end()) return;
    const std::shared_ptr<ProgramAttempt> running = it->second;  // it may end within the call
    running->Cancel(reason);
  });
}

void ProgramEngine::Freeze(std::vector<AttemptId> attempts, std::function<void(bool)> done) {
  loop_.Post([this, attempts = std::move(attempts), done = std::move(done)] {
    std::vector<Attempt*> stopping;
    for (const AttemptId& id : attempts) {
      const auto it = attempts_.find(id);
      if (it != attempts_.end()) stopping.push_back(it->second.get());
    }
    done(Attempt::Freeze(stopping));
  });
}

void ProgramEngine::Thaw(std::vector<AttemptId> attempts) {
  loop_.Post([this, attempts = std::move(attempts)] {
    for (const AttemptId& id : attempts) {
      const auto it = attempts_.find(id);
      if (it != attempts_.end()) it->second->Thaw();
    }
  });
}

void ProgramEngine::EndEverything() {
  for (auto& [id, attempt] : attempts_) attempt->Thaw();
  attempts_.clear();
  idle_.clear();
  for (auto& [pid, pidfd] : lanes_) loop_.Unwatch(pidfd.get());
  lanes_.clear();
  // Their sockets are closed, so they end their trees and exit.
  for (const pid_t pid : options_.processes->All()) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    options_.processes->Disown(pid);
  }
}

}  // namespace dynbench::worker
