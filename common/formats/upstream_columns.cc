#include "common/formats/upstream_columns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/base/status.h"
#include "common/formats/csv.h"
#include "common/formats/format_number.h"

namespace dynbench::formats {
namespace {

using plan::Metrics;
using plan::Outcome;
using plan::Test;
using store::ResultRow;

UpstreamCell Text(const std::string& text) { return {text, std::nullopt, true}; }

UpstreamCell Count(int64_t count, bool known = true) {
  return {std::to_string(count), static_cast<double>(count), known};
}

// Six decimals; what was not measured is upstream's filler 0.
UpstreamCell Float(const std::optional<double>& value) {
  if (!value) return {"0", 0.0, false};
  return {Fixed(*value, 6), *value, true};
}

UpstreamCell Gigabytes(const std::optional<double>& bytes) {
  return Float(bytes ? std::optional<double>(*bytes / 1e9) : std::nullopt);
}

// A failed performance row is zeros, whatever was measured before it failed.
const Metrics& MetricsOf(const ResultRow& row) {
  static const Metrics kNone;
  const bool counts =
      row.experiment.test == Test::kAccuracy || row.result->outcome == Outcome::kPassed;
  return counts ? row.result->metrics : kNone;
}

template <typename T>
UpstreamColumn Metric(const char* name, std::optional<T> Metrics::*member) {
  return {name, [member](const ResultRow& row) {
            const std::optional<T>& value = MetricsOf(row).*member;
            if constexpr (std::is_same_v<T, int64_t>) {
              return Count(value.value_or(0), value.has_value());
            } else {
              return Float(value);
            }
          }};
}

// speedup and abs_latency: zeros with decimals in a failed row, and never only a filler.
UpstreamColumn Main(const char* name, std::optional<double> Metrics::*member) {
  return {name,
          [member](const ResultRow& row) { return Float((MetricsOf(row).*member).value_or(0)); }};
}

UpstreamColumn Bytes(const char* name, std::optional<double> Metrics::*member) {
  return {name, [member](const ResultRow& row) { return Gigabytes(MetricsOf(row).*member); }};
}

void AddCounters(std::vector<UpstreamColumn>* columns) {
  columns->push_back(Metric("calls_captured", &Metrics::calls_captured));
  columns->push_back(Metric("unique_graphs", &Metrics::unique_graphs));
  columns->push_back(Metric("fallbacks_to_eager", &Metrics::fallbacks_to_eager));
  columns->push_back(Metric("graph_breaks", &Metrics::graph_breaks));
  columns->push_back(Metric("unique_graph_breaks", &Metrics::unique_graph_breaks));
  columns->push_back(Metric("autograd_captures", &Metrics::autograd_captures));
  columns->push_back(Metric("autograd_compiles", &Metrics::autograd_compiles));
  columns->push_back(Metric("cudagraph_skips", &Metrics::cudagraph_skips));
}

// By name; a model that the baseline lacks has empty cells, not zeros.
void AddBaseline(const std::map<std::string, double>& baseline,
                 std::vector<UpstreamColumn>* columns) {
  const auto find = [baseline](const ResultRow& row) -> std::optional<double> {
    const auto found = baseline.find(row.experiment.model);
    if (found == baseline.end()) return std::nullopt;
    return found->second;
  };
  const UpstreamCell empty{"", std::nullopt, false};
  columns->push_back({"baseline", [find, empty](const ResultRow& row) {
                        const auto value = find(row);
                        return value ? Float(value) : empty;
                      }});
  columns->push_back({"speedup_vs_baseline", [find, empty](const ResultRow& row) {
                        const auto value = find(row);
                        const std::optional<double>& speedup = MetricsOf(row).speedup;
                        return value && *value > 0 && speedup ? Float(*speedup / *value) : empty;
                      }});
}

bool AnyHas(const std::vector<ResultRow>& rows, std::optional<double> Metrics::*member) {
  return std::any_of(rows.begin(), rows.end(), [&](const ResultRow& row) {
    return row.result && (row.result->metrics.*member).has_value();
  });
}

void AddPerformance(const std::vector<ResultRow>& rows, const UpstreamOptions& options,
                    std::vector<UpstreamColumn>* columns) {
  columns->push_back(Main("speedup", &Metrics::speedup));
  columns->push_back(Main("abs_latency", &Metrics::abs_latency_ms));
  if (options.baseline) AddBaseline(*options.baseline, columns);
  columns->push_back(Metric("compilation_latency", &Metrics::compilation_latency_s));
  columns->push_back(Metric("compression_ratio", &Metrics::compression_ratio));
  columns->push_back(Bytes("eager_peak_mem", &Metrics::eager_peak_memory_bytes));
  columns->push_back(Bytes("dynamo_peak_mem", &Metrics::compiled_peak_memory_bytes));
  const bool lookup = std::any_of(rows.begin(), rows.end(), [](const ResultRow& row) {
    return row.experiment.measure_cache_lookup;
  });
  if (lookup) columns->push_back(Metric("cache_lookup_latency", &Metrics::cache_lookup_latency_s));
  AddCounters(columns);
  if (AnyHas(rows, &Metrics::input_tokens_per_second)) {
    columns->push_back(Metric("eager_prefill_latency", &Metrics::eager_prefill_latency_ms));
    columns->push_back(Metric("input_tokens_per_second", &Metrics::input_tokens_per_second));
  }
}

}  // namespace

bool HasUpstreamRow(const ResultRow& row) {
  if (!row.result) return false;
  const Outcome outcome = row.result->outcome;
  return outcome == Outcome::kPassed || outcome == Outcome::kFailed || outcome == Outcome::kLost;
}

std::vector<UpstreamColumn> UpstreamKeyColumns(const UpstreamOptions& options) {
  std::vector<UpstreamColumn> columns = {
      {"dev", [](const ResultRow& row) { return Text(row.experiment.device); }},
      {"name", [](const ResultRow& row) { return Text(row.experiment.model); }},
      {"batch_size", [](const ResultRow& row) {
         const bool counts =
             row.experiment.test == Test::kAccuracy || row.result->outcome == Outcome::kPassed;
         return Count(counts ? row.result->batch_size : 0);
       }}};
  if (options.tag) {
    columns.push_back({"tag", [tag = *options.tag](const ResultRow&) { return Text(tag); }});
  }
  return columns;
}

std::vector<UpstreamColumn> UpstreamColumns(Test test, const std::vector<ResultRow>& rows,
                                            const UpstreamOptions& options) {
  std::vector<UpstreamColumn> columns = UpstreamKeyColumns(options);
  switch (test) {
    case Test::kPerformance:
      AddPerformance(rows, options, &columns);
      break;
    case Test::kAccuracy:
      columns.push_back({"accuracy", [](const ResultRow& row) {
                           // A lost experiment has upstream's historic word for it when nothing
                           // better is known.
                           const std::string& status = row.result->status;
                           return Text(status.empty() ? "infra_error" : status);
                         }});
      AddCounters(&columns);
      columns.push_back(Metric("compilation_latency", &Metrics::compilation_latency_s));
      break;
    case Test::kTolerance:
      columns.push_back(Metric("max", &Metrics::tolerance_max));
      columns.push_back(Metric("mean", &Metrics::tolerance_mean));
      columns.push_back(Metric("std", &Metrics::tolerance_std));
      break;
    case Test::kBatchSize:  // the key columns say it all
      break;
  }
  return columns;
}

absl::StatusOr<std::map<std::string, double>> ReadBaseline(const std::string& text,
                                                           const std::string& file_name) {
  auto lines = ParseCsv(text);
  RETURN_IF_ERROR(Annotate(lines.status(), file_name));
  const auto column = [&](const char* name) -> size_t {
    if (lines->empty()) return std::string::npos;
    const auto& header = lines->front();
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? std::string::npos : static_cast<size_t>(found - header.begin());
  };
  const size_t name = column("name"), speedup = column("speedup");
  if (name == std::string::npos || speedup == std::string::npos) {
    return absl::InvalidArgumentError(
        file_name +
        ": a baseline is a performance CSV, whose header names the columns \"name\" "
        "and \"speedup\"");
  }
  std::map<std::string, double> speedups;
  for (size_t i = 1; i < lines->size(); ++i) {
    const auto& cells = (*lines)[i];
    double value = 0;
    if (cells.size() <= std::max(name, speedup)) continue;
    if (absl::SimpleAtod(cells[speedup], &value) && value > 0) speedups[cells[name]] = value;
  }
  if (speedups.empty()) {
    return absl::InvalidArgumentError(file_name + ": holds no model with a speedup");
  }
  return speedups;
}

}  // namespace dynbench::formats
