// The Tables service: rows of a job for its table (proto/dynbench/v1/tables.proto), streamed in
// pages that are made on the query pool.
#pragma once

#include "coordinator/session/query_pool.h"
#include "dynbench/v1/tables.grpc.pb.h"

namespace dynbench::control {

class TablesService : public v1::Tables::CallbackService {
 public:
  // Of one message: rows have a few hundred bytes each, and seldom long errors.
  static constexpr int kPageRows = 500;
  static constexpr size_t kPageBytes = 1 << 20;

  explicit TablesService(session::QueryPool* pool) : pool_(pool) {}

  grpc::ServerWriteReactor<v1::TablePage>* ListTableRows(
      grpc::CallbackServerContext* call, const v1::ListTableRowsRequest* request) override;

 private:
  session::QueryPool* const pool_;
};

}  // namespace dynbench::control
