// A comparison for people: the dashboard's tables, what to read first, then the models; as text for
// terminals or as markdown for an issue. Pure.
#pragma once

#include <string>

#include "common/formats/text_table.h"
#include "common/judge/compare.h"

namespace dynbench::formats {

struct CompareView {
  bool markdown = false;
  bool all = false;  // every model and every finding, however many
};

std::string CompareTable(const judge::Comparison& comparison, const CompareView& view,
                         const TableStyle& style);

// Everything about one model: its processes with their spread, drift and clusters, what differs
// between the sides, and how each verdict came about. Processes need their samples for drift and
// clusters. NotFound is the caller's: an unknown model gives an empty text.
std::string CompareWhy(const judge::Comparison& comparison, const std::string& model,
                       const CompareView& view, const TableStyle& style);

// The table that hardware vendors put into issues, as CSV (latencies in seconds): a line for each
// model that was measured on both sides, then software, a command that reproduces the worst finding
// and the range of the suspect.
std::string RegressionTable(const judge::Comparison& comparison);

}  // namespace dynbench::formats
