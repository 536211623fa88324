// FindObjects, PutObjects and FetchObjects: content-addressed files of environments, many in a
// call. Shared by the workers' service and the control API. What is stored is a folder of files
// beside the database, since it is too large for it and can be made again.
#pragma once

#include <grpcpp/support/server_callback.h>

#include "common/base/object_folder.h"
#include "coordinator/session/query_pool.h"
#include "dynbench/v1/model.pb.h"

namespace dynbench::session {

// INVALID_ARGUMENT: no digest, or too many.
grpc::Status FindObjects(const ObjectFolder& objects, const v1::FindObjectsRequest& request,
                         v1::FindObjectsReply* reply);

// Each object is there once its last piece came; one that is cut off leaves nothing. DATA_LOSS:
// other content than its digest says. Deletes itself.
grpc::ServerReadReactor<v1::ObjectPieces>* NewPutObjects(const ObjectFolder* objects,
                                                         v1::PutObjectsReply* reply);

// In the order of the request. NOT_FOUND names the first that is missing. Deletes itself.
grpc::ServerWriteReactor<v1::ObjectPieces>* NewFetchObjects(const ObjectFolder* objects,
                                                            QueryPool* pool,
                                                            const v1::FetchObjectsRequest& request);

}  // namespace dynbench::session
