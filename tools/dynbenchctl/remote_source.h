// Answers from a coordinator, and the conversions of its messages.
#pragma once

#include <memory>

#include "common/plan/experiment_reader.h"
#include "tools/dynbenchctl/client.h"
#include "tools/dynbenchctl/source.h"

namespace dynbench::cli {

JobView FromProto(const v1::Job& job);
// InvalidArgument names the experiment whose row this version cannot read. `reader` makes many rows
// faster; may be null.
absl::StatusOr<RowView> FromProto(const v1::ResultRow& row,
                                  plan::ExperimentReader* reader = nullptr);
WorkerView FromProto(const v1::Worker& worker);

std::unique_ptr<Source> MakeRemoteSource(std::unique_ptr<Client> client);

}  // namespace dynbench::cli
