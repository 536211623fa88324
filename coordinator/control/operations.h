// The verbs of operators: where slot time went, a copy of the database, results brought by hand.
// Drain, release and quarantine are the dispatcher's.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "absl/status/status.h"
#include "coordinator/control/context.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::control {

// Slot time between the request's times, as far as it is recorded. InvalidArgument: they are the
// wrong way round.
absl::Status LoadIdle(store::Database& db, const v1::GetIdleRequest& request,
                      v1::IdleReport* reply);

// Copies the database to a path on this host, through a reading connection of its own.
absl::Status MakeBackup(const Context& context, const v1::BackupRequest& request,
                        v1::BackupReply* reply);

// The results are committed one by one as they come, in their order; the reply counts them. Deletes
// itself.
grpc::ServerReadReactor<v1::ImportResultsChunk>* NewImport(const Context* context,
                                                           v1::ImportResultsReply* reply);

// A worker that is not connected, with what holds it.
v1::Worker AwayWorker(const store::WorkerInfo& worker, const store::HoldRows& holds);

}  // namespace dynbench::control
