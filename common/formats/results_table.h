// The results of a job as people read them: one row for each model (and whatever else the job
// varies) with the performance and the accuracy test side by side, absolute times beside the ratio,
// then what failed with the one useful line each, why things were skipped, and one line that sums
// it all up.
//
// Everything in it is in `results --json` as well. Pure; `now` is not needed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// The whole page. Ends with the line of CoverageLine.
std::string ResultsTable(const store::JobRow& job, const std::vector<store::ResultRow>& rows,
                         const TableStyle& style);

// The same page of rows that come one by one, each needed only while it is added: what ended well
// is kept as the cells of its line.
//
// Thread-compatible.
class ResultsPage {
 public:
  ResultsPage();
  ~ResultsPage();
  ResultsPage(const ResultsPage&) = delete;
  ResultsPage& operator=(const ResultsPage&) = delete;

  void Add(const store::ResultRow& row);
  // The whole page, once.
  std::string Take(const store::JobRow& job, const TableStyle& style);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dynbench::formats
