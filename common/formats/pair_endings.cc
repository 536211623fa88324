#include "common/formats/pair_endings.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "common/formats/text_table.h"
#include "common/plan/experiment.h"

namespace dynbench::formats {

std::string PairEndings(const std::vector<store::ResultRow>& rows) {
  std::map<int, std::string> ended;
  for (const store::ResultRow& row : rows) {
    if (!row.unneeded_round()) continue;
    ended.try_emplace(
        row.experiment.pair,
        absl::StrCat(row.experiment.model, " ", std::string(plan::ToString(row.experiment.test)),
                     ": ", row.result->error));
  }
  std::string text = ended.empty() ? "" : "\npairs\n";
  for (const auto& [pair, line] : ended) absl::StrAppend(&text, "  ", Printable(line), "\n");
  return text;
}

}  // namespace dynbench::formats
