// dynbench-makespan: how long nights take under the real scheduler with real predictions, against
// the lower bound and upstream's static shards. Virtual time; prints one JSON object.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "common/plan/partition.h"
#include "coordinator/scheduler/simulator.h"
#include "coordinator/session/predictions.h"
#include "nlohmann/json.hpp"
#include "tests/bench/makespan_run/nights.h"

namespace dynbench::bench {
namespace {

using Json = nlohmann::json;

struct Flags {
  std::vector<int> slots = {8, 16};
  int models = 120;
  int nights = 10;   // simulated and learned from
  int learning = 3;  // of these, the first that are not counted
  int seeds = 5;
  uint64_t seed = 20261130;
};

struct Ratios {
  std::vector<double> dynbench, fixed;
  std::vector<double> idle;
  size_t moved = 0, placed = 0;
};

std::vector<scheduler::SimulatedSlot> Workers(int n) {
  std::vector<scheduler::SimulatedSlot> slots;
  for (int i = 0; i < n; ++i) {
    scheduler::SlotOffer offer;
    offer.device = "cpu";
    offer.environments = {"default"};
    slots.push_back({WorkerId("w" + std::to_string(i)), offer});
  }
  return slots;
}

scheduler::SimulatedNight Describe(const std::vector<Measured>& night,
                                   const session::Predictions& predictions, int slots) {
  scheduler::SimulatedNight described;
  described.slots = Workers(slots);
  int64_t id = 0;
  for (const Measured& measured : night) {
    scheduler::SimulatedTask& to = described.tasks.emplace_back();
    to.task.id = ExperimentId(++id);
    to.task.queue_order = id;
    to.task.device = "cpu";
    to.task.environment = "default";
    to.task.profile = "default";
    to.task.model = measured.experiment.model;
    const session::Prediction prediction = predictions.Predict(measured.experiment);
    to.task.expected_s = prediction.p50_s;
    to.task.place_s = prediction.place_s;
    to.task.home = predictions.Home(measured.experiment);
    to.actual_s = measured.seconds;
  }
  return described;
}

// Upstream's shards: slices of the sorted list, one a slot.
scheduler::SimulatedNight Sharded(scheduler::SimulatedNight night, int slots) {
  night.policy = plan::PartitionPolicy::kStatic;
  const size_t models = night.tasks.size() / 2;
  for (int p = 0; p < slots; ++p) {
    const auto [begin, end] = plan::StaticSlice(models, slots, p);
    for (size_t i = 2 * begin; i < 2 * end; ++i) night.tasks[i].task.partition = p;
  }
  return night;
}

void RunNights(const Flags& flags, const std::string& shape, int slots, uint64_t seed,
               Ratios* ratios) {
  Suite suite(shape, flags.models, seed);
  session::Predictions predictions;
  for (int n = 0; n < flags.nights; ++n) {
    const std::vector<Measured> night = suite.Night();
    const scheduler::SimulatedNight described = Describe(night, predictions, slots);
    const scheduler::Simulation ours = scheduler::Simulate(described);
    if (n >= flags.learning) {
      ratios->dynbench.push_back(ours.makespan_s / ours.lower_bound_s);
      ratios->idle.push_back(ours.idle_share);
      ratios->moved += ours.moved;
      ratios->placed += ours.experiments;
      const scheduler::Simulation fixed = scheduler::Simulate(Sharded(described, slots));
      ratios->fixed.push_back(fixed.makespan_s / fixed.lower_bound_s);
    }
    for (size_t i = 0; i < night.size(); ++i) {
      predictions.Observe(night[i].experiment, night[i].seconds,
                          ours.ran_on.at(described.tasks[i].task.id).worker);
    }
  }
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double Max(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

Json Main(const Flags& flags) {
  Json figures = Json::object();
  Json details = {{"seed", flags.seed},
                  {"seeds", flags.seeds},
                  {"models", flags.models},
                  {"nights", flags.nights},
                  {"learning", flags.learning}};
  for (const std::string& shape : Shapes()) {
    Ratios all;
    for (const int slots : flags.slots) {
      Ratios ratios;
      for (int s = 0; s < flags.seeds; ++s) {
        RunNights(flags, shape, slots, flags.seed + static_cast<uint64_t>(s), &ratios);
      }
      details[shape][std::to_string(slots) + "_slots"] = {
          {"nights_counted", ratios.dynbench.size()},
          {"dynbench_mean", Mean(ratios.dynbench)},
          {"dynbench_max", Max(ratios.dynbench)},
          {"static_mean", Mean(ratios.fixed)},
          {"idle_share_mean", Mean(ratios.idle)},
          {"moved_share", static_cast<double>(ratios.moved) / static_cast<double>(ratios.placed)}};
      all.dynbench.insert(all.dynbench.end(), ratios.dynbench.begin(), ratios.dynbench.end());
      all.fixed.insert(all.fixed.end(), ratios.fixed.begin(), ratios.fixed.end());
    }
    figures["dynbench_ratio_" + shape] = Mean(all.dynbench);
    figures["dynbench_ratio_max_" + shape] = Max(all.dynbench);
    figures["static_ratio_" + shape] = Mean(all.fixed);
  }
  return {{"figures", figures}, {"details", details}};
}

}  // namespace
}  // namespace dynbench::bench

int main(int argc, char** argv) {
  dynbench::bench::Flags flags;
  CLI::App app("Makespan of simulated nights, predicted from the nights before");
  app.add_option("--slots", flags.slots, "numbers of slots")->delimiter(',');
  app.add_option("--models", flags.models, "models of the first night")->check(CLI::PositiveNumber);
  app.add_option("--nights", flags.nights, "nights in a row")->check(CLI::PositiveNumber);
  app.add_option("--learning", flags.learning, "nights that are not counted");
  app.add_option("--seeds", flags.seeds, "suites of each shape")->check(CLI::PositiveNumber);
  app.add_option("--seed", flags.seed, "of the first suite; the others follow it");
  CLI11_PARSE(app, argc, argv);
  if (flags.learning < 1 || flags.learning >= flags.nights) {
    std::fprintf(stderr, "--learning: at least 1 and less than --nights\n");
    return 2;
  }
  std::printf("%s\n", dynbench::bench::Main(flags).dump(1).c_str());
  return 0;
}
