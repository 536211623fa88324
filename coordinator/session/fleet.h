// The workers that are connected now. Thread-compatible: the dispatcher's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/plan/expand.h"
#include "common/store/queries.h"
#include "common/store/writes.h"
#include "coordinator/scheduler/scheduler.h"
#include "dynbench/v1/control.pb.h"
#include "dynbench/v1/session.pb.h"

namespace dynbench::session {

// A worker's stream, as the dispatcher sees it. Thread-safe; nothing here blocks.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  virtual void Send(v1::CoordinatorMessage message) = 0;
  // Ends the stream once what was sent before is written. The worker reconnects.
  virtual void Close(const std::string& reason) = 0;
  // Ends it now: the other side does not read.
  virtual void Abort() = 0;
  virtual bool closed() const = 0;
};

struct ConnectedWorker {
  WorkerId id;
  std::shared_ptr<WorkerLink> link;
  v1::Hello hello;  // kept up to date with SlotsChanged and EnvironmentsChanged; no held, no died
  MonotonicTime last_heard;
  UnixTimeMs last_seen;
  bool degraded = false;      // speaks an older protocol
  int64_t clock_skew_ms = 0;  // its clock minus ours, when it last said the time
  // Environments that do not work on a slot: why, by slot and name. docs/reliability.md
  std::map<int, std::map<std::string, std::string>> failed_environments = {};
};

class Fleet {
 public:
  ConnectedWorker& Join(const WorkerId& id, std::shared_ptr<WorkerLink> link, v1::Hello hello,
                        MonotonicTime now, UnixTimeMs unix_now);
  // nullptr when it is not connected.
  ConnectedWorker* Find(const WorkerId& id);
  void Leave(const WorkerId& id);
  // When a worker that has left was heard last; nothing: it has not been here yet, or is.
  std::optional<MonotonicTime> LastHeard(const WorkerId& id) const;
  std::map<WorkerId, ConnectedWorker>& workers() { return workers_; }
  const std::map<WorkerId, ConnectedWorker>& workers() const { return workers_; }

  // The process start that the worker last said hello with; 0: never seen by this coordinator.
  int64_t LastProcessStart(const WorkerId& id) const;

  // The first accelerator (by worker id) if any worker has one, and the architecture of the workers
  // that have the default device.
  plan::FleetFacts Facts() const;

 private:
  std::map<WorkerId, ConnectedWorker> workers_;
  std::map<WorkerId, int64_t> process_starts_;
  std::map<WorkerId, MonotonicTime> left_;
};

std::vector<scheduler::SlotOffer> Offers(const v1::Hello& hello);
std::vector<scheduler::HeldLease> HeldLeases(const v1::Hello& hello);
// What the worker says of itself and its clock minus ours.
store::WorkerRow ToRow(const ConnectedWorker& worker);
// connected = true; what slots do and what holds them is the caller's to fill.
v1::Worker ToProto(const ConnectedWorker& worker);
// A worker that is in the store but not connected.
v1::Worker ToProto(const store::WorkerInfo& worker);

}  // namespace dynbench::session
