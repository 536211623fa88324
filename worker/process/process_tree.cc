#include "worker/process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace dynbench::worker {
namespace {

int64_t NowMs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

void PauseMs(int64_t ms) {
  timespec t{ms / 1000, (ms % 1000) * 1'000'000};
  nanosleep(&t, nullptr);
}

// Reads a stat file into `stat`. The command name may hold blanks and parentheses, so fields are
// counted from the last parenthesis.
bool ReadStatFile(const std::string& path, ProcessStat* stat) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[1024];
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = 0;
  const char* after = strrchr(text, ')');
  if (after == nullptr) return false;
  int parent = 0, group = 0, session = 0;
  unsigned long long start = 0;
  // Fields 3 to 6, then 22: state ppid pgrp session … starttime.
  if (sscanf(after + 2,
             "%c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
             &stat->state, &parent, &group, &session, &start) != 5) {
    return false;
  }
  stat->pid = atoi(text);  // tidy: allow, a number of the kernel
  stat->parent = parent;
  stat->group = group;
  stat->session = session;
  stat->start_ticks = start;
  return true;
}

// Calls `visit` with the number of each numeric entry of `folder`.
template <typename Visit>
void ForEachNumber(const std::string& folder, Visit visit) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      visit(atoi(entry->d_name));  // tidy: allow, a number of the kernel
  }
  closedir(dir);
}

bool IsGone(char state) { return state == 'Z' || state == 'X' || state == 'x'; }
bool IsStopped(char state) { return state == 'T' || state == 't'; }

// Whether no thread of `process` can run. With `vfork_parent`, a thread in an uninterruptible wait
// counts as stopped.
bool EveryThreadStopped(const ProcessStat& process, bool vfork_parent) {
  const std::string folder = "/proc/" + std::to_string(process.pid) + "/task";
  bool stopped = true;
  ForEachNumber(folder, [&](int thread) {
    ProcessStat stat;
    if (!stopped || !ReadStatFile(folder + "/" + std::to_string(thread) + "/stat", &stat)) return;
    if (IsStopped(stat.state) || IsGone(stat.state)) return;
    if (vfork_parent && stat.state == 'D') return;
    stopped = false;
  });
  return stopped;
}

using Key = std::pair<pid_t, uint64_t>;
Key KeyOf(const ProcessStat& process) { return {process.pid, process.start_ticks}; }

std::vector<ProcessStat> DescendantsWithout(pid_t root, const std::vector<ProcessStat>& processes,
                                            const std::function<bool(const ProcessStat&)>& spare) {
  std::multimap<pid_t, ProcessStat> by_parent;
  for (const ProcessStat& process : processes) by_parent.emplace(process.parent, process);
  std::vector<ProcessStat> found;
  std::set<pid_t> seen{root};
  std::vector<pid_t> todo{root};
  for (size_t i = 0; i < todo.size(); ++i) {
    for (auto [it, end] = by_parent.equal_range(todo[i]); it != end; ++it) {
      const ProcessStat& process = it->second;
      // A walk is no snapshot: a pid that was used twice meanwhile must not make a circle.
      if (!seen.insert(process.pid).second) continue;
      if (spare && spare(process)) continue;
      todo.push_back(process.pid);
      if (!IsGone(process.state)) found.push_back(process);
    }
  }
  return found;
}

}  // namespace

std::optional<ProcessStat> ReadProcessStat(pid_t pid) {
  ProcessStat stat;
  if (!ReadStatFile("/proc/" + std::to_string(pid) + "/stat", &stat)) return std::nullopt;
  return stat;
}

std::vector<ProcessStat> ListProcesses() {
  std::vector<ProcessStat> all;
  ForEachNumber("/proc", [&](int pid) {
    if (auto stat = ReadProcessStat(pid)) all.push_back(*stat);
  });
  return all;
}

std::vector<ProcessStat> Descendants(pid_t root) { return Descendants(root, ListProcesses()); }

std::vector<ProcessStat> Descendants(pid_t root, const std::vector<ProcessStat>& processes) {
  return DescendantsWithout(root, processes, nullptr);
}

bool SignalProcess(const ProcessStat& process, int signal) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  if (fd < 0 && errno != ENOSYS) return false;
  // With the pidfd held, a start time that still matches proves that the pidfd is of this process.
  const auto now = ReadProcessStat(process.pid);
  bool sent = false;
  if (now && now->start_ticks == process.start_ticks) {
    sent = fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) == 0
                   : kill(process.pid, signal) == 0;
  }
  if (fd >= 0) close(fd);
  return sent;
}

