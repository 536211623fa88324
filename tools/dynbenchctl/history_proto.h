// The coordinator's pages of history as the store's struct. Pure.
#pragma once

#include "absl/status/status.h"
#include "common/store/history.h"
#include "dynbench/v1/control.pb.h"

namespace dynbench::cli {

v1::ListHistoryRequest ToProto(const store::HistoryFilter& filter);

// Appends a page. InvalidArgument: a row of a version that this program does not know.
absl::Status AddPage(const v1::HistoryPage& page, store::History* history);

}  // namespace dynbench::cli
