#include "coordinator/control/history.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/store/history.h"
#include "coordinator/session/page_stream.h"
#include "coordinator/session/rows.h"

namespace dynbench::control {
namespace {

absl::StatusOr<store::History> Load(store::Database& db, const v1::ListHistoryRequest& request) {
  if (request.limit() > 0) {
    return store::LoadHistorySince(db, {request.since_unix_ms()}, request.limit());
  }
  store::HistoryFilter filter;
  filter.series.assign(request.series().begin(), request.series().end());
  filter.model = request.model();
  filter.suite = request.suite();
  filter.up_to = ExperimentId(request.up_to());
  filter.newest = request.newest();
  return store::LoadHistory(db, filter);
}

// Walks what was loaded; each page brings the inventories that its rows are the first to name.
struct Walk {
  store::History history;
  size_t next = 0;
  bool begun = false;
  std::set<std::string> sent;

  void Fill(v1::HistoryPage* page) {
    size_t bytes = 0;
    while (next < history.rows.size() && page->rows_size() < kPageRows && bytes < kPageBytes) {
      store::HistoryRow& row = history.rows[next++];
      if (row.row.result) {
        row.row.result->detail.clear();
        row.row.result->compiler_report.clear();
      }
      v1::HistoryRow& out = *page->add_rows();
      *out.mutable_row() = session::ToProto(row.row);
      out.set_job(row.row.job.value);
      out.set_fingerprint(row.fingerprint);
      out.set_environment_hash(row.environment_hash);
      bytes += out.ByteSizeLong();
      if (!row.fingerprint.empty() && sent.insert(row.fingerprint).second) {
        const std::string& inventory = history.inventories[row.fingerprint];
        (*page->mutable_inventories())[row.fingerprint] = inventory;
        bytes += inventory.size();
      }
    }
  }
};

}  // namespace

grpc::ServerWriteReactor<v1::HistoryPage>* NewHistory(const Context* context,
                                                      const v1::ListHistoryRequest& request) {
  auto walk = std::make_shared<Walk>();
  return new session::PageStream<v1::HistoryPage>(
      context->pool,
      [walk, request](store::Database& db, v1::HistoryPage* page) -> absl::StatusOr<session::Page> {
        if (!std::exchange(walk->begun, true)) {
          ASSIGN_OR_RETURN(walk->history, Load(db, request));
          for (const store::HostAttempts& host : walk->history.hosts) {
            v1::HostAttempts& out = *page->add_hosts();
            out.set_host(host.host);
            out.set_attempts(host.attempts);
            out.set_failures(host.failures);
          }
        }
        walk->Fill(page);
        return walk->next == walk->history.rows.size() ? session::Page::kLast
                                                       : session::Page::kMore;
      });
}

}  // namespace dynbench::control
