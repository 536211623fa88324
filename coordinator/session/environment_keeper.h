// The environments that dynbench makes for the fleet: which worker builds one, where it is sent,
// and what became of it. Orders are told until they are carried out: again at every Hello of a
// worker, so neither a restarted coordinator nor a killed worker forgets one.
//
// Files move on demand: the coordinator has what was sent to it, and a worker that has the
// environment (a holder) sends what another one lacks.
//
// Thread-compatible: the dispatcher's thread owns it. Changes of the store and orders to workers
// leave through the two functions that it is given.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/store/environments.h"
#include "coordinator/ingest/ingest.h"
#include "coordinator/session/wanted_objects.h"
#include "dynbench/v1/control.pb.h"
#include "dynbench/v1/session.pb.h"

namespace dynbench::session {

class EnvironmentKeeper {
 public:
  // A build whose worker died this often is given up: it may be what kills it.
  static constexpr int kDeaths = 2;
  static constexpr size_t kLogBytes = 1 << 20;  // the newest of a build's log
  static constexpr size_t kKeptLogBytes = 64 << 10;

  struct Services {
    // Does nothing when the worker is not connected.
    std::function<void(const WorkerId&, const v1::EnvironmentOrder&)> send;
    std::function<void(ingest::Change)> commit;
    std::function<UnixTimeMs()> now;
  };

  explicit EnvironmentKeeper(Services services) : services_(std::move(services)) {}

  void Load(const store::FleetEnvironments& rows);

  // ---- workers ----
  // `died`: its process is another one than before.
  void Joined(const WorkerId& worker, const v1::Hello& hello, bool died);
  void Left(const WorkerId& worker);
  // What it has registered changed.
  void Has(const WorkerId& worker,
           const google::protobuf::RepeatedPtrField<v1::Environment>& environments);
  void Report(const WorkerId& worker, const v1::EnvironmentReport& report);

  // ---- people ----
  // The environment as it stands; made again when it failed or was removed. `worker`: empty, or the
  // id of one that is connected. FailedPrecondition: none can make it.
  absl::StatusOr<v1::FleetEnvironment> Build(const std::string& recipe_json,
                                             const WorkerId& worker);
  absl::StatusOr<v1::FleetEnvironment> Derive(const v1::DeriveEnvironmentRequest& request,
                                              const WorkerId& worker);
  std::vector<v1::FleetEnvironment> List(bool with_removed) const;
  // NotFound: no such environment.
  absl::StatusOr<v1::GetEnvironmentLogReply> Log(const std::string& id, int64_t offset) const;
  // Removes these on every worker, as they are connected.
  void Drop(const std::vector<std::string>& ids, const std::string& reason);

 private:
  struct Place {
    std::string state, reason;
  };
  struct Entry {
    store::FleetEnvironmentRow row;
    // Of one that is removed: who has not said yet that nothing of it is left.
    std::map<WorkerId, Place> places;
    std::string progress;  // of the builder
    std::string log;
    int64_t log_begin = 0;  // offset of its first byte
    std::string base;       // of a derivation
    WantedObjects wanted;   // while it is ready
    std::string sending;    // progress of the holder
  };
  struct Worker {
    std::string host;
    bool capable = false;
    bool sends_objects = false;
    bool connected = false;
    std::vector<v1::Environment> environments;
  };

  absl::StatusOr<v1::FleetEnvironment> Want(store::FleetEnvironmentRow row, const WorkerId& worker,
                                            const std::function<bool(const Worker&)>& fits,
                                            const std::string& lacking);
  void TellAll(const WorkerId& worker);
  void Tell(Entry& entry, const WorkerId& worker);
  void Push(Entry& entry);
  void OnBuilder(Entry& entry, const WorkerId& worker, const v1::EnvironmentReport& report);
  void AppendLog(Entry& entry, const v1::EnvironmentReport& report);
  void SetPlace(Entry& entry, const WorkerId& worker, const std::string& state,
                const std::string& reason);
  void Fail(Entry& entry, const std::string& reason);
  void Save(const Entry& entry);
  v1::FleetEnvironment Describe(const Entry& entry) const;
  bool HasReady(const Worker& worker, const store::FleetEnvironmentRow& row) const;
  bool MayHave(const Entry& entry, const WorkerId& worker) const;
  void NoteChange(Entry& entry, const WorkerId& id, const Worker& worker);
  void Remove(Entry& entry, const std::string& reason);
  void OnRemoved(Entry& entry, const WorkerId& worker);
  // It has it, though the list of what it has registered has not come yet.
  void AddReady(const WorkerId& worker, const store::FleetEnvironmentRow& row);

  // ---- objects on demand (environment_keeper_objects.cc) ----
  WorkerId FindHolder(const Entry& entry) const;
  bool IsLacking(const Entry& entry, const WorkerId& worker) const;
  bool AnyLacking(const Entry& entry) const;
  void OnLacking(Entry& entry, const WorkerId& worker, const v1::EnvironmentReport& report);
  void OnSendEnded(Entry& entry, const WorkerId& worker, const v1::EnvironmentReport& report);
  void AskHolder(Entry& entry);
  void TellLacking(Entry& entry);
  void TellOld(Entry& entry);
  void ObjectsOfGone(Entry& entry, const WorkerId& gone);
  std::string HostOf(const WorkerId& id) const;
  Place DescribeLacking(const Entry& entry) const;

  const Services services_;
  std::map<std::string, Entry> entries_;
  std::map<WorkerId, Worker> workers_;
  // Begins at the time: a late answer to the process before is none to this one.
  int64_t last_ask_ = 0;
};

}  // namespace dynbench::session
