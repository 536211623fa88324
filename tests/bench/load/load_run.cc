#include "tests/bench/load/load_run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "proto/dynbench/reconnect.h"

namespace dynbench::load {
namespace {

constexpr int64_t kTickNs = 1'000'000;        // between two looks at the clock, when nothing comes
constexpr int64_t kEndNs = 5 * kNsPerSecond;  // for the streams to end

double Seconds(int64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

void Tell(const nlohmann::json& event) {
  std::puts(event.dump().c_str());
  std::fflush(stdout);
}

double PercentileMs(const std::vector<int64_t>& sorted_ns, double share) {
  if (sorted_ns.empty()) return -1;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted_ns.size())));
  return static_cast<double>(sorted_ns[std::max<size_t>(rank, 1) - 1]) / kNsPerMs;
}

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& coordinator, int number) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("dynbench.load.connection", number);  // channels that differ share no socket
  proto::SetReconnect(&arguments);
  return grpc::CreateCustomChannel(coordinator, grpc::InsecureChannelCredentials(), arguments);
}

bool StdinEnded() {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  if (poll(&in, 1, 0) <= 0) return false;
  char byte;
  return read(STDIN_FILENO, &byte, 1) <= 0;
}

}  // namespace

Run::Run(const Settings& settings) : settings_(settings) {
  shared_.result = MakeResult(settings_.samples);
  shared_.starts = settings_.starts;
  shared_.process_start_unix_ms = UnixNow().ms;
  const int connections = settings_.connections > 0 ? settings_.connections : settings_.workers;
  for (int i = 0; i < connections; ++i) {
    stubs_.push_back(v1::WorkerSession::NewStub(MakeChannel(settings_.coordinator, i)));
  }
  for (int i = 0; i < settings_.workers; ++i) {
    workers_.push_back(
        std::make_unique<LoadWorker>(absl::StrFormat("load-%05d", i),
                                     stubs_[static_cast<size_t>(i % connections)].get(), &shared_));
  }
}

void Run::Go() {
  begun_ = driven_ = disconnected_at_ = second_began_ = MonotonicNow();
  for (const auto& worker : workers_) worker->Connect();
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    const auto until = std::chrono::system_clock::now() + std::chrono::nanoseconds(kTickNs);
    const auto next = shared_.queue.AsyncNext(&tag, &ok, until);
    if (next == grpc::CompletionQueue::GOT_EVENT) {
      const auto* event = static_cast<LoadWorker::Tag*>(tag);
      event->worker->Proceed(event->op, ok);
    }
    if (settings_.rate == 0) Release(driven_);
    const MonotonicTime now = MonotonicNow();
    if (now - driven_ < kTickNs) continue;
    Drive(now);
    if (Ended(now)) break;
  }
  StopAll();
  PrintSummary();
}

void Run::Redial(MonotonicTime now) {
  auto& redials = shared_.redials;
  while (!redials.empty() && redials.begin()->first <= now) {
    LoadWorker* worker = redials.begin()->second;
    redials.erase(redials.begin());
    worker->Connect();
  }
}

void Run::Drive(MonotonicTime now) {
  Redial(now);
  WatchConnections(now);
  WatchRate(now);
  BeatSome(now);
  if (settings_.rate > 0) Release(now);
  driven_ = now;
}

void Run::Release(MonotonicTime now) {
  auto& ready = shared_.ready;
  if (settings_.rate < 0) return ready.clear();
  size_t count = ready.size();
  if (settings_.rate > 0) {
    allowance_ = std::min(allowance_ + Seconds(now - driven_) * settings_.rate, settings_.rate);
    count = std::min(count, static_cast<size_t>(allowance_));
    allowance_ -= static_cast<double>(count);
  }
  if (count > 0 && first_result_.ns == 0) first_result_ = MonotonicNow();
  for (size_t i = 0; i < count; ++i) {
    const Ready next = ready.front();
    ready.pop_front();
    next.worker->Complete(next.experiment, next.lease);
  }
}

// Evenly over the interval, as workers that started at different times do.
void Run::BeatSome(MonotonicTime now) {
  beats_due_ += static_cast<double>(now - driven_) / kNsPerMs /
                static_cast<double>(settings_.beat_interval_ms) *
                static_cast<double>(workers_.size());
  for (; beats_due_ >= 1; beats_due_ -= 1) {
    workers_[next_to_beat_]->Beat();
    next_to_beat_ = (next_to_beat_ + 1) % workers_.size();
  }
}

void Run::WatchConnections(MonotonicTime now) {
  const bool all = shared_.totals.connected == static_cast<int64_t>(workers_.size());
  if (all && !all_connected_) {
    if (connected_at_.ns == 0) connected_at_ = now;
    Tell({{"event", "connected"},
          {"workers", shared_.totals.connected},
          {"leased", shared_.totals.leased},
          {"revoked", shared_.totals.revoked},
          {"seconds", Seconds(now - disconnected_at_)}});
  }
  if (!all && all_connected_) disconnected_at_ = now;
  all_connected_ = all;
}

void Run::WatchRate(MonotonicTime now) {
  const int64_t acknowledged = shared_.totals.acknowledged;
  if (acknowledged != seen_acknowledged_) last_acknowledged_ = now;
  seen_acknowledged_ = acknowledged;
  if (now - second_began_ < kNsPerSecond) return;
  per_second_.push_back(static_cast<double>(acknowledged - second_acknowledged_) /
                        Seconds(now - second_began_));
  second_began_ = now;
  second_acknowledged_ = acknowledged;
}

bool Run::Ended(MonotonicTime now) {
  if (settings_.results > 0 && shared_.totals.acknowledged >= settings_.results) return true;
  if (settings_.seconds > 0 && connected_at_.ns != 0 &&
      Seconds(now - connected_at_) >= settings_.seconds) {
    return true;
  }
  return StdinEnded();
}

void Run::StopAll() {
  shared_.stopping = true;
  for (const auto& worker : workers_) worker->Stop();
  const auto until = std::chrono::system_clock::now() + std::chrono::nanoseconds(kEndNs);
  void* tag = nullptr;
  bool ok = false;
  const auto over = [this] {
    return std::all_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->over(); });
  };
  while (shared_.queue.AsyncNext(&tag, &ok, until) == grpc::CompletionQueue::GOT_EVENT) {
    const auto* event = static_cast<LoadWorker::Tag*>(tag);
    event->worker->Proceed(event->op, ok);
    if (event->op == LoadWorker::Op::kFinish && over()) break;
  }
}

void Run::PrintSummary() const {
  const Totals& totals = shared_.totals;
  std::vector<int64_t> assignment = totals.assignment_ns;
  std::sort(assignment.begin(), assignment.end());
  const double elapsed_s = Seconds(last_acknowledged_ - first_result_);
  Tell({{"event", "summary"},
        {"acknowledged", totals.acknowledged},
        {"elapsed_s", elapsed_s},
        {"per_s", elapsed_s > 0 ? static_cast<double>(totals.acknowledged) / elapsed_s : 0},
        {"per_second", per_second_},
        {"leases", totals.leases},
        {"leased", totals.leased},
        {"revoked", totals.revoked},
        {"lost_streams", totals.lost_streams},
        {"refused", totals.refused},
        {"assignments", assignment.size()},
        {"assign_p50_ms", PercentileMs(assignment, 0.5)},
        {"assign_p99_ms", PercentileMs(assignment, 0.99)},
        {"assign_max_ms", PercentileMs(assignment, 1)}});
}

}  // namespace dynbench::load
