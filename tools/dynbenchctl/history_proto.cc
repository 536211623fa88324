#include "tools/dynbenchctl/history_proto.h"

#include <utility>

#include "common/base/status.h"
#include "tools/dynbenchctl/remote_source.h"

namespace dynbench::cli {

v1::ListHistoryRequest ToProto(const store::HistoryFilter& filter) {
  v1::ListHistoryRequest request;
  for (const std::string& series : filter.series) request.add_series(series);
  request.set_model(filter.model);
  request.set_suite(filter.suite);
  request.set_up_to(filter.up_to.value);
  request.set_newest(filter.newest);
  return request;
}

absl::Status AddPage(const v1::HistoryPage& page, store::History* history) {
  for (const v1::HistoryRow& message : page.rows()) {
    ASSIGN_OR_RETURN(RowView view, FromProto(message.row()));
    view.row.job = JobId(message.job());
    history->rows.push_back(
        {std::move(view.row), message.fingerprint(), message.environment_hash()});
  }
  for (const v1::HostAttempts& host : page.hosts()) {
    history->hosts.push_back({host.host(), host.attempts(), host.failures()});
  }
  for (const auto& [hash, inventory] : page.inventories()) history->inventories[hash] = inventory;
  return absl::OkStatus();
}

}  // namespace dynbench::cli
