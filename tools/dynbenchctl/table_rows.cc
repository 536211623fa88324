#include "tools/dynbenchctl/table_rows.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "common/base/status.h"
#include "common/plan/experiment_reader.h"
#include "common/store/store.h"
#include "common/store/table_rows.h"
#include "dynbench/v1/tables.grpc.pb.h"
#include "proto/dynbench/convert.h"
#include "tools/dynbenchctl/client.h"

namespace dynbench::cli {
namespace {

using Visit = std::function<void(const store::ResultRow&)>;

absl::Status Named(const absl::Status& status, ExperimentId id) {
  return Annotate(status, "experiment " + std::to_string(id.value));
}

absl::Status RowsOfDatabase(const std::string& path, JobId job, const Visit& visit) {
  ASSIGN_OR_RETURN(const auto db, store::Database::Open(path, store::Access::kReadOnly));
  plan::ExperimentReader reader;
  store::ResultRow read;
  return store::ForEachTableRow(*db, job, ExperimentId(), 0, [&](const store::ResultRow& row) {
    if (const auto status = reader.Read(row.plan); !status.ok()) return Named(status, row.id);
    read = row;
    read.experiment = reader.experiment();
    visit(read);
    return absl::OkStatus();
  });
}

// All of `row` but its job.
absl::Status ReadRow(const v1::TableRow& message, plan::ExperimentReader* reader,
                     store::ResultRow* row) {
  row->id = ExperimentId(message.id());
  const absl::Status plan = message.plan().empty() ? reader->ReadChanges(message.plan_changes())
                                                   : reader->Read(message.plan());
  if (!plan.ok()) return Named(plan, row->id);
  row->experiment = reader->experiment();
  row->state = message.state();
  row->attempt = message.attempt();
  row->lease = LeaseEpoch(message.lease());
  row->result.reset();
  if (!message.has_result()) return absl::OkStatus();
  auto result = proto::FromProto(message.result());
  if (!result.ok()) return Named(result.status(), row->id);
  row->result = *std::move(result);
  return absl::OkStatus();
}

// False: the coordinator has no tables.
absl::StatusOr<bool> RowsOfCoordinator(const Globals& globals, JobId job, const Visit& visit) {
  ASSIGN_OR_RETURN(const auto client, Client::Connect(globals.coordinator, globals.tls));
  const auto tables = v1::Tables::NewStub(client->channel());
  v1::ListTableRowsRequest request;
  request.set_job(job.value);
  const auto call = Client::NewCall();
  const auto stream = tables->ListTableRows(call.get(), request);
  v1::TablePage page;
  plan::ExperimentReader reader;
  store::ResultRow row;
  row.job = job;
  absl::Status bad;
  while (stream->Read(&page)) {
    for (const v1::TableRow& message : page.rows()) {
      if (bad.ok()) bad = ReadRow(message, &reader, &row);
      if (bad.ok()) visit(row);
    }
  }
  const grpc::Status status = stream->Finish();
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return false;
  RETURN_IF_ERROR(client->FromGrpc(status));
  RETURN_IF_ERROR(bad);
  return true;
}

}  // namespace

absl::Status TableRows(const Globals& globals, Source& source, JobId job, const Visit& visit) {
  if (!globals.db.empty()) return RowsOfDatabase(globals.db, job, visit);
  ASSIGN_OR_RETURN(const bool has_tables, RowsOfCoordinator(globals, job, visit));
  if (has_tables) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto rows, source.Results(job, /*with_samples=*/false));
  for (const RowView& view : rows) visit(view.row);
  return absl::OkStatus();
}

}  // namespace dynbench::cli
