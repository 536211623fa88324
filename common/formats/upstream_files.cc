#include "common/formats/upstream_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/formats/upstream_csv.h"
#include "common/formats/upstream_json.h"

namespace dynbench::formats {
namespace {

using store::ResultRow;

// Where the extension begins; the name's length when it has none.
size_t StemEnd(const std::string& name) {
  const size_t slash = name.find_last_of('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = name.find_last_of('.');
  return dot == std::string::npos || dot <= begin ? name.size() : dot;
}

std::string WithExtension(const std::string& name, const std::string& extension) {
  return name.substr(0, StemEnd(name)) + extension;
}

// One CSV and the rows that go into it.
struct Group {
  std::string name;
  plan::Test test;
  std::vector<ResultRow> rows;
};

std::vector<Group> GroupsOf(const std::vector<ResultRow>& rows, const NameOf& name_of) {
  std::vector<Group> groups;
  std::map<std::string, std::set<plan::Test>> tests;
  for (const ResultRow& row : rows) {
    std::string name = name_of(row);
    if (name.empty()) continue;
    const plan::Test test = row.experiment.test;
    tests[name].insert(test);
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.name == name && group.test == test;
    });
    Group& group = known != groups.end() ? *known : groups.emplace_back(Group{name, test, {}});
    group.rows.push_back(row);
  }
  for (Group& group : groups) {
    if (tests[group.name].size() < 2) continue;
    group.name = WithSuffix(group.name, "_" + std::string(plan::ToString(group.test)));
  }
  return groups;
}

// A model's name is no path.
std::string FileWord(std::string word) {
  std::replace(word.begin(), word.end(), '/', '_');
  return word;
}

std::string ConfigurationWord(const plan::Experiment& e) {
  // `upstream_name` of the installed configurations (a test compares); others name themselves.
  static const std::map<std::string, std::string> words = {
      {"default", "inductor_no_cudagraphs"},
      {"cudagraphs", "inductor_with_cudagraphs"},
      {"dynamic", "inductor_dynamic"},
      {"cpp_wrapper", "inductor_cpp_wrapper"},
      {"freezing_cudagraphs", "inductor_with_cudagraphs_freezing"},
      {"freezing_autotune_cudagraphs", "inductor_with_cudagraphs_freezing_autotune"},
      {"max_autotune", "inductor_max_autotune"},
      {"aot_inductor", "inductor_aot_inductor"},
      {"export", "inductor_export"},
      {"deterministic_perf", "inductor_deterministic_perf"},
      {"batch_invariant_accuracy", "inductor_batch_invariant_accuracy"},
  };
  const auto found = words.find(e.configuration);
  if (found != words.end()) return found->second;
  const std::string backend = UpstreamBackend(e.options);
  return e.configuration == backend ? backend : backend + "_" + e.configuration;
}

}  // namespace

std::string WithSuffix(const std::string& name, const std::string& suffix) {
  const size_t end = StemEnd(name);
  return name.substr(0, end) + suffix + name.substr(end);
}

std::string PlannedName(const ResultRow& row) { return row.experiment.output; }

std::string DashboardName(const ResultRow& row) {
  const plan::Experiment& e = row.experiment;
  std::string name = ConfigurationWord(e);
  if (e.environment != "default") name += "_" + e.environment;
  if (e.profile != "default") name += "_" + e.profile;
  if (e.start != plan::Start::kCold) name += "_" + std::string(plan::ToString(e.start));
  for (const std::string& word :
       {UpstreamSuite(e.suite), std::string(plan::ToString(e.precision)),
        std::string(plan::ToString(e.mode)), e.device, std::string(plan::ToString(e.test))}) {
    name += "_" + word;
  }
  return FileWord(name) + ".csv";
}

std::vector<UpstreamFile> UpstreamFiles(const std::vector<ResultRow>& rows, const NameOf& name_of,
                                        const UpstreamOptions& options, const FilesBeside& beside) {
  std::vector<UpstreamFile> files;
  const auto add = [&](const std::string& name, std::string bytes) {
    if (!bytes.empty()) files.push_back({name, std::move(bytes)});
  };
  for (const Group& group : GroupsOf(rows, name_of)) {
    // The CSV is written even when it holds the header alone: a job that measured nothing says so.
    files.push_back({group.name, UpstreamCsv(group.test, group.rows, options)});
    if (beside.json) {
      add(WithExtension(group.name, ".json"),
          UpstreamJson(group.test, group.rows, options, group.name));
    }
    if (beside.compilation_metrics) {
      add(WithSuffix(group.name, "_compilation_metrics"),
          CompilationMetricsCsv(group.rows, options));
    }
    if (beside.graph_breaks) {
      add(WithSuffix(group.name, "_graph_breaks"), GraphBreaksCsv(group.rows, false));
      add(WithSuffix(group.name, "_graph_breaks_deduped"), GraphBreaksCsv(group.rows, true));
    }
    if (beside.stats) add(WithSuffix(group.name, "_stats"), StatsCsv(group.rows));
    if (!beside.raw_timings) continue;
    for (const ResultRow& row : group.rows) {
      add(group.name.substr(0, StemEnd(group.name)) + "-raw_timings-" +
              FileWord(row.experiment.model) + "-" + row.experiment.device + ".npy",
          RawTimingsNpy(row));
    }
  }
  return files;
}

}  // namespace dynbench::formats
