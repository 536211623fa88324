#include "common/formats/upstream_read.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/formats/csv.h"
#include "common/formats/upstream_cells.h"
#include "common/formats/upstream_status.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using internal::Cells;
using internal::IsNumber;
using nlohmann::json;

constexpr size_t kOtherColumnsMax = 64;
constexpr size_t kGraphBreaksMax = 200;
constexpr size_t kNotesMax = 50;
constexpr size_t kTextMax = 2'000;
constexpr double kCountMax = 1e15;  // a double holds every whole number up to it

std::string Short(std::string_view text) { return std::string(text.substr(0, kTextMax)); }

// A column that is a metric here: where it goes, and what its unit is multiplied with.
struct MetricColumn {
  const char* column;
  std::optional<double> plan::Metrics::*number = nullptr;
  std::optional<int64_t> plan::Metrics::*count = nullptr;
  double factor = 1;
  bool positive = false;  // zero means "not measured" (upstream's memory of devices it cannot ask)
};

const std::vector<MetricColumn>& MetricColumns() {
  using M = plan::Metrics;
  static const auto* const columns = new std::vector<MetricColumn>{
      {"speedup", &M::speedup, nullptr, 1, true},
      {"abs_latency", &M::abs_latency_ms, nullptr, 1, true},
      {"compilation_latency", &M::compilation_latency_s},
      {"compression_ratio", &M::compression_ratio, nullptr, 1, true},
      {"eager_peak_mem", &M::eager_peak_memory_bytes, nullptr, 1e9, true},
      {"dynamo_peak_mem", &M::compiled_peak_memory_bytes, nullptr, 1e9, true},
      {"cache_lookup_latency", &M::cache_lookup_latency_s},
      {"eager_prefill_latency", &M::eager_prefill_latency_ms, nullptr, 1, true},
      {"input_tokens_per_second", &M::input_tokens_per_second, nullptr, 1, true},
      {"max", &M::tolerance_max},
      {"mean", &M::tolerance_mean},
      {"std", &M::tolerance_std},
      {"distance", &M::accuracy_distance},
      {"tolerance", &M::accuracy_tolerance, nullptr, 1, true},
      {"multiplier", &M::accuracy_multiplier, nullptr, 1, true},
      {"calls_captured", nullptr, &M::calls_captured},
      {"unique_graphs", nullptr, &M::unique_graphs},
      {"fallbacks_to_eager", nullptr, &M::fallbacks_to_eager},
      {"graph_breaks", nullptr, &M::graph_breaks},
      {"unique_graph_breaks", nullptr, &M::unique_graph_breaks},
      {"autograd_captures", nullptr, &M::autograd_captures},
      {"autograd_compiles", nullptr, &M::autograd_compiles},
      {"cudagraph_skips", nullptr, &M::cudagraph_skips},
      {"total_aot_graphs", nullptr, &M::total_aot_graphs},
      {"ok_aot_graphs", nullptr, &M::ok_aot_graphs},
  };
  return *columns;
}

const MetricColumn* FindMetric(const std::string& column) {
  for (const MetricColumn& known : MetricColumns()) {
    if (column == known.column) return &known;
  }
  return nullptr;
}

// Puts a number where its column goes; false when it stands for nothing.
bool SetMetric(const MetricColumn& column, double value, plan::Metrics* metrics) {
  if (column.positive && value <= 0) return false;
  if (column.count != nullptr && (value < 0 || value > kCountMax)) return false;
  if (column.number != nullptr) metrics->*column.number = value * column.factor;
  if (column.count != nullptr) metrics->*column.count = static_cast<int64_t>(value);
  return true;
}

double Number(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? value : 0;
}

bool IsMeasured(const plan::Metrics& m, plan::Test test) {
  if (test == plan::Test::kTolerance) return m.tolerance_max.has_value();
  return m.speedup.has_value() || m.abs_latency_ms.has_value();
}

class Reader {
 public:
  Reader(plan::Test test, std::string_view model) : test_(test), model_(model) {}

  void ReadRows(const std::string& csv);
  void FillFromJson(const std::string& text);
  void ReadStats(const std::string& csv);
  void ReadCompilerReport(const UpstreamFiles& files);
  UpstreamReading Take();

 private:
  void Note(const std::string& text) {
    if (reading_.notes.size() < kNotesMax) reading_.notes.push_back(Short(text));
  }
  void Choose(const std::vector<std::pair<internal::Header, CsvRecord>>& rows);
  UpstreamRow RowOf(const Cells& cells);
  void ReadCell(const std::string& column, const std::string& cell, UpstreamRow* row);
  void ReadMetric(const MetricColumn& column, const std::string& cell, UpstreamRow* row);
  void TakeJsonRecord(const json& record, UpstreamRow* row, std::set<std::string>* filled);

