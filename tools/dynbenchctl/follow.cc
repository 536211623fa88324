#include "tools/dynbenchctl/follow.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "common/base/status.h"
#include "common/base/time.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/remote_source.h"

namespace dynbench::cli {
namespace {

constexpr int64_t kRetryMs = 300;

class Follower {
 public:
  Follower(const std::string& coordinator, const FollowOptions& options,
           const std::function<void(const JobView&, const std::vector<RowView>&)>& on_event)
      : coordinator_(coordinator), options_(options), on_event_(on_event) {
    if (options.timeout_s > 0) {
      deadline_ = MonotonicNow() + static_cast<int64_t>(options.timeout_s * kNsPerSecond);
    }
  }

  absl::StatusOr<FollowEnd> Run() {
    bool connected_once = false;
    MonotonicTime lost_since = MonotonicNow();
    while (true) {
      const absl::Status status = Watch(&connected_once, &lost_since);
      if (status.ok() && end_.job.job.id && end_.job.job.state != "running") return end_;
      if (TimedOut() &&
          (status.ok() || absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status))) {
        end_.timed_out = true;
        return end_;
      }
      const bool may_come_back = status.ok() || absl::IsUnavailable(status);
      if (!may_come_back || !connected_once ||
          MonotonicNow() - lost_since > kReconnectMs * kNsPerMs) {
        return status.ok() ? absl::UnavailableError("the coordinator stopped answering") : status;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kRetryMs));
    }
  }

 private:
  bool TimedOut() const { return deadline_ && MonotonicNow() >= *deadline_; }

  // One stream, from connecting to its end.
  absl::Status Watch(bool* connected_once, MonotonicTime* lost_since) {
    ASSIGN_OR_RETURN(const auto client, Client::Connect(coordinator_, options_.tls));
    v1::WatchJobRequest request;
    request.set_job(options_.job.value);
    request.set_rows(options_.rows);
    int64_t timeout_ms = 0;
    if (deadline_) timeout_ms = std::max<int64_t>(1, (*deadline_ - MonotonicNow()) / kNsPerMs);
    const auto call = Client::NewCall(timeout_ms);
    const auto stream = client->stub().WatchJob(call.get(), request);
    v1::WatchEvent event;
    absl::Status bad;
    while (bad.ok() && stream->Read(&event)) {
      *connected_once = true;
      bad = Take(event);
      *lost_since = MonotonicNow();
    }
    if (!bad.ok()) {
      call->TryCancel();
      return bad;
    }
    return client->FromGrpc(stream->Finish());
  }

  absl::Status Take(const v1::WatchEvent& event) {
    if (event.has_job()) end_.job = FromProto(event.job());
    std::vector<RowView> rows;
    for (const v1::ResultRow& message : event.rows()) {
      ASSIGN_OR_RETURN(RowView row, FromProto(message));
      rows.push_back(std::move(row));
    }
    on_event_(end_.job, rows);
    return absl::OkStatus();
  }

  const std::string coordinator_;
  const FollowOptions options_;
  const std::function<void(const JobView&, const std::vector<RowView>&)>& on_event_;
  std::optional<MonotonicTime> deadline_;
  FollowEnd end_;
};

}  // namespace

absl::StatusOr<FollowEnd> Follow(
    const std::string& coordinator, const FollowOptions& options,
    const std::function<void(const JobView&, const std::vector<RowView>&)>& on_event) {
  return Follower(coordinator, options, on_event).Run();
}

}  // namespace dynbench::cli
