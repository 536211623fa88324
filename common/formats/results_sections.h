// What stands under the table of a job: failures, reasons and notes. Private to common/formats; the
// rows given may leave out those that have none of these. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/formats/text_table.h"
#include "common/store/queries.h"

namespace dynbench::formats {

// `varies`: which of the words (results_words.h) a subject needs beside its model and test.
std::string Failures(const store::JobRow& job, const std::vector<store::ResultRow>& rows,
                     const std::vector<bool>& varies, const TableStyle& style);
// Reasons of skipped and cancelled rows, each once with how many it holds for.
std::string Reasons(const std::vector<store::ResultRow>& rows, plan::Outcome outcome,
                    const TableStyle& style);
std::string Notes(const std::vector<store::ResultRow>& rows, const std::vector<bool>& varies,
                  const TableStyle& style);

}  // namespace dynbench::formats