int SignalDescendants(pid_t root, int signal) {
  int sent = 0;
  for (const ProcessStat& process : Descendants(root)) sent += SignalProcess(process, signal);
  return sent;
}

std::string CommandOf(pid_t pid) {
  constexpr size_t kMost = 200;
  const auto read_file = [&](const char* name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  };
  std::string command = read_file("cmdline");
  for (char& c : command) c = c == 0 || c == '\n' ? ' ' : c;
  while (!command.empty() && command.back() == ' ') command.pop_back();
  if (command.empty()) {
    command = read_file("comm");
    if (!command.empty() && command.back() == '\n') command.pop_back();
    if (!command.empty()) command = "[" + command + "]";
  }
  return command.substr(0, kMost);
}

KillTreeReport KillTree(const KillTreeOptions& options) {
  std::set<Key> signalled;
  std::vector<ProcessStat> living;
  const auto send = options.signal ? options.signal : &SignalProcess;
  const auto walk = [&](bool kill_now) {
    living = DescendantsWithout(options.root, ListProcesses(), options.spare);
    for (const ProcessStat& process : living) {
      const bool first = signalled.insert(KeyOf(process)).second;
      if (kill_now) {
        send(process, SIGKILL);
      } else if (first) {
        send(process, SIGTERM);
        send(process, SIGCONT);
      }
    }
    if (options.reap) options.reap();
    return living.size();
  };
  const int64_t start_ms = NowMs();
  if (options.grace_ms > 0) {
    while (walk(false) > 0 && NowMs() - start_ms < options.grace_ms) PauseMs(10);
  }
  const int64_t kill_ms = NowMs();
  int empty_walks = 0;
  while (empty_walks < 2) {
    empty_walks = walk(true) == 0 ? empty_walks + 1 : 0;
    const int64_t passed_ms = NowMs() - kill_ms;
    const bool hopeless = !living.empty() && std::all_of(living.begin(), living.end(),
                                                         [](auto& p) { return p.state == 'D'; });
    if (passed_ms > options.give_up_ms || (hopeless && passed_ms > options.uninterruptible_ms)) {
      break;
    }
    if (empty_walks == 0) PauseMs(1);
  }
  const bool gone = empty_walks >= 2;
  return {static_cast<int>(signalled.size()), gone,
          gone ? std::vector<ProcessStat>() : std::move(living)};
}

bool StopTree(pid_t root, int64_t limit_ms) {
  const int64_t start_ms = NowMs();
  std::set<Key> before;
  bool stopped_before = false;  // in the last walk all were
  while (true) {
    std::set<Key> now;
    bool stopped = true;
    const auto living = Descendants(root);
    // A parent in vfork waits uninterruptibly for its child's exec, which never comes once the
    // child is stopped. With SIGSTOP pending since the last walk it cannot run either: it stops
    // before it returns to its program.
    std::set<pid_t> has_stopped_child;
    for (const ProcessStat& process : living) {
      if (IsStopped(process.state)) has_stopped_child.insert(process.parent);
    }
    for (const ProcessStat& process : living) {
      now.insert(KeyOf(process));
      const bool vfork_parent =
          before.count(KeyOf(process)) != 0 && has_stopped_child.count(process.pid) != 0;
      if (EveryThreadStopped(process, vfork_parent)) continue;
      stopped = false;
      SignalProcess(process, SIGSTOP);
    }
    // Twice in a row: one that the first walk did not list was forked before its parent stopped,
    // and that walk saw the parent stopped, so the second one lists it.
    if (stopped && stopped_before && now == before) return true;
    if (NowMs() - start_ms > limit_ms) return false;
    before = std::move(now);
    stopped_before = stopped;
    if (!stopped) PauseMs(1);
  }
}

bool ContinueTree(pid_t root, int64_t limit_ms) {
  const int64_t start_ms = NowMs();
  // Everybody once, not only who is seen stopped: SIGCONT also takes back a SIGSTOP that is still
  // pending on a parent in vfork, which would stop as soon as its child has run.
  SignalDescendants(root, SIGCONT);
  while (true) {
    bool all_run = true;
    for (const ProcessStat& process : Descendants(root)) {
      if (!IsStopped(process.state)) continue;
      all_run = false;
      SignalProcess(process, SIGCONT);
    }
    if (all_run) return true;
    if (NowMs() - start_ms > limit_ms) return false;
    PauseMs(1);
  }
}

}  // namespace dynbench::worker
