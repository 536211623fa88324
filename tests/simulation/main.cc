// dynbench_simulation: runs scenarios with fresh seeds until enough experiments were simulated.
//
//   dynbench_simulation [--scenarios FOLDER] [--experiments N] [--seconds S] [--expect-violation]
//
// Exit 0: every promise was kept (with --expect-violation: one was broken). A broken promise is
// printed with its seed, scenario and last events; that episode alone is run again by
//   DYNBENCH_TEST_SEED=SEED DYNBENCH_SCENARIO=NAME dynbench_simulation
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "spdlog/spdlog.h"
#include "tests/simulation/episode.h"
#include "tests/simulation/scenario.h"

namespace dynbench::simulation {
namespace {

struct Options {
  std::string scenarios = DYNBENCH_SCENARIOS;
  int64_t experiments = 100'000;
  double seconds = 0;  // at most; 0: as long as it takes
  bool expect_violation = false;
  bool check_replay = false;
};

// What an aborted assertion of the product says as well: which episode to replay.
const World* current_world = nullptr;
char current_scenario[128];
// With --expect-violation a failed assertion is what was looked for: the product noticed by itself.
bool violation_expected = false;

std::string Replay(uint64_t seed, const std::string& scenario) {
  return absl::StrFormat("DYNBENCH_TEST_SEED=%d DYNBENCH_SCENARIO=%s", seed, scenario);
}

[[noreturn]] void OnAbort(int) {
  if (current_world != nullptr) {
    std::cerr << current_world->Trace() << "an assertion of the product failed\nreplay: "
              << Replay(current_world->seed(), current_scenario) << std::endl;
  }
  _exit(violation_expected && current_world != nullptr ? 0 : 1);
}

Report RunOne(const Scenario& scenario, uint64_t seed) {
  Episode episode(&scenario, seed);
  std::strncpy(current_scenario, scenario.name.c_str(), sizeof current_scenario - 1);
  current_world = episode.world();
  Report report = episode.Run();
  current_world = nullptr;
  return report;
}

struct Sums {
  int64_t episodes = 0, experiments = 0, attempts = 0, superseded = 0;
  double simulated_s = 0, seconds = 0;
};

void Print(const std::string& name, const Sums& s) {
  std::cout << absl::StrFormat(
                   "%-22s %6d episodes %9d experiments %9d attempts %6d superseded"
                   " %8.1f simulated h %7.1f s %7.0f experiments/s",
                   name, s.episodes, s.experiments, s.attempts, s.superseded, s.simulated_s / 3'600,
                   s.seconds, static_cast<double>(s.experiments) / std::max(s.seconds, 1e-9))
            << std::endl;
}

uint64_t FreshSeed() {
  const char* given = std::getenv("DYNBENCH_TEST_SEED");
  if (given != nullptr) return std::strtoull(given, nullptr, 10);
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) >> 1;
}

// True: every promise was kept.
bool Judge(const Report& report, const Scenario& scenario, uint64_t seed) {
  if (report.violation.empty()) return true;
  std::cout << report.trace << "broken: " << report.violation << "\nafter " << report.simulated_s
            << " simulated seconds\nreplay: " << Replay(seed, scenario.name) << std::endl;
  return false;
}

int Run(const Options& options) {
  auto scenarios = LoadScenarios(options.scenarios);
  if (!scenarios.ok()) {
    std::cerr << scenarios.status() << std::endl;
    return 2;
  }
  const uint64_t seed = FreshSeed();
  const char* only = std::getenv("DYNBENCH_SCENARIO");
  if (only != nullptr) {
    std::erase_if(*scenarios, [&](const Scenario& s) { return s.name != only; });
    if (scenarios->empty()) {
      std::cerr << "no scenario " << only << " in " << options.scenarios << std::endl;
      return 2;
    }
  }
  const bool replay = only != nullptr && std::getenv("DYNBENCH_TEST_SEED") != nullptr;
  std::cout << "DYNBENCH_TEST_SEED=" << seed << std::endl;
  std::map<std::string, Sums> sums;
  Sums all;
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; all.experiments < options.experiments; ++i) {
    // The one that had least so far: an episode of thousands of workers weighs as much as dozens.
    const Scenario& scenario = *std::min_element(
        scenarios->begin(), scenarios->end(), [&](const Scenario& a, const Scenario& b) {
          return sums[a.name].experiments < sums[b.name].experiments;
        });
    const uint64_t episode_seed = i == 0 ? seed : Mix(seed + i) >> 1;
    const Clock::time_point start = Clock::now();
    const Report report = RunOne(scenario, episode_seed);
    if (!Judge(report, scenario, episode_seed)) return options.expect_violation ? 0 : 1;
    if (options.check_replay) {
      const Report again = RunOne(scenario, episode_seed);
      if (again.trace_hash != report.trace_hash) {
        std::cout << "two runs of one seed differ: " << Replay(episode_seed, scenario.name)
                  << std::endl;
        return 1;
      }
    }
    for (Sums* s : {&sums[scenario.name], &all}) {
      ++s->episodes;
      s->experiments += report.experiments;
      s->attempts += report.attempts;
      s->superseded += report.superseded;
      s->simulated_s += report.simulated_s;
      s->seconds += seconds_since(start);
    }
    if (replay) break;
    if (options.seconds > 0 && seconds_since(begin) > options.seconds) break;
  }
  for (const auto& [name, s] : sums) Print(name, s);
  Print("all", all);
  if (options.expect_violation) {
    std::cout << "no promise was broken, though one was to be" << std::endl;
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace dynbench::simulation

int main(int argc, char** argv) {
  dynbench::simulation::Options options;
  CLI::App app{"Simulates fleets and checks what dynbench promises"};
  app.add_option("--scenarios", options.scenarios, "folder of scenario files");
  app.add_option("--experiments", options.experiments, "how many at least");
  app.add_option("--seconds", options.seconds, "stop after this many seconds");
  app.add_flag("--expect-violation", options.expect_violation, "exit 0 when a promise is broken");
  app.add_flag("--check-replay", options.check_replay, "run each episode twice and compare");
  CLI11_PARSE(app, argc, argv);
  dynbench::simulation::violation_expected = options.expect_violation;
  spdlog::set_level(spdlog::level::off);
  signal(SIGABRT, dynbench::simulation::OnAbort);
  return dynbench::simulation::Run(options);
}
