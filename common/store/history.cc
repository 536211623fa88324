#include "common/store/history.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/plan/experiment_reader.h"
#include "common/store/query_rows.h"
#include "common/store/statement.h"

namespace dynbench::store {
namespace {

// Ids of the newest rows of each series and environment among those that `where` takes.
std::string NewestOfEach(const std::string& where) {
  return absl::StrCat(
      " WHERE e.id IN (SELECT id FROM (SELECT x.id AS id, row_number() OVER"
      " (PARTITION BY x.series, x.environment ORDER BY x.id DESC) AS age"
      " FROM experiment x JOIN result y ON y.experiment = x.id"
      " JOIN experiment_plan p ON p.experiment = x.id"
      " WHERE y.outcome IN ('passed', 'failed') AND (?1 = 0 OR x.id <= ?1)"
      " AND coalesce(json_extract(p.plan, '$.pair'), 0) = 0"
      " AND coalesce(json_array_length(p.plan, '$.diagnostics'), 0) = 0"
      " AND ",
      where, ") WHERE age <= ?2) ORDER BY e.id");
}

// Every suite that has experiments, by leaps over the index.
constexpr char kSuites[] =
    "x.suite IN (WITH RECURSIVE s(suite) AS (SELECT min(suite) FROM experiment UNION ALL"
    " SELECT (SELECT min(suite) FROM experiment WHERE suite > s.suite) FROM s"
    " WHERE s.suite IS NOT NULL) SELECT suite FROM s WHERE suite IS NOT NULL)";

// What ran where, and the inventory of each machine once.
absl::Status AddProvenance(Database& db, History* history) {
  for (HistoryRow& row : history->rows) {
    if (!row.row.lease) continue;
    Statement query(db,
                    "SELECT l.fingerprint, a.environment FROM lease l"
                    " LEFT JOIN attempt a ON a.lease = l.epoch AND a.experiment = ?"
                    " WHERE l.epoch = ?");
    query.Bind(row.row.id, row.row.lease);
    ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) continue;
    row.fingerprint = query.Text(0);
    row.environment_hash = query.Text(1);
    history->inventories.try_emplace(row.fingerprint);
  }
  for (auto& [hash, inventory] : history->inventories) {
    Statement query(db, "SELECT inventory FROM fingerprint WHERE hash = ?");
    query.Bind(hash);
    ASSIGN_OR_RETURN(const bool found, query.Step());
    if (found) inventory = query.Text(0);
  }
  return absl::OkStatus();
}

absl::Status ReadRows(Statement& query, History* history) {
  plan::ExperimentReader reader;
  return ForEachRow(query, [&](const Statement& row) {
    HistoryRow& read = history->rows.emplace_back();
    return ReadRow(row, /*with_samples=*/false, RowDetail::kWhole, &reader, &read.row);
  });
}

absl::Status AddHosts(Database& db, UnixTimeMs since, History* history) {
  // An attempt that went back says so in its cause; of a lost experiment the last one failed, too.
  Statement query(db,
                  "SELECT w.host, count(*), sum(a.cause = 'infrastructure' OR"
                  " (r.outcome IS 'lost' AND a.lease = (SELECT max(y.lease) FROM attempt y"
                  " WHERE y.experiment = e.id)))"
                  " FROM experiment e JOIN attempt a ON a.experiment = e.id"
                  " JOIN lease l ON l.epoch = a.lease JOIN worker w ON w.id = l.worker"
                  " LEFT JOIN result r ON r.experiment = e.id"
                  " WHERE e.job >= (SELECT min(id) FROM job WHERE submitted_unix_ms >= ?)"
                  " AND a.started_unix_ms IS NOT NULL GROUP BY w.host ORDER BY w.host");
  query.Bind(since);
  return ForEachRow(query, [&](const Statement& row) {
    history->hosts.push_back({row.Text(0), row.Int(1), row.Int(2)});
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<History> LoadHistory(Database& db, const HistoryFilter& filter) {
  if (filter.series.empty() && filter.model.empty()) {
    return absl::InvalidArgumentError("a history is of series or of a model; name one of them");
  }
  History history;
  for (const std::string& series : filter.series) {
    Statement query(db, absl::StrCat(RowSelect(false), NewestOfEach("x.series = ?3")));
    query.Bind(filter.up_to, filter.newest, series);
    RETURN_IF_ERROR(ReadRows(query, &history));
  }
  if (filter.series.empty()) {
    Statement query(
        db, absl::StrCat(RowSelect(false), NewestOfEach(absl::StrCat(
                                               "x.model = ?3 AND ",
                                               filter.suite.empty() ? kSuites : "x.suite = ?4"))));
    query.Bind(filter.up_to, filter.newest, filter.model);
    if (!filter.suite.empty()) query.Bind(filter.suite);
    RETURN_IF_ERROR(ReadRows(query, &history));
  }
  std::sort(history.rows.begin(), history.rows.end(),
            [](const HistoryRow& a, const HistoryRow& b) { return a.row.id < b.row.id; });
  RETURN_IF_ERROR(AddProvenance(db, &history));
  return history;
}

absl::StatusOr<History> LoadHistorySince(Database& db, UnixTimeMs since, int64_t limit) {
  // The jobs are few and in the order of their submission; theirs are the experiments.
  Statement query(db, absl::StrCat(RowSelect(false),
                                   " WHERE e.job >= (SELECT min(id) FROM job"
                                   " WHERE submitted_unix_ms >= ?) AND e.test = 'performance'"
                                   " AND r.outcome = 'passed' ORDER BY e.job DESC, e.id DESC"
                                   " LIMIT ?"));
  query.Bind(since, limit);
  History history;
  RETURN_IF_ERROR(ReadRows(query, &history));
  std::reverse(history.rows.begin(), history.rows.end());
  std::erase_if(history.rows,
                [](const HistoryRow& row) { return !row.row.experiment.diagnostics.empty(); });
  RETURN_IF_ERROR(AddProvenance(db, &history));
  RETURN_IF_ERROR(AddHosts(db, since, &history));
  return history;
}

}  // namespace dynbench::store
