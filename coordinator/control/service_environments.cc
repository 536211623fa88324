// The verbs about environments of the fleet.
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "coordinator/control/answers.h"
#include "coordinator/control/environments.h"
#include "coordinator/control/service.h"
#include "coordinator/session/object_calls.h"

namespace dynbench::control {
namespace {

session::Dispatcher::EnvironmentAnswer FinishWith(v1::FleetEnvironment* reply,
                                                  grpc::ServerUnaryReactor* reactor) {
  return [reply, reactor](absl::StatusOr<v1::FleetEnvironment> environment) {
    const absl::Status status = environment.status();
    if (status.ok()) *reply = *std::move(environment);
    reactor->Finish(session::ToGrpc(status));
  };
}

}  // namespace

grpc::ServerUnaryReactor* ControlService::FindObjects(grpc::CallbackServerContext* call,
                                                      const v1::FindObjectsRequest* request,
                                                      v1::FindObjectsReply* reply) {
  return Change(context_, call,
                [this, request, reply](store::Database&, grpc::ServerUnaryReactor* reactor) {
                  reactor->Finish(session::FindObjects(*context_.objects, *request, reply));
                });
}

grpc::ServerReadReactor<v1::ObjectPieces>* ControlService::PutObjects(
    grpc::CallbackServerContext* /*call*/, v1::PutObjectsReply* reply) {
  return session::NewPutObjects(context_.objects, reply);
}

grpc::ServerUnaryReactor* ControlService::BuildEnvironment(
    grpc::CallbackServerContext* call, const v1::BuildEnvironmentRequest* request,
    v1::FleetEnvironment* reply) {
  return Change(context_, call,
                [this, request, reply](store::Database&, grpc::ServerUnaryReactor* reactor) {
                  if (auto there = CheckObjectsAreThere(context_, *request); !there.ok()) {
                    return reactor->Finish(session::ToGrpc(there));
                  }
                  context_.dispatcher->BuildEnvironment(request->recipe_json(), request->worker(),
                                                        FinishWith(reply, reactor));
                });
}

grpc::ServerUnaryReactor* ControlService::DeriveEnvironment(
    grpc::CallbackServerContext* call, const v1::DeriveEnvironmentRequest* request,
    v1::FleetEnvironment* reply) {
  return Change(context_, call,
                [this, request, reply](store::Database&, grpc::ServerUnaryReactor* reactor) {
                  if (auto there = CheckObjectsAreThere(context_, *request); !there.ok()) {
                    return reactor->Finish(session::ToGrpc(there));
                  }
                  context_.dispatcher->DeriveEnvironment(*request, FinishWith(reply, reactor));
                });
}

grpc::ServerWriteReactor<v1::FleetEnvironment>* ControlService::ListEnvironments(
    grpc::CallbackServerContext* /*call*/, const v1::ListEnvironmentsRequest* request) {
  return Stream<v1::FleetEnvironment>(
      context_,
      [this, with_removed = request->with_removed()](
          store::Database&) -> absl::StatusOr<std::vector<v1::FleetEnvironment>> {
        return context_.dispatcher->ViewEnvironments(with_removed);
      });
}

grpc::ServerUnaryReactor* ControlService::GetEnvironmentLog(
    grpc::CallbackServerContext* call, const v1::GetEnvironmentLogRequest* request,
    v1::GetEnvironmentLogReply* reply) {
  return Answer(context_, call, [this, request, reply](store::Database&) -> absl::Status {
    ASSIGN_OR_RETURN(*reply,
                     context_.dispatcher->ViewEnvironmentLog(request->id(), request->offset()));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* ControlService::CollectEnvironments(
    grpc::CallbackServerContext* call, const v1::CollectEnvironmentsRequest* request,
    v1::CollectEnvironmentsReply* reply) {
  return Answer(context_, call, [this, request, reply](store::Database& db) {
    return control::CollectEnvironments(context_, db, *request, reply);
  });
}

}  // namespace dynbench::control
