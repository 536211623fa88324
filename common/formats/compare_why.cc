#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/formats/compare_sections.h"
#include "common/formats/compare_table.h"
#include "common/formats/format_number.h"
#include "common/stats/bimodal.h"
#include "common/stats/noise_floor.h"
#include "common/stats/rank_test.h"
#include "common/stats/stats.h"
#include "common/stats/trend.h"

namespace dynbench::formats {
namespace {

using judge::Comparison;
using judge::Judgement;
using judge::Process;

std::string Timing(std::optional<double> ms, std::optional<double> spread) {
  if (!ms) return "-";
  return Milliseconds(*ms) + (spread ? " ± " + Percent(*spread / 2) : "");
}

// What the samples of a process say beyond their median.
std::string Flags(const Process& process, stats::BimodalityTest* clusters) {
  std::set<std::string> flags;
  const plan::Result& result = *process.row.result;
  const auto look = [&](const char* side, const std::vector<int64_t>& ns) {
    if (ns.size() < 5) return;
    const std::vector<double> samples = stats::ToDoubles(ns);
    const stats::Drift drift = stats::DriftOf(samples);
    if (drift.drifting) flags.insert(std::string(side) + " drifting " + Change(drift.change));
    const stats::Clusters two = clusters->Test(samples);
    if (two.bimodal) {
      flags.insert(std::string(side) + " bimodal " + Milliseconds(two.low / 1e6) + " (" +
                   std::to_string(two.low_count) + ") and " + Milliseconds(two.high / 1e6) + " (" +
                   std::to_string(two.high_count) + ")");
    }
  };
  look("eager", result.eager_ns);
  look("compiled", result.compiled_ns);
  flags.insert(result.notes.begin(), result.notes.end());
  return Listed(flags, 6);
}

void AddProcesses(const char* side, const std::vector<const Process*>& processes,
                  stats::BimodalityTest* clusters, Section* section) {
  for (const Process* process : processes) {
    const plan::Result& result = *process->row.result;
    const plan::Metrics& m = result.metrics;
    section->rows.push_back({{side},
                             {"j" + std::to_string(process->row.job.value) + " e" +
                              std::to_string(process->row.id.value)},
                             {process->row.worker_host},
                             {result.status},
                             {Timing(m.eager_latency_ms, m.eager_spread)},
                             {Timing(m.abs_latency_ms, m.compiled_spread)},
                             {m.speedup ? Times(*m.speedup) : "-"},
                             {m.compilation_latency_s ? Fixed(*m.compilation_latency_s, 1) : "-"},
                             {Flags(*process, clusters)}});
  }
}

std::vector<double> MediansMs(const std::vector<const Process*>& processes, judge::Metric metric) {
  std::vector<double> values;
  for (const Process* process : processes) {
    const auto value = ValueOf(metric, *process->row.result);
    if (value) values.push_back(*value);
  }
  return values;
}

// Noise between and within the processes of a side, and whether they fall into two clusters.
std::string SideLine(const char* side, const std::vector<const Process*>& processes,
                     stats::BimodalityTest* clusters) {
  std::vector<std::vector<double>> samples;
  for (const Process* process : processes) {
    const auto& ns = process->row.result->compiled_ns;
    if (!ns.empty() && *std::min_element(ns.begin(), ns.end()) > 0) {
      samples.push_back(stats::ToDoubles(ns));
    }
  }
  if (samples.empty()) return "";
  const stats::NoiseFloor noise = stats::EstimateNoiseFloor(samples);
  std::string text =
      std::string("  ") + side + ": compiled noise within a process " + Percent(noise.within);
  if (noise.processes > 1) text += ", between " + Percent(noise.between);
  const auto two = clusters->Test(MediansMs(processes, judge::Metric::kCompiledLatency));
  if (two.bimodal) {
    text += "; processes are bimodal: " + std::to_string(two.low_count) + " near " +
            Milliseconds(two.low) + " ms, " + std::to_string(two.high_count) + " near " +
            Milliseconds(two.high) + " ms";
  }
  return text + "\n";
}

Section VerdictSection(const Comparison& comparison, size_t pair) {
  Section section;
  section.title = "verdicts";
  section.columns = {{"metric", Align::kLeft, 0},  {"base → new", Align::kLeft, 0},
                     {"change", Align::kRight, 0}, {"95 % interval", Align::kLeft, 0},
                     {"noise", Align::kRight, 2},  {"q", Align::kRight, 1},
                     {"needed", Align::kRight, 0}, {"verdict", Align::kLeft, 0},
                     {"why", Align::kLeft, 0}};
  for (const Judgement& j : comparison.judgements) {
    if (j.pair != pair) continue;
    section.rows.push_back({{std::string(InfoOf(j.metric).title)},
                            {FromTo(j)},
                            {Change(j.change)},
                            {IntervalText(j)},
                            {j.noise ? Percent(*j.noise) : ""},
                            {j.q ? Fixed(*j.q, 4) : ""},
                            {j.needed ? Percent(*j.needed) : ""},
                            {std::string(ToString(j.verdict))},
                            {j.reason}});
  }
  return section;
}

// Every round that was begun, in its order: what one side's process had, the other's did too.
Section RoundSection(const judge::Pair& pair) {
  Section section;
  section.title = "rounds";
  section.columns = {{"round", Align::kRight, 0},        {"first", Align::kLeft, 2},
                     {"host", Align::kLeft, 3},          {"lease", Align::kRight, 4},
                     {"compiled ms", Align::kLeft, 0},   {"change", Align::kRight, 0},
                     {"eager change", Align::kRight, 1}, {"counts", Align::kLeft, 0}};
  const auto value = [](judge::Metric metric, const Process* process) -> std::optional<double> {
    if (process == nullptr || !process->row.result) return std::nullopt;
    return ValueOf(metric, *process->row.result);
  };
  const auto change = [&](judge::Metric metric, const judge::MeasuredRound& round) -> std::string {
    if (!value(metric, round.base) || !value(metric, round.fresh)) return "-";
    const auto difference = DifferenceOf(metric, *round.base->row.result, *round.fresh->row.result);
    return Change(std::expm1(difference->change));
  };
  for (const judge::MeasuredRound& round : pair.rounds) {
    const auto base = value(judge::Metric::kCompiledLatency, round.base);
    const auto fresh = value(judge::Metric::kCompiledLatency, round.fresh);
    const Process* any = round.base != nullptr ? round.base : round.fresh;
    const bool counts = round.judgement.state == judge::RoundState::kCounts;
    const bool open = round.judgement.state == judge::RoundState::kOpen;
    section.rows.push_back(
        {{std::to_string(round.number)},
         {round.base_first ? "base" : "new"},
         {any->row.worker_host},
         {std::to_string(any->row.lease.value)},
         {(base ? Milliseconds(*base) : "-") + " → " + (fresh ? Milliseconds(*fresh) : "-")},
         {change(judge::Metric::kCompiledLatency, round)},
         {change(judge::Metric::kEagerLatency, round)},
         {counts ? "yes"
          : open ? "not yet"
                 : "no: " + round.judgement.reason}});
  }
  if (!pair.ended.empty()) section.after.push_back(pair.ended);
  return section;
}

std::string RankLine(const judge::Pair& pair) {
  const auto base = MediansMs(pair.base, judge::Metric::kCompiledLatency);
  const auto fresh = MediansMs(pair.fresh, judge::Metric::kCompiledLatency);
  if (base.size() < 3 || fresh.size() < 3) return "";
  const stats::RankTest test = stats::MannWhitney(base, fresh);
  return "  rank test of the compiled medians alone (Mann-Whitney): p " + Fixed(test.p, 4) +
         ", new is larger in " + Percent(test.superiority) + " of all pairs of processes\n";
}

}  // namespace

std::string CompareWhy(const Comparison& comparison, const std::string& model,
                       const CompareView& view, const TableStyle& style) {
  std::string text;
  stats::BimodalityTest clusters;
  for (size_t i = 0; i < comparison.pairing.pairs.size(); ++i) {
    const judge::Pair& pair = comparison.pairing.pairs[i];
    if (pair.experiment.model != model) continue;
    Section processes;
    processes.title = judge::SubjectOf(pair.experiment);
    processes.columns = {{"side", Align::kLeft, 0},      {"run", Align::kLeft, 0},
                         {"host", Align::kLeft, 3},      {"status", Align::kLeft, 2},
                         {"eager ms", Align::kRight, 0}, {"compiled ms", Align::kRight, 0},
                         {"speedup", Align::kRight, 0},  {"compile s", Align::kRight, 4},
                         {"flags", Align::kLeft, 1}};
    AddProcesses("base", pair.base, &clusters, &processes);
    AddProcesses("new", pair.fresh, &clusters, &processes);
    text += Render(processes, view.markdown, style);
    if (pair.paired) text += Render(RoundSection(pair), view.markdown, style);
    std::string lines = SideLine("base", pair.base, &clusters) +
                        SideLine("new", pair.fresh, &clusters) + RankLine(pair);
    for (const auto& difference : pair.differences) {
      lines += "  differs: " + ToString(difference) +
               (difference.blocks ? " (makes it incomparable)\n" : "\n");
    }
    if (!lines.empty()) text += Block(lines, view.markdown);
    text += Render(VerdictSection(comparison, i), view.markdown, style);
  }
  for (const judge::LeftOut& left_out : comparison.pairing.left_out) {
    if (left_out.experiment.model != model) continue;
    text += "left out: " + judge::SubjectOf(left_out.experiment) + ": " + left_out.reason + "\n";
  }
  return text.empty() || text[0] != '\n' ? text : text.substr(1);
}

}  // namespace dynbench::formats
