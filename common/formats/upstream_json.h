// Upstream's JSON beside a CSV: a line for each column of each row, in the shape that its
// dashboard's database reads (docs/upstream-differences.md). Unlike upstream's, it is written
// whole, and rows that failed to load have their records too. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/formats/upstream_columns.h"

namespace dynbench::formats {

// The records of the rows of `test`; `output` is the CSV's name, from which the dashboard reads
// what was measured.
std::string UpstreamJson(plan::Test test, const std::vector<store::ResultRow>& rows,
                         const UpstreamOptions& options, const std::string& output);

// "timm" -> "timm_models": the suite as upstream's scripts are called.
std::string UpstreamSuite(const std::string& suite);

// What upstream calls the backend of its records: the ahead-of-time path where there is one.
std::string UpstreamBackend(const plan::CompileOptions& options);

}  // namespace dynbench::formats
