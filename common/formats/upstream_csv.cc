#include "common/formats/upstream_csv.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "common/formats/format_number.h"

namespace dynbench::formats {
namespace {

constexpr char kCounters[] =
    "calls_captured,unique_graphs,fallbacks_to_eager,graph_breaks,unique_graph_breaks,"
    "autograd_captures,autograd_compiles,cudagraph_skips";

std::string Quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string Line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + Quoted(cells[i]);
  return line + "\n";
}

std::string Float(const std::optional<double>& value) {
  return value ? Fixed(*value, 6) : std::string("0");
}

std::string Gigabytes(const std::optional<double>& bytes) {
  return bytes ? Fixed(*bytes / 1e9, 6) : std::string("0");
}

std::vector<std::string> Counters(const plan::Metrics& m) {
  std::vector<std::string> cells;
  for (const auto& counter :
       {m.calls_captured, m.unique_graphs, m.fallbacks_to_eager, m.graph_breaks,
        m.unique_graph_breaks, m.autograd_captures, m.autograd_compiles, m.cudagraph_skips}) {
    cells.push_back(std::to_string(counter.value_or(0)));
  }
  return cells;
}

std::string PerformanceLine(const store::ResultRow& row) {
  const plan::Result& result = *row.result;
  const bool measured = result.outcome == plan::Outcome::kPassed;
  const plan::Metrics metrics = measured ? result.metrics : plan::Metrics{};
  std::vector<std::string> cells = {row.experiment.device,
                                    row.experiment.model,
                                    std::to_string(measured ? result.batch_size : 0),
                                    Fixed(metrics.speedup.value_or(0), 6),
                                    Fixed(metrics.abs_latency_ms.value_or(0), 6),
                                    Float(metrics.compilation_latency_s),
                                    Float(metrics.compression_ratio),
                                    Gigabytes(metrics.eager_peak_memory_bytes),
                                    Gigabytes(metrics.compiled_peak_memory_bytes)};
  for (std::string& counter : Counters(metrics)) cells.push_back(std::move(counter));
  return Line(cells);
}

std::string AccuracyLine(const store::ResultRow& row) {
  const plan::Result& result = *row.result;
  // A lost experiment has upstream's historic word for it when nothing better is known.
  const std::string status = result.status.empty() ? "infra_error" : result.status;
  std::vector<std::string> cells = {row.experiment.device, row.experiment.model,
                                    std::to_string(result.batch_size), status};
  for (std::string& counter : Counters(result.metrics)) cells.push_back(std::move(counter));
  cells.push_back(Float(result.metrics.compilation_latency_s));
  return Line(cells);
}

bool WasTried(const store::ResultRow& row) {
  if (!row.result) return false;
  const plan::Outcome outcome = row.result->outcome;
  return outcome == plan::Outcome::kPassed || outcome == plan::Outcome::kFailed ||
         outcome == plan::Outcome::kLost;
}

}  // namespace

std::string UpstreamCsv(plan::Test test, const std::vector<store::ResultRow>& rows) {
  const bool performance = test == plan::Test::kPerformance;
  std::string text =
      performance
          ? std::string("dev,name,batch_size,speedup,abs_latency,compilation_latency,") +
                "compression_ratio,eager_peak_mem,dynamo_peak_mem," + kCounters
          : std::string("dev,name,batch_size,accuracy,") + kCounters + ",compilation_latency";
  text += "\n";
  for (const store::ResultRow& row : rows) {
    if (row.experiment.test != test || !WasTried(row)) continue;
    text += performance ? PerformanceLine(row) : AccuracyLine(row);
  }
  return text;
}

std::vector<CsvFile> UpstreamCsvFiles(const std::vector<store::ResultRow>& rows) {
  std::vector<CsvFile> files;
  for (const store::ResultRow& row : rows) {
    const std::string& name = row.experiment.output;
    if (name.empty()) continue;
    const bool known = std::any_of(files.begin(), files.end(), [&](const CsvFile& file) {
      return file.name == name && file.test == row.experiment.test;
    });
    if (known) continue;
    std::vector<store::ResultRow> its_rows;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(its_rows),
                 [&](const store::ResultRow& r) { return r.experiment.output == name; });
    files.push_back({name, row.experiment.test, UpstreamCsv(row.experiment.test, its_rows)});
  }
  return files;
}

}  // namespace dynbench::formats
