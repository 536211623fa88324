#include "coordinator/control/service.h"

#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/version.h"
#include "common/store/holds.h"
#include "common/store/noise_floors.h"
#include "coordinator/control/answers.h"
#include "coordinator/control/history.h"
#include "coordinator/control/jobs.h"
#include "coordinator/control/log_stream.h"
#include "coordinator/control/operations.h"
#include "coordinator/control/planning.h"
#include "coordinator/control/put_file.h"
#include "coordinator/control/results.h"
#include "coordinator/control/simulate.h"
#include "coordinator/control/watch.h"
#include "coordinator/session/page_stream.h"
#include "coordinator/session/rpc_status.h"
#include "proto/dynbench/convert.h"

namespace dynbench::control {
namespace {

v1::NoiseFloor ToProto(const store::NoiseFloorRow& row) {
  v1::NoiseFloor floor;
  floor.set_series(row.series);
  floor.set_worker_host(row.worker_host);
  floor.set_metric(row.metric);
  floor.set_between_variance(row.between_variance);
  floor.set_degrees_of_freedom(row.degrees_of_freedom);
  floor.set_within_variance(row.within_variance);
  floor.set_processes(row.processes);
  floor.set_job(row.job.value);
  floor.set_measured_unix_ms(row.measured_at.ms);
  return floor;
}

using session::Page;
using session::PageStream;
using session::ToGrpc;

Submitted FinishWith(v1::SubmitReply* reply, grpc::ServerUnaryReactor* reactor) {
  return [reply, reactor](absl::StatusOr<v1::SubmitReply> result) {
    const absl::Status status = result.status();
    if (status.ok()) *reply = *std::move(result);
    reactor->Finish(ToGrpc(status));
  };
}

session::Dispatcher::WorkerAnswer FinishWith(v1::Worker* reply, grpc::ServerUnaryReactor* reactor) {
  return [reply, reactor](absl::StatusOr<v1::Worker> worker) {
    const absl::Status status = worker.status();
    if (status.ok()) *reply = *std::move(worker);
    reactor->Finish(ToGrpc(status));
  };
}

}  // namespace

grpc::ServerUnaryReactor* ControlService::GetInfo(grpc::CallbackServerContext* call,
                                                  const v1::GetInfoRequest* /*request*/,
                                                  v1::Info* reply) {
  return Answer(context_, call, [this, reply](store::Database&) -> absl::Status {
    ASSIGN_OR_RETURN(const session::FleetView fleet, context_.dispatcher->ViewFleet());
    reply->set_version(kVersion);
    reply->set_protocol_version(proto::kProtocolVersion);
    reply->set_database(context_.database);
    reply->set_http_address(context_.http_address);
    reply->set_started_unix_ms(context_.started_unix_ms);
    reply->set_workers_connected(static_cast<int>(fleet.workers.size()));
    reply->set_slots(fleet.slots);
    return absl::OkStatus();
  });
}

grpc::ServerReadReactor<v1::PutFileChunk>* ControlService::PutFile(
    grpc::CallbackServerContext* /*call*/, v1::PutFileReply* reply) {
  return NewPutFile(context_.ingest, reply);
}

grpc::ServerReadReactor<v1::PutRequestChunk>* ControlService::PutRequest(
    grpc::CallbackServerContext* /*call*/, v1::PutRequestReply* reply) {
  return NewPutRequest(context_.staged, reply);
}

grpc::ServerWriteReactor<v1::PlanPage>* ControlService::Plan(grpc::CallbackServerContext* /*call*/,
                                                             const v1::SubmitRequest* request) {
  struct State {
    Planned planned;
    size_t next = 0;
    bool planned_already = false;
  };
  auto state = std::make_shared<State>();
  return new PageStream<v1::PlanPage>(
      context_.pool,
      [this, state, request](store::Database& /*db*/, v1::PlanPage* page) -> absl::StatusOr<Page> {
        if (!std::exchange(state->planned_already, true)) {
          ASSIGN_OR_RETURN(const auto text, context_.staged->TextOf(request->request_json(),
                                                                    request->request_sha256()));
          ASSIGN_OR_RETURN(state->planned, MakePlan(context_, *text));
          RETURN_IF_ERROR(DescribePlan(context_, state->planned, page));
        }
        const auto& all = state->planned.plan.experiments;
        size_t bytes = 0;
        while (state->next < all.size() && page->experiments_size() < kPageRows &&
               bytes < kPageBytes) {
          std::string json = plan::ToJson(all[state->next++]);
          bytes += json.size();
          page->add_experiments()->set_json(std::move(json));
        }
        return state->next == all.size() ? Page::kLast : Page::kMore;
      });
}

grpc::ServerUnaryReactor* ControlService::Submit(grpc::CallbackServerContext* call,
                                                 const v1::SubmitRequest* request,
                                                 v1::SubmitReply* reply) {
  return Change(context_, call,
                [this, request, reply](store::Database& db, grpc::ServerUnaryReactor* reactor) {
                  const auto text =
                      context_.staged->TextOf(request->request_json(), request->request_sha256());
                  if (!text.ok()) return reactor->Finish(ToGrpc(text.status()));
                  absl::StatusOr<Planned> planned = MakePlan(context_, **text);
                  if (!planned.ok()) return reactor->Finish(ToGrpc(planned.status()));
                  if (auto status = CheckRunnable(db, *planned); !status.ok()) {
                    return reactor->Finish(ToGrpc(status));
                  }
                  control::Submit(context_, *std::move(planned), request->idempotency_key(),
                                  FinishWith(reply, reactor));
                });
}

grpc::ServerWriteReactor<v1::Job>* ControlService::ListJobs(grpc::CallbackServerContext* /*call*/,
                                                            const v1::ListJobsRequest* request) {
  return Stream<v1::Job>(
      context_, [this, request](store::Database& db) -> absl::StatusOr<std::vector<v1::Job>> {
        std::vector<formats::JobProgress> jobs;
        if (request->job() == 0) {
          ASSIGN_OR_RETURN(jobs, LoadJobs(context_, db, request->limit()));
        } else {
          ASSIGN_OR_RETURN(jobs.emplace_back(), LoadJob(context_, db, JobId(request->job())));
        }
        std::vector<v1::Job> messages;
        for (const formats::JobProgress& job : jobs) messages.push_back(ToProto(job));
        return messages;
      });
}

grpc::ServerWriteReactor<v1::ResultPage>* ControlService::ListResults(
    grpc::CallbackServerContext* /*call*/, const v1::ListResultsRequest* request) {
  auto walk = std::make_shared<RowWalk>(&context_, JobId(request->job()), request->with_samples());
  return new PageStream<v1::ResultPage>(
      context_.pool, [walk](store::Database& db, v1::ResultPage* page) -> absl::StatusOr<Page> {
        ASSIGN_OR_RETURN(const bool some, walk->Next(db, page->mutable_rows()));
        return some ? Page::kMore : Page::kNone;
      });
}

grpc::ServerWriteReactor<v1::WatchEvent>* ControlService::WatchJob(
    grpc::CallbackServerContext* /*call*/, const v1::WatchJobRequest* request) {
  return NewWatch(&context_, *request);
}

grpc::ServerUnaryReactor* ControlService::CancelJob(grpc::CallbackServerContext* call,
                                                    const v1::CancelJobRequest* request,
                                                    v1::Job* reply) {
  const auto finish = [this, request, reply](const absl::Status& status,
                                             grpc::ServerUnaryReactor* reactor) {
    if (!status.ok()) return reactor->Finish(ToGrpc(status));
    const absl::Status queued =
        context_.pool->Run([this, request, reply, reactor](store::Database& db) {
          const auto job = LoadJob(context_, db, JobId(request->job()));
          if (job.ok()) *reply = ToProto(*job);
          reactor->Finish(ToGrpc(job.status()));
        });
    if (!queued.ok()) reactor->Finish(ToGrpc(queued));
  };
  return Change(context_, call,
                [this, request, finish](store::Database& db, grpc::ServerUnaryReactor* reactor) {
                  // NotFound with the newest job's id, before anything is changed.
                  const auto job = store::GetJob(db, JobId(request->job()));
                  if (!job.ok()) return reactor->Finish(ToGrpc(job.status()));
                  if (request->reason().empty()) {
                    return reactor->Finish(ToGrpc(absl::InvalidArgumentError(
                        "say why: cancel JOB --reason TEXT (it is kept in every cancelled row)")));
                  }
                  context_.dispatcher->CancelJob(
                      job->id, request->reason(),
                      [finish, reactor](const absl::Status& status) { finish(status, reactor); });
                });
}

grpc::ServerUnaryReactor* ControlService::RetryJob(grpc::CallbackServerContext* call,
                                                   const v1::RetryJobRequest* request,
                                                   v1::SubmitReply* reply) {
  return Change(context_, call,
                [this, request, reply](store::Database& db, grpc::ServerUnaryReactor* reactor) {
                  Retry(context_, db, *request, FinishWith(reply, reactor));
                });
}

grpc::ServerUnaryReactor* ControlService::GetExperiment(grpc::CallbackServerContext* call,
                                                        const v1::GetExperimentRequest* request,
                                                        v1::ExperimentDetail* reply) {
  return Answer(context_, call, [this, request, reply](store::Database& db) -> absl::Status {
    ASSIGN_OR_RETURN(*reply, LoadExperiment(context_, db, ExperimentId(request->experiment())));
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::GetLogChunk>* ControlService::GetLog(
    grpc::CallbackServerContext* /*call*/, const v1::GetLogRequest* request) {
  return NewLogStream(&context_, *request);
}

grpc::ServerWriteReactor<v1::Worker>* ControlService::ListWorkers(
    grpc::CallbackServerContext* /*call*/, const v1::ListWorkersRequest* /*request*/) {
  return Stream<v1::Worker>(
      context_, [this](store::Database& db) -> absl::StatusOr<std::vector<v1::Worker>> {
        ASSIGN_OR_RETURN(session::FleetView fleet, context_.dispatcher->ViewFleet());
        ASSIGN_OR_RETURN(const auto known, store::ListWorkers(db));
        ASSIGN_OR_RETURN(const auto holds, store::LoadHolds(db));
        std::set<std::string> connected;
        for (const v1::Worker& worker : fleet.workers) connected.insert(worker.id());
        std::vector<v1::Worker> all = std::move(fleet.workers);
        for (const store::WorkerInfo& worker : known) {
          if (connected.count(worker.id.value) == 0) all.push_back(AwayWorker(worker, holds));
        }
        return all;
      });
}

grpc::ServerWriteReactor<v1::NoiseFloor>* ControlService::ListNoiseFloors(
    grpc::CallbackServerContext* /*call*/, const v1::ListNoiseFloorsRequest* request) {
  return Stream<v1::NoiseFloor>(
      context_,
      [job = JobId(request->job())](
          store::Database& db) -> absl::StatusOr<std::vector<v1::NoiseFloor>> {
        ASSIGN_OR_RETURN(const auto rows, store::ListNoiseFloors(db, job));
        std::vector<v1::NoiseFloor> floors;
        floors.reserve(rows.size());
        for (const store::NoiseFloorRow& row : rows) floors.push_back(ToProto(row));
        return floors;
      });
}

grpc::ServerWriteReactor<v1::HistoryPage>* ControlService::ListHistory(
    grpc::CallbackServerContext* /*call*/, const v1::ListHistoryRequest* request) {
  return NewHistory(&context_, *request);
}

grpc::ServerUnaryReactor* ControlService::DrainWorker(grpc::CallbackServerContext* call,
                                                      const v1::DrainWorkerRequest* request,
                                                      v1::Worker* reply) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  context_.dispatcher->DrainWorker(request->worker(), request->deadline_ms(), request->reason(),
                                   FinishWith(reply, reactor));
  return reactor;
}

grpc::ServerUnaryReactor* ControlService::ReleaseWorker(grpc::CallbackServerContext* call,
                                                        const v1::ReleaseWorkerRequest* request,
                                                        v1::Worker* reply) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  const auto slot = request->has_slot() ? std::optional<int>(request->slot()) : std::nullopt;
  context_.dispatcher->ReleaseWorker(request->worker(), slot, FinishWith(reply, reactor));
  return reactor;
}

grpc::ServerUnaryReactor* ControlService::QuarantineWorker(
    grpc::CallbackServerContext* call, const v1::QuarantineWorkerRequest* request,
    v1::Worker* reply) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  const auto slot = request->has_slot() ? std::optional<int>(request->slot()) : std::nullopt;
  context_.dispatcher->QuarantineWorker(request->worker(), slot, request->reason(),
                                        FinishWith(reply, reactor));
  return reactor;
}

grpc::ServerUnaryReactor* ControlService::GetIdle(grpc::CallbackServerContext* call,
                                                  const v1::GetIdleRequest* request,
                                                  v1::IdleReport* reply) {
  grpc::ServerUnaryReactor* reactor = call->DefaultReactor();
  context_.dispatcher->FlushActivity([this, request, reply, reactor](const absl::Status& flushed) {
    if (!flushed.ok()) return reactor->Finish(ToGrpc(flushed));
    const absl::Status queued = context_.pool->Run([request, reply, reactor](store::Database& db) {
      reactor->Finish(ToGrpc(LoadIdle(db, *request, reply)));
    });
    if (!queued.ok()) reactor->Finish(ToGrpc(queued));
  });
  return reactor;
}

grpc::ServerUnaryReactor* ControlService::Backup(grpc::CallbackServerContext* call,
                                                 const v1::BackupRequest* request,
                                                 v1::BackupReply* reply) {
  return Answer(context_, call, [this, request, reply](store::Database&) {
    return MakeBackup(context_, *request, reply);
  });
}

grpc::ServerReadReactor<v1::ImportResultsChunk>* ControlService::ImportResults(
    grpc::CallbackServerContext* /*call*/, v1::ImportResultsReply* reply) {
  return NewImport(&context_, reply);
}

grpc::ServerUnaryReactor* ControlService::Simulate(grpc::CallbackServerContext* call,
                                                   const v1::SimulateRequest* request,
                                                   v1::SimulateReply* reply) {
  return Answer(context_, call, [this, request, reply](store::Database& db) {
    return SimulatePlan(context_, db, *request, reply);
  });
}

}  // namespace dynbench::control
