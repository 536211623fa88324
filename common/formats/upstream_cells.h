// One row of upstream's CSV under its header: which cell is which column. Private to
// common/formats. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/formats/csv.h"
#include "common/plan/words.h"

namespace dynbench::formats::internal {

using Header = std::vector<std::string>;

bool IsHeader(const CsvRecord& record);

// Today's columns, for a file without a header.
Header DefaultHeader(plan::Test test);

// A finite number and nothing else.
bool IsNumber(std::string_view text);

struct Cells {
  std::vector<std::pair<std::string, std::string>> by_column;  // in order
  std::vector<std::string> notes;
  bool cut = false;  // the text stopped within this row: it counts for nothing
};

// Pairs cells with columns. Upstream writes by position, and its header may be of another row: a
// status word stands fourth in a failure row whatever the header says, and a row that was written
// before a `tag` column came has no cell for it.
Cells Pair(const Header& header, const CsvRecord& record, plan::Test test);

}  // namespace dynbench::formats::internal
