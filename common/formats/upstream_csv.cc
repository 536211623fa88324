#include "common/formats/upstream_csv.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/formats/compiler_report.h"
#include "common/formats/csv.h"
#include "common/formats/format_number.h"

namespace dynbench::formats {
namespace {

using store::ResultRow;

std::vector<std::string> Names(const std::vector<UpstreamColumn>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const UpstreamColumn& column : columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> Cells(const std::vector<UpstreamColumn>& columns, const ResultRow& row) {
  std::vector<std::string> cells;
  cells.reserve(columns.size());
  for (const UpstreamColumn& column : columns) cells.push_back(column.cell(row).text);
  return cells;
}

std::string BatchSizes(const std::vector<ResultRow>& rows) {
  std::string text;
  for (const ResultRow& row : rows) {
    if (row.experiment.test != plan::Test::kBatchSize || !row.result) continue;
    if (row.result->outcome != plan::Outcome::kPassed || row.result->batch_size < 1) continue;
    text += CsvLine({row.experiment.model, std::to_string(row.result->batch_size)});
  }
  return text;
}

}  // namespace

std::string UpstreamCsv(plan::Test test, const std::vector<ResultRow>& rows,
                        const UpstreamOptions& options) {
  if (test == plan::Test::kBatchSize) return BatchSizes(rows);
  const std::vector<UpstreamColumn> columns = UpstreamColumns(test, rows, options);
  std::string text = CsvLine(Names(columns));
  for (const ResultRow& row : rows) {
    if (row.experiment.test != test || !HasUpstreamRow(row)) continue;
    text += CsvLine(Cells(columns, row));
  }
  return text;
}

std::string CompilationMetricsCsv(const std::vector<ResultRow>& rows,
                                  const UpstreamOptions& options) {
  std::set<std::string> phases;
  std::vector<std::pair<const ResultRow*, std::map<std::string, double>>> reported;
  for (const ResultRow& row : rows) {
    if (!HasUpstreamRow(row)) continue;
    auto seconds = CompilePhases(*row.result);
    if (seconds.empty()) continue;
    for (const auto& [phase, value] : seconds) phases.insert(phase);
    reported.emplace_back(&row, std::move(seconds));
  }
  if (reported.empty()) return "";
  std::vector<UpstreamColumn> columns = UpstreamKeyColumns(options);
  std::vector<std::string> header = Names(columns);
  header.insert(header.end(), phases.begin(), phases.end());
  std::string text = CsvLine(header);
  for (const auto& [row, seconds] : reported) {
    std::vector<std::string> cells = Cells(columns, *row);
    for (const std::string& phase : phases) {
      const auto found = seconds.find(phase);
      cells.push_back(found == seconds.end() ? "0" : Fixed(found->second, 6));
    }
    text += CsvLine(cells);
  }
  return text;
}

std::string GraphBreaksCsv(const std::vector<ResultRow>& rows, bool deduped) {
  std::string text;
  std::set<std::string> known;
  for (const ResultRow& row : rows) {
    if (!row.result) continue;
    for (const GraphBreak& graph_break : GraphBreaks(*row.result)) {
      if (deduped && !known.insert(graph_break.reason).second) continue;
      text += CsvLine({row.experiment.model, graph_break.reason, graph_break.user_stack},
                      /*quote_all=*/true);
    }
  }
  return text.empty() ? text
                      : CsvLine({"model", "reason", "user_stack"}, /*quote_all=*/true) + text;
}

std::string StatsCsv(const std::vector<ResultRow>& rows) {
  std::string text;
  const std::vector<UpstreamColumn> columns = UpstreamKeyColumns({});
  for (const ResultRow& row : rows) {
    if (!HasUpstreamRow(row) || !row.result->metrics.total_aot_graphs) continue;
    std::vector<std::string> cells = Cells(columns, row);
    cells.push_back(std::to_string(*row.result->metrics.total_aot_graphs));
    cells.push_back(std::to_string(row.result->metrics.ok_aot_graphs.value_or(0)));
    text += CsvLine(cells);
  }
  if (text.empty()) return text;
  return CsvLine({"dev", "name", "batch_size", "total_aot_graphs", "ok_aot_graphs"}) + text;
}

std::string RawTimingsNpy(const ResultRow& row) {
  static_assert(std::endian::native == std::endian::little, "'<f8' is written as it lies");
  if (!row.result) return "";
  const auto& eager = row.result->eager_ns;
  const auto& compiled = row.result->compiled_ns;
  const size_t pairs = std::min(eager.size(), compiled.size());
  if (pairs == 0) return "";
  std::string header =
      absl::StrCat("{'descr': '<f8', 'fortran_order': False, 'shape': (", pairs, ", 2), }");
  // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  for (size_t i = 0; i < pairs; ++i) {
    const double seconds[2] = {static_cast<double>(eager[i]) / 1e9,
                               static_cast<double>(compiled[i]) / 1e9};
    bytes.append(reinterpret_cast<const char*>(seconds), sizeof seconds);
  }
  return bytes;
}

}  // namespace dynbench::formats
