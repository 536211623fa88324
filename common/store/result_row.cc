#include "common/store/result_row.h"

#include <type_traits>

#include "absl/strings/str_join.h"
#include "common/base/check.h"
#include "common/base/status.h"
#include "common/plan/metric_fields.h"
#include "common/store/blob.h"
#include "nlohmann/json.hpp"

namespace dynbench::store {
namespace {

using nlohmann::json;

// A text from a process may hold any bytes; they are kept readable.
template <typename Container>
std::string Dump(const Container& values) {
  if (values.empty()) return json(values).is_object() ? "{}" : "[]";
  return json(values).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> ColumnNames() {
  std::vector<std::string> names = {"outcome",       "status",
                                    "phase",         "blame",
                                    "error",         "detail",
                                    "exit_code",     "exit_signal",
                                    "batch_size",    "weights",
                                    "threads",       "cores",
                                    "accuracy_rule", "accuracy_function_hash"};
  plan::Metrics metrics;
  plan::ForEachMetric(metrics, [&](const char* name, auto&) { names.emplace_back(name); });
  for (const char* name : {"phases", "cache_files_before", "cache_hits", "cache_misses",
                           "start_proven", "in_force", "notes", "compiler_report", "artifacts"}) {
    names.emplace_back(name);
  }
  return names;
}

const std::string& InsertSql() {
  static const auto* const sql = new std::string([] {
    std::vector<std::string> names = ColumnNames();
    names.insert(names.begin(), {"experiment", "lease"});
    names.insert(names.end(), {"started_unix_ms", "finished_unix_ms", "received_unix_ms"});
    const std::vector<std::string> marks(names.size(), "?");
    return absl::StrCat("INSERT INTO result(", absl::StrJoin(names, ", "), ") VALUES (",
                        absl::StrJoin(marks, ", "), ")");
  }());
  return *sql;
}

template <typename Enum>
absl::Status ReadWord(std::optional<Enum> word, const std::string& text, Enum* out) {
  if (!word) return absl::DataLossError(absl::StrCat("'", text, "' is no word of this column"));
  *out = *word;
  return absl::OkStatus();
}

absl::Status ReadWords(const Statement& row, int outcome_column, plan::Result* r) {
  const std::string outcome = row.Text(outcome_column);
  const std::string phase = row.Text(outcome_column + 2);
  const std::string blame = row.Text(outcome_column + 3);
  RETURN_IF_ERROR(ReadWord(plan::ParseOutcome(outcome), outcome, &r->outcome));
  RETURN_IF_ERROR(ReadWord(plan::ParsePhase(phase), phase, &r->phase));
  return ReadWord(plan::ParseBlame(blame), blame, &r->blame);
}

// Most are empty, and a page has hundreds of rows.
json ParseColumn(const std::string& text) {
  if (text == "{}") return json::object();
  if (text == "[]") return json::array();
  return json::parse(text, nullptr, false);
}

absl::Status ReadJsonColumns(const Statement& row, int column, plan::Result* r) {
  const json in_force = ParseColumn(row.Text(column));
  const json notes = ParseColumn(row.Text(column + 1));
  const json artifacts = ParseColumn(row.Text(column + 3));
  if (!in_force.is_object() || !notes.is_array() || !artifacts.is_array()) {
    return absl::DataLossError("in_force is no JSON object, or notes or artifacts no array");
  }
  r->compiler_report = row.Text(column + 2);
  for (const auto& [key, value] : in_force.items()) {
    if (value.is_string()) r->in_force[key] = value.get<std::string>();
  }
  for (const json& note : notes) {
    if (note.is_string()) r->notes.push_back(note.get<std::string>());
  }
  for (const json& path : artifacts) {
    if (path.is_string()) r->artifacts.push_back(path.get<std::string>());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InsertResult(Database& db, ExperimentId experiment, LeaseEpoch lease,
                          const plan::Result& r, const ResultTimes& times) {
  Statement insert(db, InsertSql());
  insert.Bind(experiment, NullIfNone(lease), std::string_view(ToString(r.outcome)), r.status,
              ToString(r.phase), ToString(r.blame), r.error, r.detail, r.exit_code, r.exit_signal,
              r.batch_size, r.weights, r.threads, r.cores, r.accuracy_rule,
              r.accuracy_function_hash);
  plan::ForEachMetric(r.metrics, [&](const char*, const auto& value) { insert.Bind(value); });
  const std::string phases = EncodePhases(r.phases);
  insert.Bind(Blob{phases}, r.start_proof.cache_files_before, r.start_proof.cache_hits,
              r.start_proof.cache_misses, r.start_proof.proven, Dump(r.in_force), Dump(r.notes),
              r.compiler_report, Dump(r.artifacts), times.started_at, times.finished_at,
              times.received_at);
  RETURN_IF_ERROR(insert.Run());
  if (r.eager_ns.empty() && r.compiled_ns.empty()) return absl::OkStatus();
  const std::string eager = EncodeInt64s(r.eager_ns);
  const std::string compiled = EncodeInt64s(r.compiled_ns);
  Statement sample(db, "INSERT INTO sample(experiment, eager_ns, compiled_ns) VALUES (?, ?, ?)");
  return sample.Bind(experiment, Blob{eager}, Blob{compiled}).Run();
}

const std::string& ResultColumns() {
  static const auto* const columns = new std::string("r." + absl::StrJoin(ColumnNames(), ", r."));
  return *columns;
}

absl::Status ReadResult(const Statement& row, int* column, plan::Result* r) {
  int c = *column;
  RETURN_IF_ERROR(ReadWords(row, c, r));
  r->status = row.Text(c + 1);
  c += 4;
  r->error = row.Text(c++);
  r->detail = row.Text(c++);
  r->exit_code = static_cast<int>(row.Int(c++));
  r->exit_signal = static_cast<int>(row.Int(c++));
  r->batch_size = static_cast<int>(row.Int(c++));
  r->weights = row.Text(c++);
  r->threads = static_cast<int>(row.Int(c++));
  r->cores = row.Text(c++);
  r->accuracy_rule = row.Text(c++);
  r->accuracy_function_hash = row.Text(c++);
  plan::ForEachMetric(r->metrics, [&](const char*, auto& value) {
    using Number = typename std::remove_reference_t<decltype(value)>::value_type;
    if (!row.IsNull(c)) {
      if constexpr (std::is_integral_v<Number>) {
        value = row.Int(c);
      } else {
        value = row.Real(c);
      }
    }
    ++c;
  });
  ASSIGN_OR_RETURN(r->phases, DecodePhases(row.Text(c++)));
  r->start_proof.cache_files_before = row.Int(c++);
  r->start_proof.cache_hits = row.Int(c++);
  r->start_proof.cache_misses = row.Int(c++);
  r->start_proof.proven = row.Int(c++) != 0;
  RETURN_IF_ERROR(ReadJsonColumns(row, c, r));
  *column = c + 4;
  return absl::OkStatus();
}

}  // namespace dynbench::store