  const plan::Test test_;
  const std::string model_;
  UpstreamReading reading_;
};

void Reader::ReadRows(const std::string& csv) {
  internal::Header header;
  std::vector<std::pair<internal::Header, CsvRecord>> ours;
  std::set<std::string> others;
  int headers = 0;
  for (CsvRecord& record : ReadCsv(csv)) {
    if (internal::IsHeader(record)) {
      header = std::move(record.cells);
      ++headers;
      continue;
    }
    if (header.empty()) {
      header = internal::DefaultHeader(test_);
      Note("the CSV has no header; today's columns were taken");
    }
    if (record.cells.size() < 2 || record.cells[1] != model_) {
      others.insert(record.cells.size() < 2 ? record.cells[0] : record.cells[1]);
      continue;
    }
    ours.emplace_back(header, std::move(record));
  }
  if (headers > 1) Note(absl::StrCat("the CSV has ", headers, " headers"));
  if (!others.empty()) {
    Note("rows that are not of this model: " + absl::StrJoin(others, ", "));
  }
  Choose(ours);
}

// The last whole row counts, as it does for whoever reads upstream's files.
void Reader::Choose(const std::vector<std::pair<internal::Header, CsvRecord>>& rows) {
  std::vector<std::pair<const CsvRecord*, Cells>> whole;
  for (const auto& [header, record] : rows) {
    Cells cells = internal::Pair(header, record, test_);
    if (cells.cut) {
      Note("a row is cut: " + absl::StrJoin(record.cells, ","));
      continue;
    }
    whole.emplace_back(&record, std::move(cells));
  }
  if (whole.empty()) return;
  const auto differs = [&](const auto& other) {
    return other.first->cells != whole.back().first->cells;
  };
  if (whole.size() > 1 && std::none_of(whole.begin(), whole.end(), differs)) {
    Note(absl::StrCat("the row is there ", whole.size(), " times; it is counted once"));
  } else if (whole.size() > 1) {
    Note(absl::StrCat("there are ", whole.size(), " rows and they differ; the last one counts"));
    for (size_t i = 0; i + 1 < whole.size(); ++i) {
      Note("a row that does not count: " + absl::StrJoin(whole[i].first->cells, ","));
    }
  }
  UpstreamRow row = RowOf(whole.back().second);
  for (const std::string& note : whole.back().second.notes) Note(note);
  if (test_ == plan::Test::kAccuracy && row.status.empty()) {
    Note("the row has no status: " + absl::StrJoin(whole.back().first->cells, ","));
    return;
  }
  reading_.row = std::move(row);
}

UpstreamRow Reader::RowOf(const Cells& cells) {
  UpstreamRow row;
  for (const auto& [column, cell] : cells.by_column) ReadCell(column, cell, &row);
  if (test_ != plan::Test::kAccuracy) {
    if (IsMeasured(row.metrics, test_)) {
      row.status = "measured";
    } else {
      row.metrics = {};
    }
  } else if (row.batch_size == 0) {
    row.metrics = {};  // a failure row: what follows its word is padding
  }
  return row;
}

void Reader::ReadCell(const std::string& column, const std::string& cell, UpstreamRow* row) {
  if (column == "dev" || column == "name" || cell.empty()) return;
  if (column == "accuracy") {
    if (!IsNumber(cell)) row->status = Short(cell);
  } else if (column == "batch_size") {
    if (!absl::SimpleAtoi(cell, &row->batch_size) || row->batch_size < 0) {
      row->batch_size = 0;
      Note("batch_size is no number: " + cell);
    }
  } else if (column == "rule") {
    row->accuracy_rule = Short(cell);
  } else if (const MetricColumn* metric = FindMetric(column)) {
    ReadMetric(*metric, cell, row);
  } else if (row->other.size() < kOtherColumnsMax) {
    row->other[Short(column)] = Short(cell);
  } else {
    Note("column " + column + " is one too many: " + cell);
  }
}

void Reader::ReadMetric(const MetricColumn& column, const std::string& cell, UpstreamRow* row) {
  if (!IsNumber(cell)) {
    Note(absl::StrCat("column ", column.column, " holds no number: ", cell));
    return;
  }
  // Measured floats have decimals; a bare 0 is the padding of a row that was written shorter.
  if (column.number != nullptr && cell == "0") return;
  if (column.count != nullptr && cell.find_first_not_of("0123456789") != std::string::npos) {
    Note(absl::StrCat("column ", column.column, " is a count and holds ", cell));
    return;
  }
  SetMetric(column, Number(cell), &row->metrics);
}

