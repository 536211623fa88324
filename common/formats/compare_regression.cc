#include <optional>
#include <string>
#include <vector>

#include "common/formats/compare_table.h"
#include "common/formats/csv.h"
#include "common/formats/format_number.h"
#include "common/stats/stats.h"

namespace dynbench::formats {
namespace {

using judge::Comparison;
using judge::Process;

using Figure = std::optional<double> plan::Metrics::*;

// Median over the processes of a side that measured it.
std::optional<double> MedianOf(const std::vector<const Process*>& processes, Figure figure) {
  std::vector<double> values;
  for (const Process* process : processes) {
    const plan::Result& result = *process->row.result;
    if (result.outcome == plan::Outcome::kPassed && result.metrics.*figure) {
      values.push_back(*(result.metrics.*figure));
    }
  }
  if (values.empty()) return std::nullopt;
  return stats::Median(values);
}

struct Side {
  std::optional<double> speedup, compiled_s, eager_s, compile_s;
  int batch = 0;
};

Side SideOf(const std::vector<const Process*>& processes) {
  const auto seconds = [&](Figure figure) {
    auto value = MedianOf(processes, figure);
    if (value) *value /= 1000;
    return value;
  };
  return {MedianOf(processes, &plan::Metrics::speedup), seconds(&plan::Metrics::abs_latency_ms),
          seconds(&plan::Metrics::eager_latency_ms),
          MedianOf(processes, &plan::Metrics::compilation_latency_s),
          processes.front()->row.result->batch_size};
}

std::string Number(std::optional<double> value) { return value ? Fixed(*value, 6) : "N/A"; }

std::string Ratio(std::optional<double> above, std::optional<double> below) {
  return above && below && *below != 0 ? Fixed(*above / *below, 3) : "N/A";
}

std::string Software(const Comparison& comparison) {
  std::string text = CsvLine({"component", "target (new)", "reference (old)"});
  text += CsvLine({"latency unit", "seconds", "seconds"});
  for (const auto& d : comparison.software) text += CsvLine({d.field, d.fresh, d.base});
  return text;
}

// The worst finding's experiment of new, as a command.
std::string Reproduce(const Comparison& comparison) {
  if (comparison.findings.empty()) return "";
  const auto& j = comparison.judgements[comparison.findings.front().judgement];
  const judge::Pair& pair = comparison.pairing.pairs[j.pair];
  const auto& row = (pair.measured() ? pair.fresh.front() : pair.killer)->row;
  return "reproduce: dynbenchctl repro e" + std::to_string(row.id.value) + "\n";
}

std::string Suspect(const Comparison& comparison) {
  for (const auto& d : comparison.software) {
    if (d.field == "torch commit") {
      return "suspected guilty commit: in " + d.base + ".." + d.fresh + " (not searched)\n";
    }
  }
  return "";
}

}  // namespace

std::string RegressionTable(const Comparison& comparison) {
  std::string text = CsvLine({"name", "batch_size_new", "speed_up_new", "inductor_new", "eager_new",
                              "compilation_latency_new", "batch_size_old", "speed_up_old",
                              "inductor_old", "eager_old", "compilation_latency_old",
                              "Ratio Speedup(New/old)", "Eager Ratio(old/new)",
                              "Inductor Ratio(old/new)", "Compilation_latency_Ratio(old/new)"});
  for (const judge::Pair& pair : comparison.pairing.pairs) {
    if (pair.experiment.test != plan::Test::kPerformance) continue;
    if (!pair.comparable() && !comparison.options.rules.allow_incomparable) continue;
    if (!pair.measured()) continue;
    const Side n = SideOf(pair.fresh), o = SideOf(pair.base);
    text += CsvLine({pair.experiment.model, std::to_string(n.batch), Number(n.speedup),
                     Number(n.compiled_s), Number(n.eager_s), Number(n.compile_s),
                     std::to_string(o.batch), Number(o.speedup), Number(o.compiled_s),
                     Number(o.eager_s), Number(o.compile_s), Ratio(n.speedup, o.speedup),
                     Ratio(o.eager_s, n.eager_s), Ratio(o.compiled_s, n.compiled_s),
                     Ratio(o.compile_s, n.compile_s)});
  }
  return text + "\n" + Software(comparison) + "\n" + Reproduce(comparison) + Suspect(comparison);
}

}  // namespace dynbench::formats
