// The Control service: dynbenchctl's side of the coordinator. Unary verbs run on the query pool;
// lists are streamed in pages; nothing runs long on a gRPC thread. Errors keep their message: what
// a verb says is what the user reads.
#pragma once

#include "coordinator/control/context.h"
#include "dynbench/v1/control.grpc.pb.h"

namespace dynbench::control {

class ControlService : public v1::Control::CallbackService {
 public:
  explicit ControlService(Context context) : context_(std::move(context)) {}

  grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* call,
                                    const v1::GetInfoRequest* request, v1::Info* reply) override;
  grpc::ServerReadReactor<v1::PutFileChunk>* PutFile(grpc::CallbackServerContext* call,
                                                     v1::PutFileReply* reply) override;
  grpc::ServerReadReactor<v1::PutRequestChunk>* PutRequest(grpc::CallbackServerContext* call,
                                                           v1::PutRequestReply* reply) override;
  grpc::ServerWriteReactor<v1::PlanPage>* Plan(grpc::CallbackServerContext* call,
                                               const v1::SubmitRequest* request) override;
  grpc::ServerUnaryReactor* Submit(grpc::CallbackServerContext* call,
                                   const v1::SubmitRequest* request,
                                   v1::SubmitReply* reply) override;
  grpc::ServerWriteReactor<v1::Job>* ListJobs(grpc::CallbackServerContext* call,
                                              const v1::ListJobsRequest* request) override;
  grpc::ServerWriteReactor<v1::ResultPage>* ListResults(
      grpc::CallbackServerContext* call, const v1::ListResultsRequest* request) override;
  grpc::ServerWriteReactor<v1::WatchEvent>* WatchJob(grpc::CallbackServerContext* call,
                                                     const v1::WatchJobRequest* request) override;
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* call,
                                      const v1::CancelJobRequest* request, v1::Job* reply) override;
  grpc::ServerUnaryReactor* RetryJob(grpc::CallbackServerContext* call,
                                     const v1::RetryJobRequest* request,
                                     v1::SubmitReply* reply) override;
  grpc::ServerUnaryReactor* GetExperiment(grpc::CallbackServerContext* call,
                                          const v1::GetExperimentRequest* request,
                                          v1::ExperimentDetail* reply) override;
  grpc::ServerWriteReactor<v1::GetLogChunk>* GetLog(grpc::CallbackServerContext* call,
                                                    const v1::GetLogRequest* request) override;
  grpc::ServerWriteReactor<v1::NoiseFloor>* ListNoiseFloors(
      grpc::CallbackServerContext* call, const v1::ListNoiseFloorsRequest* request) override;
  grpc::ServerWriteReactor<v1::HistoryPage>* ListHistory(
      grpc::CallbackServerContext* call, const v1::ListHistoryRequest* request) override;
  grpc::ServerWriteReactor<v1::Worker>* ListWorkers(grpc::CallbackServerContext* call,
                                                    const v1::ListWorkersRequest* request) override;
  grpc::ServerUnaryReactor* DrainWorker(grpc::CallbackServerContext* call,
                                        const v1::DrainWorkerRequest* request,
                                        v1::Worker* reply) override;
  grpc::ServerUnaryReactor* ReleaseWorker(grpc::CallbackServerContext* call,
                                          const v1::ReleaseWorkerRequest* request,
                                          v1::Worker* reply) override;
  grpc::ServerUnaryReactor* QuarantineWorker(grpc::CallbackServerContext* call,
                                             const v1::QuarantineWorkerRequest* request,
                                             v1::Worker* reply) override;
  grpc::ServerUnaryReactor* GetIdle(grpc::CallbackServerContext* call,
                                    const v1::GetIdleRequest* request,
                                    v1::IdleReport* reply) override;
  grpc::ServerUnaryReactor* Backup(grpc::CallbackServerContext* call,
                                   const v1::BackupRequest* request,
                                   v1::BackupReply* reply) override;
  grpc::ServerReadReactor<v1::ImportResultsChunk>* ImportResults(
      grpc::CallbackServerContext* call, v1::ImportResultsReply* reply) override;

  grpc::ServerUnaryReactor* Simulate(grpc::CallbackServerContext* call,
                                     const v1::SimulateRequest* request,
                                     v1::SimulateReply* reply) override;

  // Environments of the fleet (environments.h).
  grpc::ServerUnaryReactor* FindObjects(grpc::CallbackServerContext* call,
                                        const v1::FindObjectsRequest* request,
                                        v1::FindObjectsReply* reply) override;
  grpc::ServerReadReactor<v1::ObjectPieces>* PutObjects(grpc::CallbackServerContext* call,
                                                        v1::PutObjectsReply* reply) override;
  grpc::ServerUnaryReactor* BuildEnvironment(grpc::CallbackServerContext* call,
                                             const v1::BuildEnvironmentRequest* request,
                                             v1::FleetEnvironment* reply) override;
  grpc::ServerUnaryReactor* DeriveEnvironment(grpc::CallbackServerContext* call,
                                              const v1::DeriveEnvironmentRequest* request,
                                              v1::FleetEnvironment* reply) override;
  grpc::ServerWriteReactor<v1::FleetEnvironment>* ListEnvironments(
      grpc::CallbackServerContext* call, const v1::ListEnvironmentsRequest* request) override;
  grpc::ServerUnaryReactor* GetEnvironmentLog(grpc::CallbackServerContext* call,
                                              const v1::GetEnvironmentLogRequest* request,
                                              v1::GetEnvironmentLogReply* reply) override;
  grpc::ServerUnaryReactor* CollectEnvironments(grpc::CallbackServerContext* call,
                                                const v1::CollectEnvironmentsRequest* request,
                                                v1::CollectEnvironmentsReply* reply) override;

 private:
  const Context context_;
};

}  // namespace dynbench::control
