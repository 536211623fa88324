#include "coordinator/control/operations.h"

#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/store/backup.h"
#include "common/store/holds.h"
#include "common/store/slot_time.h"
#include "coordinator/session/rpc_status.h"
#include "spdlog/spdlog.h"

namespace dynbench::control {
namespace {

using session::ToGrpc;

// Reads one result, hands it to the dispatcher, and reads on when it is committed: a client cannot
// fill the memory, and results take effect in the order of its files.
class Import : public grpc::ServerReadReactor<v1::ImportResultsChunk> {
 public:
  Import(const Context* context, v1::ImportResultsReply* reply) : context_(context), reply_(reply) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    v1::AttemptFinished finished;
    if (!finished.ParseFromString(chunk_.finished()) || finished.attempt().experiment() == 0) {
      Refuse("it is no result of this version");
      return StartRead(&chunk_);
    }
    context_->dispatcher->ImportResult(std::move(finished),
                                       [this](const absl::StatusOr<store::Acceptance>& accepted) {
                                         if (accepted.ok() || absl::IsNotFound(accepted.status())) {
                                           Count(accepted);
                                           return StartRead(&chunk_);
                                         }
                                         Finish(ToGrpc(Annotate(accepted.status(), chunk_.name())));
                                       });
  }

  void OnDone() override { delete this; }

 private:
  void Refuse(const std::string& why) {
    reply_->add_refused(absl::StrCat(chunk_.name(), ": ", why));
  }

  void Count(const absl::StatusOr<store::Acceptance>& accepted) {
    if (!accepted.ok()) {
      return Refuse("this database never gave its lease; it is of another coordinator");
    }
    switch (*accepted) {
      case store::Acceptance::kCounted:
        return reply_->set_counted(reply_->counted() + 1);
      case store::Acceptance::kDuplicate:
        return reply_->set_duplicate(reply_->duplicate() + 1);
      case store::Acceptance::kSuperseded:
        return reply_->set_superseded(reply_->superseded() + 1);
    }
  }

  const Context* const context_;
  v1::ImportResultsReply* const reply_;
  v1::ImportResultsChunk chunk_;
};

}  // namespace

absl::Status LoadIdle(store::Database& db, const v1::GetIdleRequest& request,
                      v1::IdleReport* reply) {
  const int64_t until = request.until_unix_ms() == 0 ? UnixNow().ms : request.until_unix_ms();
  if (request.since_unix_ms() >= until) {
    return absl::InvalidArgumentError("the span of time ends before it begins");
  }
  ASSIGN_OR_RETURN(const auto rows, store::SecondsByReason(db, {request.since_unix_ms()}, {until}));
  for (const store::SlotSeconds& row : rows) {
    v1::IdleSpan& span = *reply->add_spans();
    span.set_worker(row.slot.worker.value);
    span.set_slot(row.slot.index);
    span.set_reason(row.reason);
    span.set_seconds(row.seconds);
  }
  return absl::OkStatus();
}

absl::Status MakeBackup(const Context& context, const v1::BackupRequest& request,
                        v1::BackupReply* reply) {
  ASSIGN_OR_RETURN(const auto source,
                   store::Database::Open(context.database, store::Access::kReadOnly));
  const MonotonicTime start = MonotonicNow();
  ASSIGN_OR_RETURN(const int64_t bytes, store::Backup(*source, request.path()));
  spdlog::info("backup of {} bytes to {} in {:.1f} s", bytes, request.path(),
               static_cast<double>(MonotonicNow() - start) / kNsPerSecond);
  reply->set_path(request.path());
  reply->set_bytes(bytes);
  return absl::OkStatus();
}

grpc::ServerReadReactor<v1::ImportResultsChunk>* NewImport(const Context* context,
                                                           v1::ImportResultsReply* reply) {
  return new Import(context, reply);
}

v1::Worker AwayWorker(const store::WorkerInfo& worker, const store::HoldRows& holds) {
  v1::Worker out = session::ToProto(worker);
  for (const store::QuarantineRow& row : holds.quarantines) {
    if (row.slot.worker == worker.id) {
      out.set_reason(absl::StrCat("slot ", row.slot.index, " quarantined: ", row.reason));
    }
  }
  for (const store::DrainRow& row : holds.drains) {
    if (row.worker == worker.id) out.set_reason(absl::StrCat("drained: ", row.reason));
  }
  return out;
}

}  // namespace dynbench::control
