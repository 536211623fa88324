#include "tests/bench/load/load_worker.h"

#include <utility>

#include "common/base/time.h"
#include "common/base/version.h"
#include "proto/dynbench/reconnect.h"

namespace dynbench::load {
namespace {

// What the coordinator's own protocol version is; a worker of the same tree.
constexpr int kProtocolVersion = 1;
constexpr int64_t kBeatMs = 5'000;  // the coordinator's

}  // namespace

v1::Result MakeResult(int samples) {
  v1::Result result;
  result.set_outcome("passed");
  result.set_status("measured");
  result.set_phase("report");
  result.set_blame("none");
  result.set_batch_size(8);
  result.set_weights("random");
  result.set_threads(1);
  result.set_cores("0");
  v1::Metrics& metrics = *result.mutable_metrics();
  metrics.set_speedup(1.5);
  metrics.set_abs_latency_ms(2.0);
  metrics.set_eager_latency_ms(3.0);
  metrics.set_compilation_latency_s(12.5);
  metrics.set_compression_ratio(0.9);
  metrics.set_eager_peak_memory_bytes(1.2e9);
  metrics.set_compiled_peak_memory_bytes(1.3e9);
  metrics.set_graph_breaks(0);
  metrics.set_unique_graphs(1);
  for (const char* phase : {"load", "eager", "compile", "measure"}) {
    v1::PhaseSpan& span = *result.add_phases();
    span.set_phase(phase);
    span.set_duration_ns(1'000'000'000);
  }
  for (int i = 0; i < samples; ++i) {
    result.add_eager_ns(3'000'000 + 977 * i);
    result.add_compiled_ns(2'000'000 + 541 * i);
  }
  result.mutable_start_proof()->set_proven(true);
  (*result.mutable_in_force())["inductor.triton.cudagraphs"] = "False";
  return result;
}

LoadWorker::LoadWorker(std::string id, v1::WorkerSession::Stub* stub, Shared* shared)
    : id_(std::move(id)), stub_(stub), shared_(shared) {}

void LoadWorker::Connect() {
  context_ = std::make_unique<grpc::ClientContext>();
  outgoing_.clear();
  last_heard_ = MonotonicNow();
  writing_ = reading_ = failed_ = welcomed_ = false;
  stream_ = stub_->AsyncConnect(context_.get(), &shared_->queue, &start_);
}

v1::WorkerMessage LoadWorker::Hello() const {
  v1::WorkerMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_protocol_version(kProtocolVersion);
  hello.set_worker_id(id_);
  hello.set_host("load");
  hello.set_version(kVersion);
  hello.set_inventory_json(R"({"arch": "x86_64", "hostname": "load"})");
  hello.set_takes_acknowledged_groups(true);
  hello.set_process_start_unix_ms(shared_->process_start_unix_ms);
  v1::Environment& environment = *hello.add_environments();
  environment.set_name("default");
  environment.set_hash("load");
  environment.add_devices("cpu");
  v1::Slot& slot = *hello.add_slots();
  slot.set_device("cpu");
  slot.set_cores("0");
  slot.set_accepting(true);
  for (const auto& [epoch, held] : leases_) {
    v1::HeldLease& lease = *hello.add_held();
    lease.set_epoch(epoch);
    for (const auto& [experiment, sent] : held.experiments) lease.add_experiments(experiment);
  }
  return message;
}

void LoadWorker::Send(v1::WorkerMessage message) {
  if (stream_ == nullptr || failed_) return;
  outgoing_.push_back(std::move(message));
  if (!writing_) WriteNext();
}

void LoadWorker::WriteNext() {
  writing_ = true;
  stream_->Write(outgoing_.front(), &write_);
}

void LoadWorker::Proceed(Op op, bool ok) {
  switch (op) {
    case Op::kStart:
      if (!ok) {
        failed_ = true;
        return Fail();
      }
      reading_ = true;
      stream_->Read(&incoming_, &read_);
      return Send(Hello());
    case Op::kRead:
      reading_ = false;
      if (!ok) return Fail();
      OnMessage();
      incoming_.Clear();
      reading_ = true;
      return stream_->Read(&incoming_, &read_);
    case Op::kWrite:
      writing_ = false;
      if (!ok || failed_) return Fail();
      outgoing_.pop_front();
      if (!outgoing_.empty()) WriteNext();
      return;
    case Op::kFinish:
      stream_.reset();
      if (!shared_->stopping) RedialLater();
      return;
  }
}

void LoadWorker::Fail() {
  if (!std::exchange(failed_, true)) context_->TryCancel();
  if (std::exchange(welcomed_, false)) {
    --shared_->totals.connected;
    ++shared_->totals.lost_streams;
  }
  if (writing_ || reading_) return;
  stream_->Finish(&status_, &finish_);
}

void LoadWorker::RedialLater() {
  const double random = std::uniform_real_distribution<double>(0, 1)(shared_->random);
  const int64_t delay_ms = proto::ReconnectDelayMs(failures_++, random);
  shared_->redials.emplace(MonotonicNow() + delay_ms * kNsPerMs, this);
}

void LoadWorker::Stop() {
  if (context_ != nullptr) context_->TryCancel();
}

void LoadWorker::Beat() {
  if (stream_ == nullptr) return;
  const int64_t limit_ms = welcomed_ ? proto::kMissedBeats * kBeatMs : proto::kWelcomeLimitMs;
  if (MonotonicNow() - last_heard_ > limit_ms * kNsPerMs) context_->TryCancel();
  if (!welcomed_) return;
  v1::WorkerMessage message;
  message.mutable_beat()->set_state_free_bytes(int64_t{1} << 40);
  Send(std::move(message));
}

void LoadWorker::OnMessage() {
  last_heard_ = MonotonicNow();
  switch (incoming_.message_case()) {
    case v1::CoordinatorMessage::kWelcome:
      if (incoming_.welcome().verdict() == v1::Welcome::REFUSED) {
        ++shared_->totals.refused;
        return;
      }
      welcomed_ = true;
      failures_ = 0;
      ++shared_->totals.connected;
      for (const auto& [epoch, held] : leases_) {  // as from a spool
        for (const auto& [experiment, sent] : held.experiments) {
          if (sent) shared_->ready.push_back({this, experiment, epoch});
        }
      }
      return;
    case v1::CoordinatorMessage::kLease:
      return OnLease(incoming_.lease());
    case v1::CoordinatorMessage::kAcknowledged:
      OnAcknowledged(incoming_.acknowledged().attempt());
      for (const v1::AttemptId& attempt : incoming_.acknowledged().more()) OnAcknowledged(attempt);
      return;
    case v1::CoordinatorMessage::kRevoke:
      return OnRevoke(incoming_.revoke());
    default:
      return;
  }
}

void LoadWorker::OnLease(const v1::Lease& lease) {
  if (freed_ns_ != 0) shared_->totals.assignment_ns.push_back(MonotonicNow().ns - freed_ns_);
  freed_ns_ = 0;
  ++shared_->totals.leases;
  shared_->totals.leased += lease.experiments_size();
  Held& held = leases_[lease.epoch()];
  for (const v1::PlannedExperiment& planned : lease.experiments()) {
    held.experiments[planned.id()] = false;
    shared_->ready.push_back({this, planned.id(), lease.epoch()});
  }
}

void LoadWorker::Complete(int64_t experiment, int64_t lease) {
  const auto held = leases_.find(lease);
  if (held == leases_.end() || held->second.experiments.count(experiment) == 0) return;
  const int64_t now_ms = UnixNow().ms;
  if (shared_->starts) {
    v1::WorkerMessage started;
    started.mutable_started()->mutable_attempt()->set_experiment(experiment);
    started.mutable_started()->mutable_attempt()->set_lease(lease);
    started.mutable_started()->set_started_unix_ms(now_ms);
    Send(std::move(started));
  }
  held->second.experiments[experiment] = true;
  v1::WorkerMessage message;
  v1::AttemptFinished& finished = *message.mutable_finished();
  finished.mutable_attempt()->set_experiment(experiment);
  finished.mutable_attempt()->set_lease(lease);
  *finished.mutable_result() = shared_->result;
  finished.set_started_unix_ms(now_ms);
  finished.set_finished_unix_ms(now_ms);
  Send(std::move(message));
}

void LoadWorker::Drop(int64_t experiment, int64_t lease) {
  const auto held = leases_.find(lease);
  if (held == leases_.end()) return;
  held->second.experiments.erase(experiment);
  if (held->second.experiments.empty()) leases_.erase(held);
}

void LoadWorker::OnAcknowledged(const v1::AttemptId& attempt) {
  ++shared_->totals.acknowledged;
  Drop(attempt.experiment(), attempt.lease());
  if (leases_.empty()) freed_ns_ = MonotonicNow().ns;
}

void LoadWorker::OnRevoke(const v1::Revoke& revoke) {
  shared_->totals.revoked += revoke.experiments_size();
  for (const int64_t experiment : revoke.experiments()) Drop(experiment, revoke.epoch());
}

}  // namespace dynbench::load
