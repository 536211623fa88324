// One line about a job or about one experiment that has ended. Pure.
#pragma once

#include <string>

#include "common/formats/text_table.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// "70 passed, 1 failed, 9 waiting of 80 planned": always passed and failed, of the others those
// that are not 0. They add up to what is planned.
std::string CoverageLine(const store::Coverage& coverage);

// One experiment that has ended, for a live view:
//   "repvgg_a2 performance: 1.42x (eager 30.12 ms ± 1.2%, compiled 21.21 ms ± 0.8%), compiled in 17
//   s" "repvgg_a2 accuracy: fail_accuracy in verify, blame compiler: …"
// Varying words (mode, configuration) are left to the caller. Empty while it has no result.
std::string ResultLine(const store::ResultRow& row, const TableStyle& style);

// "crash in compile, blame compiler: killed by signal 11 (SIGSEGV)": status, where, whose fault,
// and the error line, each if known.
std::string FailureText(const plan::Result& result);

}  // namespace dynbench::formats