void Reader::TakeJsonRecord(const json& record, UpstreamRow* row, std::set<std::string>* filled) {
  const json& metric = record["metric"];
  const std::string name = metric["name"].get<std::string>();
  const auto values = metric.find("benchmark_values");
  const bool has_number = values != metric.end() && values->is_array() && !values->empty() &&
                          values->front().is_number();
  const MetricColumn* column = FindMetric(name);
  if (column != nullptr && has_number) {
    const bool known = column->number != nullptr ? (row->metrics.*column->number).has_value()
                                                 : (row->metrics.*column->count).has_value();
    if (known && !filled->contains(name)) return;  // the CSV has it
    const double value = values->front().get<double>();
    if (std::isfinite(value) && SetMetric(*column, value, &row->metrics)) filled->insert(name);
    return;
  }
  if (name != "accuracy" || (!row->status.empty() && !filled->contains(name))) return;
  const auto extra = metric.find("extra_info");
  if (extra == metric.end() || !extra->is_object()) return;
  const auto text = extra->find("benchmark_values");
  if (text == extra->end() || !text->is_array() || text->empty() || !text->front().is_string()) {
    return;
  }
  row->status = Short(text->front().get<std::string>());
  filled->insert(name);
}

// One object a column and a row, in lines; also an array of them.
void Reader::FillFromJson(const std::string& text) {
  if (reading_.row && reading_.row->status.empty()) return;  // a failure: its zeros are there too
  std::vector<json> records;
  const json whole = json::parse(text, nullptr, false);
  if (whole.is_array()) {
    records.assign(whole.begin(), whole.end());
  } else {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      json record = json::parse(text.substr(begin, end - begin), nullptr, false);
      if (record.is_object()) records.push_back(std::move(record));
      begin = end + 1;
    }
  }
  UpstreamRow row = reading_.row.value_or(UpstreamRow{});
  if (reading_.row && row.batch_size == 0) return;  // an accuracy failure row
  std::set<std::string> filled;
  for (const json& record : records) {
    const auto is = [&](const char* room) {
      const auto it = record.find(room);
      return it != record.end() && it->is_object() && it->contains("name") &&
             (*it)["name"].is_string();
    };
    if (!record.is_object() || !is("metric") || !is("model")) continue;
    if (record["model"]["name"].get<std::string>() != model_) continue;
    TakeJsonRecord(record, &row, &filled);
  }
  if (filled.empty()) return;
  if (!reading_.row && test_ != plan::Test::kAccuracy) {
    if (!IsMeasured(row.metrics, test_)) return;
    row.status = "measured";
  }
  if (row.status.empty()) return;
  Note("from the JSON file, since the CSV lacks it: " + absl::StrJoin(filled, ", "));
  reading_.row = std::move(row);
}

void Reader::ReadStats(const std::string& csv) {
  if (!reading_.row) return;
  internal::Header header;
  for (CsvRecord& record : ReadCsv(csv)) {
    if (internal::IsHeader(record)) {
      header = std::move(record.cells);
    } else if (record.cells.size() >= 2 && record.cells[1] == model_ && record.ended) {
      for (size_t i = 3; i < std::min(header.size(), record.cells.size()); ++i) {
        const MetricColumn* column = FindMetric(header[i]);
        if (column != nullptr) ReadMetric(*column, record.cells[i], &*reading_.row);
      }
    }
  }
}

void Reader::ReadCompilerReport(const UpstreamFiles& files) {
  json report = json::object();
  internal::Header header;
  for (CsvRecord& record : ReadCsv(files.compilation_metrics)) {
    if (internal::IsHeader(record)) {
      header = std::move(record.cells);
    } else if (record.cells.size() >= 2 && record.cells[1] == model_ && record.ended) {
      for (size_t i = 3; i < std::min(header.size(), record.cells.size()); ++i) {
        if (header[i] == "tag" || !IsNumber(record.cells[i])) continue;
        report["compile_phases_s"][Short(header[i])] = Number(record.cells[i]);
      }
    }
  }
  for (const CsvRecord& record : ReadCsv(files.graph_breaks)) {
    if (record.cells.size() < 2 || record.cells[0] != model_) continue;
    json& breaks = report["graph_breaks"];
    if (breaks.size() == kGraphBreaksMax) {
      Note(absl::StrCat("more than ", kGraphBreaksMax,
                        " graph breaks; the further ones are in the ", "attempt's own files"));
      break;
    }
    breaks.push_back({{"reason", Short(record.cells[1])},
                      {"user_stack", record.cells.size() > 2 ? Short(record.cells[2]) : ""}});
  }
  if (!report.empty()) {
    reading_.compiler_report = report.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

UpstreamReading Reader::Take() { return std::move(reading_); }

}  // namespace

UpstreamReading ReadUpstream(const UpstreamFiles& files, plan::Test test, std::string_view model) {
  Reader reader(test, model);
  reader.ReadRows(files.csv);
  reader.FillFromJson(files.json);
  reader.ReadStats(files.stats);
  reader.ReadCompilerReport(files);
  return reader.Take();
}

}  // namespace dynbench::formats
