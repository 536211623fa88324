#include "worker/agent/slot.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/pair_blocks.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/script_command.h"
#include "proto/dynbench/convert.h"
#include "worker/agent/lane_layout.h"
#include "worker/agent/messages.h"
#include "worker/agent/slot_run.h"
#include "worker/agent/slot_sharing.h"
#include "worker/engine/native_engine.h"
#include "worker/engine/outcome.h"
#include "worker/host/durable_file.h"

namespace dynbench::worker {

Slot::Slot(SlotShape shape, SlotServices services, SlotReports reports)
    : shape_(std::move(shape)), services_(std::move(services)), reports_(std::move(reports)) {}

Slot::~Slot() = default;

void Slot::Add(const v1::Lease& lease) {
  const LeaseEpoch epoch(lease.epoch());
  for (const v1::PlannedExperiment& experiment : lease.experiments()) {
    Planned planned{{ExperimentId(experiment.id()), epoch},
                    JobId(experiment.job()),
                    experiment.json(),
                    std::nullopt,
                    {experiment.phase_limits().begin(), experiment.phase_limits().end()},
                    LanesTaken(experiment.compile_weight(), shape_.lane_cores)};
    if (!planned.job) planned.job = JobId(epoch.value);  // a coordinator that does not say
    bool known = running_.count(planned.id) > 0;
    for (const Planned& other : queue_) known = known || other.id == planned.id;
    if (known) continue;
    if (!closed_.empty()) {
      reports_.returned(planned.id, closed_, /*infrastructure=*/false);
      continue;
    }
    queue_.push_back(std::move(planned));
  }
  StartNext();
}

void Slot::Revoke(LeaseEpoch epoch, const std::set<ExperimentId>& experiments,
                  const std::string& reason) {
  const auto meant = [&](const AttemptId& id) {
    return id.lease == epoch && experiments.count(id.experiment) > 0;
  };
  std::erase_if(queue_, [&](const Planned& planned) { return meant(planned.id); });
  for (const auto& [id, run] : running_) {
    if (!meant(id)) continue;
    run->dropped = true;
    if (run->in_engine) services_.engine->Cancel(id, reason);
  }
}

void Slot::Close(const std::string& reason) {
  closed_ = reason;
  for (const Planned& planned : std::exchange(queue_, {})) {
    reports_.returned(planned.id, reason, /*infrastructure=*/false);
  }
}

void Slot::Drain(const std::string& reason) {
  Close(reason);
  for (const auto& [id, run] : running_) {
    if (run->give_back.empty()) run->give_back = reason;
    if (run->in_engine) services_.engine->Cancel(id, reason);
  }
}

std::set<AttemptId> Slot::Running() const {
  std::set<AttemptId> ids;
  for (const auto& [id, run] : running_) ids.insert(id);
  return ids;
}

std::map<LeaseEpoch, std::set<ExperimentId>> Slot::Held() const {
  std::map<LeaseEpoch, std::set<ExperimentId>> held;
  for (const Planned& planned : queue_) held[planned.id.lease].insert(planned.id.experiment);
  for (const auto& [id, run] : running_) {
    if (!run->dropped) held[id.lease].insert(id.experiment);
  }
  return held;
}

std::shared_ptr<LiveLog> Slot::LogOf(const AttemptId& attempt) const {
  const auto it = running_.find(attempt);
  return it == running_.end() ? nullptr : it->second->log;
}

void Slot::StartNext() {
  // Nobody begins while another one measures.
  if (WindowTaken()) return;
  BeginCompanions();
  if (WindowTaken() || StartWaitingAlone()) return;
  while (!queue_.empty() && !WindowTaken() &&
         static_cast<int>(FreeLanes().size()) >= queue_.front().lanes && MayBegin(queue_.front())) {
    Planned planned = std::move(queue_.front());
    queue_.pop_front();
    Begin(std::move(planned));
  }
}

void Slot::Begin(Planned planned) {
  if (!planned.experiment) {
    auto experiment = plan::ExperimentFromJson(planned.json);
    if (!experiment.ok()) {
      return reports_.returned(planned.id,
                               absl::StrCat("this worker cannot read the experiment (another "
                                            "version?): ",
                                            std::string(experiment.status().message())),
                               /*infrastructure=*/true);
    }
    planned.experiment = *std::move(experiment);
  }
  const auto environment = services_.environment(planned.experiment->environment);
  if (!environment) {
    return reports_.returned(
        planned.id,
        absl::StrCat("this worker has no environment ", planned.experiment->environment),
        /*infrastructure=*/true);
  }
  auto run = std::make_shared<Run>();
  run->planned = std::move(planned);
  run->experiment = *std::move(run->planned.experiment);
  run->environment = *environment;
  run->started_at = UnixNow();
  run->lanes = run->planned.companions_lanes;
  if (run->lanes.empty()) {
    run->lanes = FreeLanes();
    run->lanes.resize(std::min<size_t>(run->lanes.size(), run->planned.lanes));
  }
  run->owns_slot = shape_.lanes > 1 && OwnsSlot(run->experiment);
  run->cache_key = CacheKey(*run);
  const AttemptId id = run->planned.id;
  running_[id] = run;
  TellActivity();
  v1::AttemptStarted started;
  *started.mutable_attempt() = proto::ToProto(id);
  started.set_started_unix_ms(run->started_at.ms);
  started.set_slot(shape_.index);
  reports_.started(started);
  MakeReady(run);
}

// Its folder, and the files that it needs.
void Slot::MakeReady(const std::shared_ptr<Run>& run) {
  services_.preparer->Post([this, run, alive = std::weak_ptr<bool>(alive_)] {
    const auto work = services_.folders->Make(run->planned.id);
    absl::Status status = work.status();
    if (work.ok()) run->work = *work;
    const plan::ModelSource& source = run->experiment.source;
    if (status.ok() && source.loader == "path") {
      auto file = services_.fetch_file(source.file_sha256);
      status = file.status();
      if (file.ok()) run->model_file = *std::move(file);
    }
    services_.loop->Post([this, run, status, alive] {
      if (!alive.expired()) OnPrepared(run, status);
    });
  });
}

std::string Slot::CacheKey(const Run& run) const {
  const auto profile = services_.profile(run.experiment.profile);
  // A profile that is not there is the engine's to refuse.
  return Caches::Key(run.experiment, run.environment,
                     profile.ok() ? *profile : plan::LaunchProfile(),
                     static_cast<int>(CoresOf(run).size()));
}

// The folder and the files are there: now the cache, which decides what is run first.
void Slot::OnPrepared(const std::shared_ptr<Run>& run, const absl::Status& status) {
  if (run->dropped) return Drop(run);
  if (!run->give_back.empty() || !status.ok()) {
    return OnReturned(run, std::string(status.message()));
  }
  absl::Status made = absl::OkStatus();
  switch (run->experiment.start) {
    case plan::Start::kCold:
      made = Caches::MakeCold(run->work.cache_dir);
      break;
    case plan::Start::kShared: {
      std::set<JobId> jobs;  // of other lanes, too
      for (const auto& [id, other] : running_) jobs.insert(other->planned.job);
      services_.caches->DropShared(shape_.index, jobs);
      auto dir = services_.caches->Shared(run->planned.job, shape_.index);
      made = dir.status();
      if (dir.ok()) run->shared_dir = *std::move(dir);
      break;
    }
    case plan::Start::kWarm:
      // Upstream's scripts run a model twice themselves for it, in one cache folder.
      if (run->experiment.engine == plan::kScriptEngine) {
        made = Caches::MakeCold(run->work.cache_dir);
        break;
      }
      if (!services_.caches->Has(run->cache_key)) {
        run->preparing = true;
        made = MakePrivateFolder(run->work.root + "/prepare/run");
        if (made.ok()) made = Caches::MakeCold(run->work.root + "/prepare/cache");
        break;
      }
      return Prepare(run);
  }
  if (!made.ok()) return OnReturned(run, std::string(made.message()));
  Launch(run);
}

// Copies the prepared cache, then launches.
void Slot::Prepare(const std::shared_ptr<Run>& run) {
  services_.preparer->Post([this, run, alive = std::weak_ptr<bool>(alive_)] {
    const absl::Status copied = services_.caches->CopyTo(run->cache_key, run->work.cache_dir);
    services_.loop->Post([this, run, copied, alive] {
      if (alive.expired()) return;
      if (run->dropped) return Drop(run);
      if (!copied.ok() || !run->give_back.empty()) {
        return OnReturned(run, std::string(copied.message()));
      }
      Launch(run);
    });
  });
}

void Slot::Launch(const std::shared_ptr<Run>& run) {
  if (WindowTaken()) {
    SetActivity(run, Activity::kWaitingForWindow);
    held_back_.push_back(run);
    return;
  }
  AttemptSpec spec;
  spec.id = run->planned.id;
  spec.experiment = run->experiment;
  spec.experiment_json = run->planned.json;
  spec.work_dir = run->preparing ? run->work.root + "/prepare/run" : run->work.run_dir;
  spec.cache_dir = run->preparing            ? run->work.root + "/prepare/cache"
                   : run->shared_dir.empty() ? run->work.cache_dir
                                             : run->shared_dir;
  spec.model_file = run->model_file;
  spec.cores = CoresOf(*run);
  spec.lanes = run->owns_slot || !shape_.freeze ? 1 : shape_.lanes;
  spec.cores_shared = !run->owns_slot && LanesShareCores(shape_.lane_cores, shape_.lanes);
  spec.device_uuid = shape_.device_uuid;
  spec.device_index = shape_.device_index;
  spec.memory_limit_bytes = shape_.process_memory_bytes;
  spec.precompiled_headers_dir =
      NativeEngine::PrecompiledHeadersDir(services_.state_dir, run->environment);
  spec.prepare = run->preparing;
  spec.window_blocks = run->window_blocks = BlocksFor(*run);
  // What was learned is of warm starts; the preparation of one is cold.
  if (!run->preparing) TakePhaseLimits(run->planned.phase_limits, &spec);
  const absl::Status made = MakePrivateFolder(spec.precompiled_headers_dir);
  if (!made.ok()) return OnReturned(run, std::string(made.message()));
  run->in_engine = true;
  run->off_device = false;
  // What was wrong with a first try, or with a preparation, is not of this one.
  run->compile_window_flags = run->window_flags = run->later_window_flags = 0;
  run->gpu_state.reset();
  if (LooksAtHost(*run)) run->host_settings = services_.host_settings();
  for (const auto& [id, other] : running_) {
    if (other == run || !other->in_engine) continue;
    run->had_company = other->had_company = true;
  }
  SetActivity(run, Activity::kZygoteStart);
  services_.engine->Start(std::move(spec), Observe(run));
  // After the start: the child need not wait for the disk.
  reports_.running_changed();
}

// The engine calls from its own thread; all but the log comes over to the agent's.
AttemptObserver Slot::Observe(const std::shared_ptr<Run>& run) {
  const auto on_loop = [this, alive = std::weak_ptr<bool>(alive_)](std::function<void()> task) {
    services_.loop->Post([alive, task = std::move(task)] {
      if (!alive.expired()) task();
    });
  };
  AttemptObserver observer;
  observer.phase = [this, run, on_loop](plan::Phase phase) {
    on_loop([this, run, phase] {
      run->phase = phase;
      // A phase does not end a window; the end of the window does.
      if (arbiter_.holder() != run->planned.id) SetActivity(run, Activity::kCompiling);
      if (!run->dropped) reports_.phase(run->planned.id, phase);
    });
  };
  observer.log = [log = run->log](int64_t, std::string_view bytes) { log->Append(bytes); };
  observer.window = [this, run, on_loop](DeviceUse use, std::function<void(int64_t)> granted) {
    on_loop([this, run, use, granted = std::move(granted)] { OnWindow(run, use, granted); });
  };
  observer.off_device = [this, run, on_loop] { on_loop([this, run] { OnOffDevice(run); }); };
  observer.runs_on = [this, run, on_loop] { on_loop([this, run] { OnRunsOn(run); }); };
  observer.look = [this, run, on_loop](std::function<void(const WindowState&)> answer) {
    on_loop([this, run, answer = std::move(answer)] { answer(LookInWindow(*run)); });
  };
  observer.window_done = [this, run, on_loop] {
    on_loop([this, run] { ReleaseWindow(run->planned.id); });
  };
  observer.finished = [this, run, on_loop](plan::Result result, std::string log) {
    on_loop([this, run, result = std::move(result), log = std::move(log)]() mutable {
      if (run->preparing) {
        OnCachePrepared(run, std::move(result), std::move(log));
      } else {
        OnFinished(run, std::move(result), std::move(log));
      }
    });
  };
  observer.stuck = [this, on_loop](std::vector<StuckProcess> processes) {
    on_loop([this, processes = std::move(processes)] { reports_.stuck(processes); });
  };
  observer.phase_limit = [this, run, on_loop](std::string reason, std::string log) {
    on_loop([this, run, reason = std::move(reason), log = std::move(log)] {
      OnPhaseLimit(run, reason, log);
    });
  };
  observer.returned = [this, run, on_loop](std::string reason) {
    on_loop([this, run, reason = std::move(reason)] { OnReturned(run, reason); });
  };
  return observer;
}

void Slot::OnCachePrepared(const std::shared_ptr<Run>& run, plan::Result result, std::string log) {
  run->in_engine = false;
  ReleaseWindow(run->planned.id);
  if (result.outcome != plan::Outcome::kPassed || run->dropped || !run->give_back.empty()) {
    result.notes.push_back("ended while the warm cache was prepared");
    return OnFinished(run, std::move(result), std::move(log));
  }
  run->preparing = false;
  run->prepared_here = true;
  run->notes.push_back("the warm cache was prepared for this attempt");
  services_.preparer->Post([this, run, alive = std::weak_ptr<bool>(alive_)] {
    services_.caches->Adopt(run->work.root + "/prepare/cache", run->cache_key);
    services_.loop->Post([this, run, alive] {
      if (alive.expired()) return;
      if (run->dropped) return Drop(run);
      if (services_.caches->Has(run->cache_key)) return Prepare(run);
      // A backend that caches nothing, or more than the store may hold: it runs all the same, and
      // its proof says that the start was not warm.
      run->notes.push_back("the preparation left no cache to copy");
      const absl::Status made = Caches::MakeCold(run->work.cache_dir);
      if (!made.ok() || !run->give_back.empty()) {
        return OnReturned(run, std::string(made.message()));
      }
      Launch(run);
    });
  });
}

void Slot::OnFinished(const std::shared_ptr<Run>& run, plan::Result result, std::string log) {
  run->in_engine = false;
  SetActivity(run, Activity::kCleaning);
  Part(run);
  if (run->dropped) {
    CleanUp(*run, result, log);
    return Forget(run);
  }
  if (result.outcome == plan::Outcome::kCancelled && !run->give_back.empty()) {
    CleanUp(*run, result, log);
    return OnReturned(run, run->give_back);
  }
  // Neither a good nor a bad result of an environment that was another one at the end.
  if (const absl::Status same = CheckFilesUnchanged(run->environment); !same.ok()) {
    CleanUp(*run, result, log);
    return OnReturned(run, absl::StrCat("the environment changed during the attempt: ",
                                        std::string(same.message())));
  }
  if (WantsToRunAlone(*run, result)) return RunAgainAlone(run);
  if (const auto why = HostChanged(*run, result); !why.empty()) return OnReturned(run, why);
  if (shape_.device == "cpu") BlameForMissingDevice(&result);
  if (InfrastructureFailed(result)) return OnInfrastructureFailed(run, result, log);
  device_memory_.Learn(run->experiment, result.metrics);
  AddDeviceState(run->gpu_state, &result);
  AddWindowFlags(run->compile_window_flags | run->window_flags | run->later_window_flags, &result);
  if (!shape_.tuning.empty()) result.in_force["host.tuning"] = shape_.tuning;
  if (!run->block_order.empty()) result.in_force[kBlockOrder] = run->block_order;
  result.notes.insert(result.notes.end(), run->notes.begin(), run->notes.end());
  KeepArtifacts(run, std::move(result), std::move(log));
}

// What people asked for is moved before the work folder goes, and named in the result.
void Slot::KeepArtifacts(const std::shared_ptr<Run>& run, plan::Result result, std::string log) {
  const std::vector<std::string>& kinds = run->experiment.diagnostics;
  const bool cache = result.outcome == plan::Outcome::kFailed &&
                     std::find(kinds.begin(), kinds.end(), "cache") != kinds.end();
  std::error_code none;
  if (!cache && !std::filesystem::exists(Artifacts::FolderOfChild(run->work), none)) {
    return Report(run, result, std::move(log));
  }
  services_.janitor->Post([this, services = services_, run, cache, result = std::move(result),
                           log = std::move(log), alive = std::weak_ptr<bool>(alive_)]() mutable {
    const KeptArtifacts kept = services.artifacts->Take(run->planned.id, run->work, cache);
    std::erase_if(result.artifacts, [&](const std::string& path) {
      return path.compare(0, run->work.root.size() + 1, run->work.root + "/") == 0;
    });
    result.artifacts.insert(result.artifacts.end(), kept.files.begin(), kept.files.end());
    result.notes.insert(result.notes.end(), kept.notes.begin(), kept.notes.end());
    services.loop->Post([this, run, result = std::move(result), log = std::move(log), alive] {
      if (!alive.expired()) Report(run, result, log);
    });
  });
}

void Slot::Report(const std::shared_ptr<Run>& run, const plan::Result& result, std::string log) {
  CleanUp(*run, result, log);
  if (run->dropped) return Forget(run);  // revoked while its files were moved
  v1::AttemptFinished finished;
  *finished.mutable_attempt() = proto::ToProto(run->planned.id);
  *finished.mutable_result() = proto::ToProto(result);
  finished.set_started_unix_ms(run->started_at.ms);
  finished.set_finished_unix_ms(UnixNow().ms);
  finished.set_log(std::move(log));
  reports_.finished(std::move(finished));
  reports_.ended(result);
  Forget(run);
}

void Slot::CleanUp(const Run& run, const plan::Result& result, const std::string& log) {
  const bool passed = result.outcome == plan::Outcome::kPassed;
  const bool keep = result.outcome == plan::Outcome::kFailed && !run.dropped;
  const bool adopt = passed && run.experiment.start == plan::Start::kCold;
  // What changed is beyond the key (a library of the system, an option's default). One that missed
  // right after its own preparation would miss the next one too.
  const bool missed = passed && run.experiment.start == plan::Start::kWarm && !run.prepared_here &&
                      result.start_proof.cache_misses > 0;
  const std::string note =
      absl::StrCat(plan::DisplayName(run.experiment), ": ", result.status, ": ", result.error);
  services_.janitor->Post([services = services_, work = run.work, key = run.cache_key, adopt,
                           missed, keep, log, note, experiment_json = run.planned.json] {
    if (adopt) services.caches->Adopt(work.cache_dir, key);
    if (missed) services.caches->Discard(key);
    if (keep) {
      services.folders->Keep(work, experiment_json, log, note);
    } else {
      services.folders->Remove(work);
    }
  });
}

// Revoked while it was not in the engine: nobody else removes its folder.
void Slot::Drop(const std::shared_ptr<Run>& run) {
  RemoveWork(*run);
  Forget(run);
}

void Slot::RemoveWork(const Run& run) {
  if (run.work.root.empty()) return;
  services_.janitor->Post(
      [services = services_, work = run.work] { services.folders->Remove(work); });
}

void Slot::Forget(const std::shared_ptr<Run>& run) {
  const AttemptId id = run->planned.id;
  if (running_.count(id) == 0) return;
  Part(run);
  running_.erase(id);
  ReleaseWindow(id);
  reports_.running_changed();
  StartNext();
  TellActivity();
}

void Slot::SetActivity(const std::shared_ptr<Run>& run, Activity activity) {
  run->activity = activity;
  TellActivity();
}

void Slot::TellActivity() {
  Activity now = Activity::kIdle;
  for (const auto& [id, run] : running_) now = std::max(now, run->activity);
  if (std::exchange(told_activity_, now) != now) reports_.activity(now);
}

}  // namespace dynbench::worker
