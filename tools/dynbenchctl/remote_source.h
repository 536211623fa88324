// Answers from a coordinator, and the conversions of its messages.
#pragma once

#include <memory>

#include "common/plan/experiment_reader.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

JobView FromProto(const v1::Job& job);
// InvalidArgument names the experiment whose row this version cannot read.
absl::StatusOr<RowView> FromProto(const v1::ResultRow& row);
// For many rows: `reader` reads the rows of one stream, in order; all but `view`'s job is replaced.
absl::Status FromProto(const v1::ResultRow& row, plan::ExperimentReader* reader, RowView* view);
WorkerView FromProto(const v1::Worker& worker);

std::unique_ptr<Source> MakeRemoteSource(std::unique_ptr<Client> client);

}  // namespace dynbench::cli
