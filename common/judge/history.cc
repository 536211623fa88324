#include "common/judge/history.h"

#include <map>
#include <tuple>

namespace dynbench::judge {
namespace {

// "2 x NVIDIA H200, 1 x NVIDIA T4" -> "NVIDIA H200, NVIDIA T4".
std::string WithoutCounts(const std::string& gpus) {
  std::string kinds;
  size_t begin = 0;
  while (begin < gpus.size()) {
    size_t end = gpus.find(", ", begin);
    if (end == std::string::npos) end = gpus.size();
    const std::string part = gpus.substr(begin, end - begin);
    const size_t times = part.find(" x ");
    kinds +=
        (kinds.empty() ? "" : ", ") + (times == std::string::npos ? part : part.substr(times + 3));
    begin = end + 2;
  }
  return kinds;
}

}  // namespace

std::string DeviceKind(const Facts& host, const std::string& device) {
  const auto fact = host.find(device == "cpu" ? "CPU" : "GPU");
  if (fact == host.end()) return "unknown";
  return device == "cpu" ? fact->second : WithoutCounts(fact->second);
}

std::vector<SeriesHistory> GroupHistory(const store::History& history) {
  std::map<std::string, Facts> hosts;
  for (const auto& [hash, inventory] : history.inventories) hosts[hash] = HostFacts(inventory);
  std::map<std::tuple<std::string, std::string, std::string>, SeriesHistory> lines;
  for (const store::HistoryRow& row : history.rows) {
    const plan::Experiment& experiment = row.row.experiment;
    const std::string series = plan::SeriesKey(experiment);
    const std::string kind = DeviceKind(hosts[row.fingerprint], experiment.device);
    SeriesHistory& line = lines[{series, experiment.environment, kind}];
    line.series = series;
    line.device_kind = kind;
    line.experiment = experiment;
    line.rows.push_back(&row);
  }
  std::multimap<std::string, SeriesHistory> by_name;
  for (auto& [key, line] : lines) {
    by_name.emplace(plan::DisplayName(line.experiment) + "\n" + line.experiment.environment + "\n" +
                        line.device_kind,
                    std::move(line));
  }
  std::vector<SeriesHistory> sorted;
  sorted.reserve(by_name.size());
  for (auto& [name, line] : by_name) sorted.push_back(std::move(line));
  return sorted;
}

}  // namespace dynbench::judge
