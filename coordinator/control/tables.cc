#include "coordinator/control/tables.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/status.h"
#include "common/plan/plan_text.h"
#include "common/store/table_rows.h"
#include "coordinator/session/page_stream.h"

namespace dynbench::control {
namespace {

using session::Page;

// Rows fetched at once: texts of errors may be large, and a page is cut between two fetches.
constexpr int64_t kStep = 100;

void Fill(const plan::Metrics& m, v1::Metrics* out) {
  if (m.speedup) out->set_speedup(*m.speedup);
  if (m.abs_latency_ms) out->set_abs_latency_ms(*m.abs_latency_ms);
  if (m.eager_latency_ms) out->set_eager_latency_ms(*m.eager_latency_ms);
  if (m.eager_spread) out->set_eager_spread(*m.eager_spread);
  if (m.compiled_spread) out->set_compiled_spread(*m.compiled_spread);
  if (m.compilation_latency_s) out->set_compilation_latency_s(*m.compilation_latency_s);
  if (m.graph_breaks) out->set_graph_breaks(*m.graph_breaks);
  if (m.compression_ratio) out->set_compression_ratio(*m.compression_ratio);
  if (m.compiled_peak_memory_bytes) {
    out->set_compiled_peak_memory_bytes(*m.compiled_peak_memory_bytes);
  }
  if (m.tolerance_max) out->set_tolerance_max(*m.tolerance_max);
  if (m.tolerance_mean) out->set_tolerance_mean(*m.tolerance_mean);
  if (m.tolerance_std) out->set_tolerance_std(*m.tolerance_std);
  if (m.break_even_calls) out->set_break_even_calls(*m.break_even_calls);
}

void Fill(const plan::Result& result, v1::Result* out) {
  const auto set = [](std::string_view word, std::string* field) { field->assign(word); };
  set(plan::ToString(result.outcome), out->mutable_outcome());
  set(plan::ToString(result.phase), out->mutable_phase());
  set(plan::ToString(result.blame), out->mutable_blame());
  out->set_status(result.status);
  out->set_error(result.error);
  out->set_batch_size(result.batch_size);
  for (const std::string& note : result.notes) out->add_notes(note);
  Fill(result.metrics, out->mutable_metrics());
}

// Walks the rows of a job, a page at a time.
class TableWalk {
 public:
  explicit TableWalk(JobId job) : job_(job) {}

  absl::StatusOr<Page> Next(store::Database& db, v1::TablePage* page) {
    size_t bytes = 0;
    while (page->rows_size() < TablesService::kPageRows && bytes < TablesService::kPageBytes) {
      const int before = page->rows_size();
      RETURN_IF_ERROR(
          store::ForEachTableRow(db, job_, after_, kStep, [&](const store::ResultRow& row) {
            bytes += Add(row, page->add_rows());
            return absl::OkStatus();
          }));
      if (page->rows_size() == before) break;
    }
    return page->rows_size() > 0 ? Page::kMore : Page::kNone;
  }

 private:
  // Returns about how many bytes its long texts have.
  size_t Add(const store::ResultRow& row, v1::TableRow* out) {
    after_ = row.id;
    out->set_id(row.id.value);
    if (auto changes = plans_.Next(row.plan)) {
      out->set_plan_changes(*std::move(changes));
    } else {
      out->set_plan(row.plan);
    }
    out->set_state(row.state);
    out->set_attempt(row.attempt);
    out->set_lease(row.lease.value);
    if (row.result) Fill(*row.result, out->mutable_result());
    return out->plan().size() + out->plan_changes().size() + out->result().error().size();
  }

  const JobId job_;
  ExperimentId after_;
  plan::PlanChanges plans_;
};

}  // namespace

grpc::ServerWriteReactor<v1::TablePage>* TablesService::ListTableRows(
    grpc::CallbackServerContext* /*call*/, const v1::ListTableRowsRequest* request) {
  auto walk = std::make_shared<TableWalk>(JobId(request->job()));
  return new session::PageStream<v1::TablePage>(
      pool_, [walk](store::Database& db, v1::TablePage* page) { return walk->Next(db, page); });
}

}  // namespace dynbench::control
