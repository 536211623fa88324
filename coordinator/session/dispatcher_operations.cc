// What operators decide, what workers say of their health, and where slot time goes. See
// dispatcher.h for the order of things.
#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "common/store/holds.h"
#include "common/store/slot_time.h"
#include "coordinator/session/dispatcher.h"
#include "spdlog/spdlog.h"

namespace dynbench::session {
namespace {

// Open spans grow in the store once a minute: what a killed coordinator loses of the accounts.
constexpr int64_t kOpenSpansNs = 60 * kNsPerSecond;
// Spans in one change, so that the writer is free for others soon.
constexpr size_t kSpansOfChange = 100;

bool HasSlot(const ConnectedWorker& worker, int index) {
  return std::any_of(worker.hello.slots().begin(), worker.hello.slots().end(),
                     [&](const v1::Slot& slot) { return slot.index() == index; });
}

absl::Status CheckSlot(const ConnectedWorker& worker, std::optional<int> slot) {
  if (!slot || HasSlot(worker, *slot)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("worker ", worker.id.value, " has no slot ",
                                                    *slot, "; it has ", worker.hello.slots_size(),
                                                    ", counted from 0"));
}

absl::Status NeedsReason(const std::string& reason) {
  if (reason.find_first_not_of(" \t\n") != std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError("say why: --reason TEXT (it is shown until the release)");
}

}  // namespace

absl::StatusOr<ConnectedWorker*> Dispatcher::FindNamed(const std::string& name) {
  if (ConnectedWorker* worker = fleet_.Find(WorkerId(name))) return worker;
  ConnectedWorker* of_host = nullptr;
  for (auto& [id, worker] : fleet_.workers()) {
    if (worker.hello.host() != name) continue;
    if (of_host != nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("host ", name, " has more than one worker; give the id of one (",
                       of_host->id.value, ", ", id.value, ", …)"));
    }
    of_host = &worker;
  }
  if (of_host != nullptr) return of_host;
  return absl::FailedPreconditionError(
      absl::StrCat("no worker ", name, " is connected; dynbenchctl workers lists them"));
}

void Dispatcher::Decide(const WorkerId& worker, const ingest::Change& change,
                        std::function<void(ConnectedWorker*)> apply, WorkerAnswer done) {
  ingest_->Apply(change, [this, worker, apply = std::move(apply),
                          done = std::move(done)](const absl::Status& status) {
    loop_->Post([this, worker, apply, done, status] {
      if (!status.ok()) return done(status);
      ConnectedWorker* connected = fleet_.Find(worker);
      apply(connected);
      if (connected == nullptr) {
        return done(absl::FailedPreconditionError(absl::StrCat(
            "worker ", worker.value, " left meanwhile; it is kept and told when it is back")));
      }
      OffersChanged(*connected);
      done(DescribeWorker(*connected, Busy()));
    });
  });
}

void Dispatcher::DrainWorker(std::string name, int64_t deadline_ms, std::string reason,
                             WorkerAnswer done) {
  loop_->Post([this, name = std::move(name), deadline_ms, reason = std::move(reason),
               done = std::move(done)] {
    const auto worker = FindNamed(name);
    if (!worker.ok()) return done(worker.status());
    if (deadline_ms < 0) return done(absl::InvalidArgumentError("the deadline is in the past"));
    const store::DrainRow row{(*worker)->id,
                              reason.empty() ? "drained by an operator" : reason,
                              {unix_now().ms + deadline_ms}};
    Decide(
        row.worker,
        [row, at = unix_now()](store::Database& db) {
          RETURN_IF_ERROR(store::PutDrain(db, row, at));
          return store::RecordEvent(db, "worker_drained", row.worker.value, row.reason, at);
        },
        [this, row](const ConnectedWorker* connected) {
          holds_.Drain(row);
          if (connected != nullptr) SendDrain(*connected);
        },
        done);
  });
}

void Dispatcher::ReleaseWorker(std::string name, std::optional<int> slot, WorkerAnswer done) {
  loop_->Post([this, name = std::move(name), slot, done = std::move(done)] {
    const auto worker = FindNamed(name);
    if (!worker.ok()) return done(worker.status());
    if (auto status = CheckSlot(**worker, slot); !status.ok()) return done(status);
    const WorkerId id = (*worker)->id;
    std::vector<SlotId> slots;
    for (const SlotId& held : holds_.QuarantinedSlots(id)) {
      if (!slot || held.index == *slot) slots.push_back(held);
    }
    Decide(
        id,
        [id, slot, slots, at = unix_now()](store::Database& db) {
          for (const SlotId& held : slots) RETURN_IF_ERROR(store::DeleteQuarantine(db, held));
          if (!slot) RETURN_IF_ERROR(store::DeleteDrain(db, id));
          return store::RecordEvent(db, "worker_released", id.value,
                                    slot ? absl::StrCat("slot ", *slot) : "", at);
        },
        [this, id, slot, slots](ConnectedWorker* connected) {
          for (const SlotId& held : slots) holds_.Release(held);
          if (!slot) holds_.Release(id);
          if (connected == nullptr) return;
          connected->failed_environments.clear();
          v1::CoordinatorMessage message;
          if (slot) {
            message.mutable_preflight()->set_slot(*slot);
          } else {
            message.mutable_release();
          }
          connected->link->Send(std::move(message));
        },
        done);
  });
}

void Dispatcher::QuarantineWorker(std::string name, std::optional<int> slot, std::string reason,
                                  WorkerAnswer done) {
  loop_->Post([this, name = std::move(name), slot, reason = std::move(reason),
               done = std::move(done)] {
    const auto worker = FindNamed(name);
    if (!worker.ok()) return done(worker.status());
    for (const absl::Status& status : {NeedsReason(reason), CheckSlot(**worker, slot)}) {
      if (!status.ok()) return done(status);
    }
    std::vector<store::QuarantineRow> rows;
    for (const v1::Slot& offered : (*worker)->hello.slots()) {
      if (slot && offered.index() != *slot) continue;
      rows.push_back({{(*worker)->id, offered.index()}, reason, kByOperator, unix_now()});
    }
    Decide((*worker)->id,
           [rows, id = (*worker)->id, at = unix_now()](store::Database& db) {
             for (const auto& row : rows) RETURN_IF_ERROR(store::PutQuarantine(db, row));
             return store::RecordEvent(db, "worker_quarantined", id.value, rows.front().reason, at);
           },
           [this, rows](const ConnectedWorker*) {
             for (const store::QuarantineRow& row : rows) holds_.Quarantine(row);
           },
           done);
  });
}

void Dispatcher::Quarantine(const SlotId& slot, const std::string& reason) {
  if (holds_.QuarantineOf(slot) != nullptr) return;
  spdlog::warn("worker {} slot {} is quarantined: {}", slot.worker.value, slot.index, reason);
  const store::QuarantineRow row{slot, reason, kByFailures, unix_now()};
  holds_.Quarantine(row);
  Commit(
      absl::StrCat("quarantine of worker ", slot.worker.value),
      [row](store::Database& db) {
        RETURN_IF_ERROR(store::PutQuarantine(db, row));
        return store::RecordEvent(db, "worker_quarantined", row.slot.worker.value, row.reason,
                                  row.at);
      },
      nullptr);
  const ConnectedWorker* worker = fleet_.Find(slot.worker);
  if (worker == nullptr) return;
  OffersChanged(*worker);
  v1::CoordinatorMessage message;
  message.mutable_preflight()->set_slot(slot.index);
  worker->link->Send(std::move(message));
}

std::vector<scheduler::SlotOffer> Dispatcher::OffersOf(const ConnectedWorker& worker) const {
  std::vector<scheduler::SlotOffer> offers = Offers(worker.hello);
  for (int i = 0; i < worker.hello.slots_size(); ++i) {
    scheduler::SlotOffer& offer = offers[i];
    const SlotHold hold = holds_.Of(worker.id, worker.hello.slots(i));
    offer.accepting = hold.state.empty();
    offer.reason = hold.state.empty() || hold.state == "disk_low"
                       ? hold.reason
                       : absl::StrCat(hold.state, ": ", hold.reason);
    const auto failed = worker.failed_environments.find(offer.index);
    if (failed == worker.failed_environments.end()) continue;
    offer.failing = {failed->second.begin(), failed->second.end()};
  }
  return offers;
}

std::map<int, std::string> Dispatcher::StatesOf(const ConnectedWorker& worker) const {
  std::map<int, std::string> states;
  for (const v1::Slot& slot : worker.hello.slots()) {
    states[slot.index()] = holds_.Of(worker.id, slot).state;
  }
  return states;
}

void Dispatcher::OffersChanged(const ConnectedWorker& worker) {
  slot_times_.Held(worker.id, StatesOf(worker), unix_now());
  for (auto slot = stopped_slots_.begin(); slot != stopped_slots_.end();) {
    if (slot->worker != worker.id || holds_.QuarantineOf(*slot) != nullptr) {
      ++slot;
      continue;
    }
    Feed(scheduler::Released{slot->worker, slot->index});
    slot = stopped_slots_.erase(slot);
  }
  Feed(scheduler::SlotsChanged{worker.id, OffersOf(worker)});
}

void Dispatcher::SendDrain(const ConnectedWorker& worker) {
  const store::DrainRow* drain = holds_.DrainOf(worker.id);
  if (drain == nullptr) return;
  v1::CoordinatorMessage message;
  message.mutable_drain()->set_deadline_ms(
      std::max<int64_t>(0, drain->deadline.ms - unix_now().ms));
  message.mutable_drain()->set_reason(drain->reason);
  worker.link->Send(std::move(message));
}

void Dispatcher::RepeatHolds(const ConnectedWorker& worker) {
  for (const SlotId& slot : holds_.QuarantinedSlots(worker.id)) {
    if (holds_.QuarantineOf(slot)->source != kByFailures) continue;
    v1::CoordinatorMessage message;  // what its checks said meanwhile was not heard
    message.mutable_preflight()->set_slot(slot.index);
    worker.link->Send(std::move(message));
  }
  if (holds_.DrainOf(worker.id) != nullptr) return SendDrain(worker);
  const auto& slots = worker.hello.slots();
  if (std::none_of(slots.begin(), slots.end(),
                   [](const v1::Slot& slot) { return slot.state() == "drained"; })) {
    return;
  }
  v1::CoordinatorMessage message;  // a worker that is stopping passes over it
  message.mutable_release();
  worker.link->Send(std::move(message));
}

// An empty environment stands for the slot itself.
void Dispatcher::OnPreflight(ConnectedWorker& worker, const v1::PreflightReport& report) {
  const SlotId slot{worker.id, report.slot()};
  if (!report.passed()) {
    spdlog::warn("worker {} slot {}{} fails its check \"{}\": {}", worker.id.value, report.slot(),
                 report.environment().empty() ? "" : " environment " + report.environment(),
                 report.failed_check(), report.reason());
    Commit(
        "event",
        [id = worker.id, report, at = unix_now()](store::Database& db) {
          return store::RecordEvent(db, "preflight_failed", id.value,
                                    absl::StrCat("slot ", report.slot(), " ", report.environment(),
                                                 " ", report.failed_check(), ": ", report.reason()),
                                    at);
        },
        nullptr);
  }
  auto& failed = worker.failed_environments[report.slot()];
  if (!report.environment().empty()) {
    if (report.passed()) {
      failed.erase(report.environment());
    } else {
      failed[report.environment()] = report.reason();
    }
  }
  const store::QuarantineRow* held = holds_.QuarantineOf(slot);
  if (held != nullptr && held->source == kByFailures && report.passed() &&
      report.environment().empty()) {
    spdlog::info("worker {} slot {} passes its checks and takes work again", worker.id.value,
                 report.slot());
    holds_.Release(slot);
    Commit(
        "end of a quarantine",
        [slot](store::Database& db) { return store::DeleteQuarantine(db, slot); }, nullptr);
  }
  OffersChanged(worker);
}

void Dispatcher::OnActivity(const ConnectedWorker& worker, const v1::SlotActivity& activity) {
  slot_times_.Does({worker.id, activity.slot()}, activity.activity(),
                   {activity.since_unix_ms() - worker.clock_skew_ms}, unix_now());
}

void Dispatcher::KeepSlotTimes(bool open) {
  if (open) next_open_spans_ = now() + kOpenSpansNs;
  const std::vector<store::SlotSpan> spans = slot_times_.Take(unix_now(), open);
  for (size_t first = 0; first < spans.size(); first += kSpansOfChange) {
    const size_t end = std::min(spans.size(), first + kSpansOfChange);
    Commit(
        "slot time",
        [part = std::vector<store::SlotSpan>(spans.begin() + static_cast<std::ptrdiff_t>(first),
                                             spans.begin() + static_cast<std::ptrdiff_t>(end))](
            store::Database& db) { return store::RecordSpans(db, part); },
        nullptr);
  }
}

void Dispatcher::FlushActivity(std::function<void(const absl::Status&)> done) {
  loop_->Post([this, done = std::move(done)] {
    KeepSlotTimes(/*open=*/true);
    // Changes are applied in order: when this one is committed, those before it are.
    ingest_->Apply([](store::Database&) { return absl::OkStatus(); }, done);
  });
}

void Dispatcher::ImportResult(v1::AttemptFinished finished, Imported done) {
  auto shared = std::make_shared<v1::AttemptFinished>(std::move(finished));
  loop_->Post([this, shared, done = std::move(done)] { OnFinished(WorkerId(), *shared, done); });
}

std::map<SlotId, std::string> Dispatcher::Busy() const {
  std::map<SlotId, std::string> busy;
  for (const LiveExperiment* live : live_.Running()) {
    busy[{live->worker, live->slot}] = live->name;
  }
  return busy;
}

v1::Worker Dispatcher::DescribeWorker(const ConnectedWorker& connected,
                                      const std::map<SlotId, std::string>& busy) const {
  v1::Worker worker = ToProto(connected);
  int quarantined = 0, running = 0;
  for (int i = 0; i < worker.slots_size(); ++i) {
    v1::WorkerSlot& slot = *worker.mutable_slots(i);
    const SlotId id{connected.id, slot.index()};
    const SlotHold hold = holds_.Of(connected.id, connected.hello.slots(i));
    slot.set_accepting(hold.state.empty());
    slot.set_state(hold.state);
    slot.set_reason(hold.reason);
    slot.set_activity(slot_times_.ActivityOf(id));
    const auto failed = connected.failed_environments.find(slot.index());
    if (failed != connected.failed_environments.end()) {
      for (const auto& [name, why] : failed->second) {
        const std::string text = absl::StrCat("environment ", name, " fails: ", why);
        slot.set_reason(slot.reason().empty() ? text : absl::StrCat(slot.reason(), "; ", text));
      }
    }
    if (const auto found = busy.find(id); found != busy.end()) {
      slot.set_busy_with(found->second);
      ++running;
    }
    if (hold.state != "quarantined") continue;
    ++quarantined;
    worker.set_reason(hold.reason);
  }
  if (const store::DrainRow* drain = holds_.DrainOf(connected.id)) {
    worker.set_state(running > 0 ? "draining" : "drained");
    worker.set_reason(drain->reason);
  } else if (quarantined > 0 && quarantined == worker.slots_size()) {
    worker.set_state("quarantined");
  } else {
    worker.clear_reason();
  }
  return worker;
}

}  // namespace dynbench::session
