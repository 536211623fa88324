#include "common/formats/upstream_cells.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/formats/upstream_status.h"

namespace dynbench::formats::internal {
namespace {

constexpr size_t kStatusCell = 3;  // dev, name, batch_size, status

// How upstream writes a float: six decimals.
bool IsFloat(std::string_view text) {
  const size_t dot = text.find('.');
  return dot != std::string_view::npos && text.size() - dot == 7 && IsNumber(text);
}

bool HasTagCell(const CsvRecord& record) { return !IsFloat(record.cells[kStatusCell]); }

}  // namespace

bool IsHeader(const CsvRecord& record) {
  return record.cells.size() >= 2 && record.cells[0] == "dev" && record.cells[1] == "name";
}

Header DefaultHeader(plan::Test test) {
  Header header = {"dev", "name", "batch_size"};
  std::vector<std::string> counters = {
      "calls_captured",      "unique_graphs",     "fallbacks_to_eager", "graph_breaks",
      "unique_graph_breaks", "autograd_captures", "autograd_compiles",  "cudagraph_skips"};
  std::vector<std::string> columns;
  switch (test) {
    case plan::Test::kAccuracy:
      columns = {"accuracy"};
      columns.insert(columns.end(), counters.begin(), counters.end());
      columns.push_back("compilation_latency");
      break;
    case plan::Test::kTolerance:
      columns = {"max", "mean", "std"};
      break;
    default:
      columns = {"speedup",           "abs_latency",    "compilation_latency",
                 "compression_ratio", "eager_peak_mem", "dynamo_peak_mem"};
      columns.insert(columns.end(), counters.begin(), counters.end());
  }
  header.insert(header.end(), columns.begin(), columns.end());
  return header;
}

bool IsNumber(std::string_view text) {
  double value = 0;
  return absl::SimpleAtod(absl::string_view(text.data(), text.size()), &value) &&
         std::isfinite(value);
}

Cells Pair(const Header& header, const CsvRecord& record, plan::Test test) {
  Cells cells;
  const size_t n = record.cells.size();
  if (!record.ended && n < header.size()) {
    cells.cut = true;
    return cells;
  }
  const auto column = [&](const std::string& name) {
    return static_cast<size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  const auto cell = [&](size_t i) { return i < n ? record.cells[i] : std::string(); };
  const size_t accuracy = column("accuracy");
  const size_t tag = column("tag");
  // A failure row: what follows its word is padding.
  if (test == plan::Test::kAccuracy && accuracy != kStatusCell && n > kStatusCell &&
      MeaningOfStatus(cell(kStatusCell)) && !MeaningOfStatus(cell(accuracy))) {
    for (size_t i = 0; i < kStatusCell && i < header.size(); ++i) {
      cells.by_column.emplace_back(header[i], cell(i));
    }
    cells.by_column.emplace_back("accuracy", cell(kStatusCell));
    cells.notes.push_back(absl::StrCat("the status \"", cell(kStatusCell),
                                       "\" stood in another column than accuracy"));
    return cells;
  }
  const bool no_tag = tag == kStatusCell && n > kStatusCell && !HasTagCell(record);
  if (no_tag) cells.notes.emplace_back("the row is older than its header's tag column");
  size_t i = 0;
  for (size_t c = 0; c < header.size() && i < n; ++c) {
    if (no_tag && c == tag) continue;
    const bool last_of_cut = !record.ended && i + 1 == n;
    if (last_of_cut && header.size() > kStatusCell + 1) {
      cells.notes.push_back(absl::StrCat("the file ends within the row: its last cell, ", header[c],
                                         ", is not used"));
      return cells;
    }
    cells.by_column.emplace_back(header[c], record.cells[i++]);
  }
  if (i < n && !no_tag) {
    cells.notes.push_back(absl::StrCat("the row has ", n, " cells under ", header.size(),
                                       " columns; the further ones are not used"));
  }
  return cells;
}

}  // namespace dynbench::formats::internal
