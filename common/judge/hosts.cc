#include "common/judge/hosts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include "common/judge/history.h"
#include "common/stats/fisher.h"
#include "common/stats/rank_interval.h"
#include "common/stats/stats.h"

namespace dynbench::judge {
namespace {

// Kind of device, then host.
using HostKey = std::pair<std::string, std::string>;
// What must be the same: kind of device, series, build, batch size, threads, cores.
using SeriesKey = std::tuple<std::string, std::string, std::string, int, int, int>;
// By series, the logarithms that each host measured.
using Values = std::map<SeriesKey, std::map<std::string, std::vector<double>>>;

struct Collected {
  Values latency, compile;
  std::map<HostKey, HostReport> hosts;
};

std::optional<double> CompileSeconds(const store::ResultRow& row) {
  if (row.experiment.start != plan::Start::kCold) return std::nullopt;
  const plan::Metrics& m = row.result->metrics;
  return m.compile_synchronized_s ? m.compile_synchronized_s : m.compilation_latency_s;
}

void Put(Values* values, const SeriesKey& key, const std::string& host,
         std::optional<double> value) {
  if (value && *value > 0) (*values)[key][host].push_back(std::log(*value));
}

Collected Collect(const store::History& history) {
  Collected all;
  for (const SeriesHistory& line : GroupHistory(history)) {
    for (const store::HistoryRow* night : line.rows) {
      const store::ResultRow& row = night->row;
      if (!row.result || row.worker_host.empty()) continue;
      HostReport& report = all.hosts[{line.device_kind, row.worker_host}];
      report.host = row.worker_host;
      report.device_kind = line.device_kind;
      const SeriesKey key = {line.device_kind,        line.series,
                             night->environment_hash, row.result->batch_size,
                             row.result->threads,     CoresIn(row.result->cores)};
      Put(&all.latency, key, row.worker_host, row.result->metrics.abs_latency_ms);
      Put(&all.compile, key, row.worker_host, CompileSeconds(row));
    }
  }
  return all;
}

// Of each host, the logarithms of its ratios to the pool, one a series.
std::map<HostKey, std::vector<double>> Ratios(const Values& values) {
  std::map<HostKey, std::vector<double>> ratios;
  for (const auto& [key, hosts] : values) {
    if (hosts.size() < 2) continue;
    std::map<std::string, double> medians;
    for (const auto& [host, logs] : hosts) medians[host] = stats::Median(logs);
    for (const auto& [host, own] : medians) {
      std::vector<double> pool;
      for (const auto& [other, median] : medians) {
        if (other != host) pool.push_back(median);
      }
      ratios[{std::get<0>(key), host}].push_back(own - stats::Median(pool));
    }
  }
  return ratios;
}

// The fewest series whose whole range is an interval of that confidence.
size_t SeriesNeeded(double error_a_side) {
  return static_cast<size_t>(std::ceil(-std::log2(error_a_side)));
}

HostFactor FactorOf(std::span<const double> ratios, double error_a_side) {
  HostFactor factor;
  factor.series = ratios.size();
  factor.series_needed = SeriesNeeded(error_a_side);
  if (ratios.empty()) return factor;
  factor.factor = std::exp(stats::Median(ratios));
  if (factor.series < factor.series_needed) return factor;
  const auto rank = stats::MedianRankInterval(ratios, 1 - 2 * error_a_side);
  factor.interval = stats::Interval{std::exp(rank.interval.low), std::exp(rank.interval.high)};
  factor.slow = factor.interval->low > kSlowFactor;
  return factor;
}

void JudgeFailures(const std::vector<store::HostAttempts>& attempts, Collected* all) {
  std::map<std::string, store::HostAttempts> by_host;
  for (const store::HostAttempts& of_host : attempts) by_host[of_host.host] = of_host;
  const auto tests = static_cast<double>(std::max<size_t>(1, all->hosts.size()));
  for (auto& [key, report] : all->hosts) {
    for (const auto& [other, unused] : all->hosts) {
      const store::HostAttempts& counts = by_host[other.second];
      if (other == key) {
        report.attempts = counts.attempts;
        report.failures = counts.failures;
      } else if (other.first == key.first) {
        ++report.pool;
        report.pool_attempts += counts.attempts;
        report.pool_failures += counts.failures;
      }
    }
    report.failures_p = stats::FisherGreater({report.failures, report.attempts},
                                             {report.pool_failures, report.pool_attempts});
    const auto rate = [](int64_t failures, int64_t of) {
      return of > 0 ? static_cast<double>(failures) / static_cast<double>(of) : 0;
    };
    report.failing = report.failures_p <= kHostsError / tests &&
                     rate(report.failures, report.attempts) >=
                         kFailingRatio * rate(report.pool_failures, report.pool_attempts);
  }
}

std::string Times(double factor) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1fx", factor);
  return text.data();
}

std::string FactorText(const char* what, const HostFactor& factor) {
  return std::string(what) + " " + Times(*factor.factor) + ", " + Times(factor.interval->low) +
         " to " + Times(factor.interval->high) + " over " + std::to_string(factor.series) +
         " series";
}

}  // namespace

std::string HostReport::Text() const {
  if (!sick()) return "";
  std::string text = host + " is ";
  if (latency.slow || compile.slow) {
    const double factor = latency.slow ? *latency.factor : *compile.factor;
    text += Times(factor) + " slower than its pool (";
    if (latency.slow) text += FactorText("latency", latency);
    if (compile.slow) text += (latency.slow ? "; " : "") + FactorText("compile", compile);
    text += ")";
  }
  if (!failing) return text;
  if (latency.slow || compile.slow) text += " and ";
  return text + "failing more often than its pool (" + std::to_string(failures) + " of " +
         std::to_string(attempts) + " attempts, the others " + std::to_string(pool_failures) +
         " of " + std::to_string(pool_attempts) + ")";
}

std::vector<HostReport> CompareHosts(const store::History& history) {
  Collected all = Collect(history);
  const auto latency = Ratios(all.latency), compile = Ratios(all.compile);
  const auto tests = static_cast<double>(std::max<size_t>(1, latency.size() + compile.size()));
  for (auto& [key, report] : all.hosts) {
    const auto of = [&, &host = key](const std::map<HostKey, std::vector<double>>& ratios) {
      const auto found = ratios.find(host);
      return FactorOf(found == ratios.end() ? std::span<const double>() : found->second,
                      kHostsError / tests);
    };
    report.latency = of(latency);
    report.compile = of(compile);
  }
  JudgeFailures(history.hosts, &all);
  std::vector<HostReport> reports;
  for (auto& [key, report] : all.hosts) reports.push_back(std::move(report));
  std::stable_sort(reports.begin(), reports.end(), [](const HostReport& a, const HostReport& b) {
    return std::make_pair(a.device_kind, !a.sick()) < std::make_pair(b.device_kind, !b.sick());
  });
  return reports;
}

}  // namespace dynbench::judge
