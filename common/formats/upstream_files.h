// The set of files that upstream leaves behind for a run, made from the rows of a job: the CSV of
// each test, the JSON beside it, compile phases, graph breaks, graph counts, raw timings. Names are
// "<stem>_graph_breaks.csv" for "<stem>.csv", the stem being the name less its extension. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/formats/upstream_columns.h"

namespace dynbench::formats {

struct UpstreamFile {
  std::string name;  // relative; may hold folders where the given name does
  std::string bytes;
};

// Which files beside the CSVs; those without content are never written.
struct FilesBeside {
  bool json = true;
  bool compilation_metrics = true;
  bool graph_breaks = true;
  bool stats = false;
  bool raw_timings = false;  // needs rows with samples
};

// The CSV's name for a row; empty: in no file.
using NameOf = std::function<std::string(const store::ResultRow&)>;

// In the order of the rows. Tests have different columns: a name that two tests share is given the
// test's word ("out_accuracy.csv").
std::vector<UpstreamFile> UpstreamFiles(const std::vector<store::ResultRow>& rows,
                                        const NameOf& name_of, const UpstreamOptions& options,
                                        const FilesBeside& beside);

// The name that `submit --output` planned for the row.
std::string PlannedName(const store::ResultRow& row);

// "inductor_no_cudagraphs_timm_models_bfloat16_inference_cpu_performance.csv": the name in
// upstream's CI, from which its dashboard reads configuration, suite, precision, mode and device.
// Environment, profile and start follow the configuration where they are not the defaults.
std::string DashboardName(const store::ResultRow& row);

// `name` with `suffix` between stem and extension: ("a/results.csv", "_stats") ->
// "a/results_stats.csv".
std::string WithSuffix(const std::string& name, const std::string& suffix);

}  // namespace dynbench::formats
