// Carries out the coordinator's orders about environments (session.proto: EnvironmentOrder), one at
// a time and only while the worker's slots rest: a build beside a measurement would be in it. What
// is made is made by this program in a process of its own (`env build`, `derive`, `install`), so
// nothing of it is in the worker, and it ends with the worker.
//
// Belongs to the agent's loop; works on a thread of its own.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "dynbench/v1/session.pb.h"
#include "worker/agent/object_transfer.h"
#include "worker/environments/manifest.h"
#include "worker/host/environment.h"
#include "worker/process/event_loop.h"
#include "worker/process/owned_processes.h"

namespace dynbench::worker {

class EnvironmentWork {
 public:
  struct Services {
    EventLoop* loop = nullptr;  // the agent's
    std::string environments_dir, state_dir;
    std::map<std::string, std::string> variables;  // of the processes that make one
    OwnedProcesses* processes = nullptr;
    std::shared_ptr<grpc::Channel> channel;
    std::function<void(const v1::EnvironmentReport&)> report;
    std::function<void()> wants_rest;  // Active() is another than before
    std::function<bool()> slots_rest;  // nothing runs on them
  };

  explicit EnvironmentWork(Services services);
  ~EnvironmentWork();  // ends what it does

  void Order(const v1::EnvironmentOrder& order);
  // A new session: what it knew of logs is told from the beginning, and what was asked for in the
  // one before ("send") and has not begun is asked for again.
  void NewSession();
  // The name of what is made or waits for the slots' rest; empty: nothing.
  std::string Active() const;
  // A slot may have come to rest.
  void SlotsChanged();

 private:
  // What became of an order that did not fail.
  struct Outcome {
    v1::EnvironmentReport report;      // of what was made
    std::vector<std::string> lacking;  // objects without which it cannot be installed
  };

  // One order, on the thread.
  void Run(const v1::EnvironmentOrder& order);
  absl::Status Carry(const v1::EnvironmentOrder& order, Outcome* outcome);
  absl::Status Make(const v1::EnvironmentOrder& order, v1::EnvironmentReport* ready);
  bool IsInstalled(const v1::EnvironmentOrder& order) const;
  // What it is built or derived of, to the places that it names.
  absl::Status FetchParts(const std::vector<ObjectToMove>& objects);
  // Fetches what is not here, unless there is any that the coordinator has not (`lacking`).
  absl::Status FetchOrLack(const std::vector<ObjectToMove>& objects,
                           const ObjectTransfer::Progress& progress,
                           std::vector<std::string>* lacking);
  absl::Status Install(const v1::EnvironmentOrder& order, std::vector<std::string>* lacking);
  absl::Status Remove(const v1::EnvironmentOrder& order);
  // What the coordinator gets of one that was made here.
  absl::Status SendMade(const v1::EnvironmentOrder& order, v1::EnvironmentReport* ready);
  // What it asks for of one that is here.
  absl::Status SendAsked(const v1::EnvironmentOrder& order);
  absl::Status SendObjects(const std::string& id, const std::vector<ObjectToMove>& objects);
  ObjectToMove ObjectOf(const ManifestFile& file) const;
  // Files of environments with the same libraries.
  absl::Status TakeFromOthers(const v1::EnvironmentOrder& order, const Manifest& manifest) const;
  absl::Status RunTool(const v1::EnvironmentOrder& order, std::vector<std::string> words);
  void Log(const std::string& id, std::string_view bytes);
  void Tell(const std::string& id, const std::string& state, const std::string& reason);
  void TriesAgain(const absl::Status& why);

  // On the loop.
  void Finished(const std::vector<v1::EnvironmentReport>& reports);
  void Begin();
  void SendLog();

  const Services services_;
  const ObjectStore store_;
  ObjectTransfer transfer_;
  std::atomic<bool> stopping_{false};
  std::atomic<pid_t> child_{0};
  std::pair<std::string, std::string> moving_;  // of the thread: id and state that are told

  // Of the loop.
  std::deque<v1::EnvironmentOrder> orders_;  // the first is carried out when `begun_`
  bool begun_ = false;
  std::string log_;        // of the order that is carried out
  int64_t log_begin_ = 0;  // offset of its first byte
  int64_t log_sent_ = 0;
  EventLoop::TimerId log_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  EventLoop thread_loop_;
  std::thread thread_;  // last
};

}  // namespace dynbench::worker
