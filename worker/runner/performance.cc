// The performance test: upstream's protocol (warm-up calls of each side, then timed pairs), with
// its figures and ours beside them.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/pair_blocks.h"
#include "common/base/window_flags.h"
#include "common/stats/stats.h"
#include "worker/runner/attempt.h"
#include "worker/runner/canary.h"
#include "worker/runner/compile_load.h"
#include "worker/runner/core_clocks.h"
#include "worker/runner/core_load.h"
#include "worker/runner/cores.h"
#include "worker/runner/disturbance.h"
#include "worker/runner/figures.h"
#include "worker/runner/foreign_processes.h"
#include "worker/runner/precision.h"
#include "worker/runner/python_embedding.h"
#include "worker/runner/target.h"
#include "worker/runner/timing.h"
#include "worker/runner/warm_up.h"
#include "worker/runner/window.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

// Pairs of calls that do nothing, for the harness's own cost.
constexpr int kNullPairs = 10;
// Calls of each side under the profiler.
constexpr int kProfiledCalls = 3;

class PerformanceTest {
 public:
  explicit PerformanceTest(AttemptRun& run)
      : run_(run),
        callables_(Shim("callables").attr("Callables")(run.experiment, run.loaded)),
        set_stance_(Shim("callables").attr("set_stance")),
        seed_(Shim("loading").attr("seed")),
        warm_up_calls_(callables_.attr("warm_up_calls").cast<int>()) {}

  void Run() {
    if (!run_.attempt.prepare) WarmUpEager();
    run_.phases.Begin("compile");
    const CompileLoad load(run_.attempt.cores, OwnProcesses());
    WarmUpCompiled();
    compile_look_ = load.Look();
    ReportCompiler(run_);
    ReportCompileLoad();
    run_.result["outcome"] = "passed";
    run_.result["blame"] = "none";
    run_.result["status"] = run_.attempt.prepare ? "prepared" : "measured";
    if (run_.attempt.prepare) return;
    if (Instrumented(run_)) {
      run_.result["status"] = "diagnosed";
      return;
    }
    MeasureInWindow();
  }

 private:
  void WarmUpEager() {
    run_.phases.Begin("eager");
    set_stance_("force_eager");
    eager_warm_up_ = WarmUpSide(
        run_, [this] { return MakeTarget(callables_.attr("eager_on_a_copy")()); }, warm_up_calls_,
        "eager");
    eager_warm_up_.target.reset();  // and the copy with it
  }

  void WarmUpCompiled() {
    callables_.attr("forget")();
    compiled_warm_up_ = WarmUpSide(
        run_,
        [this] {
          compiled_pair_ = callables_.attr("compiled")();
          return MakeTarget(compiled_pair_);
        },
        run_.attempt.prepare ? 1 : warm_up_calls_, "compiled");
  }

  // The lane's: it has one attempt at a time, and reaps what that leaves. Of a copy its own; where
  // lanes share cores, everybody's below the worker (worker, zygote, lane, child).
  OwnTree OwnProcesses() const {
    if (run_.attempt.copy) return {getpid(), true};
    const pid_t lane = getppid();
    if (!run_.attempt.cores_shared) return {lane, true};
    return {Ancestor(ProcessTimes("/proc", 0), lane, 2), false};
  }

  void ReportCompileLoad() {
    if (!compile_look_) return;
    Json report = Json::parse(run_.result.value("compiler_report", "{}"), nullptr, false);
    if (!report.is_object()) report = Json::object();
    report["foreign_load"] = compile_look_->foreign_share;
    run_.result["compiler_report"] = report.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (Disturbed(*compile_look_)) run_.Note(ToString(*compile_look_));
  }

  void MeasureInWindow() {
    eager_ = MakeTarget(callables_.attr("eager")());
    run_.phases.Begin("ready");
    const Json fixed = ReadConditions(run_);
    if (!run_.attempt.cores.empty()) SetAffinity(run_.attempt.cores);
    EnterWindowForSamples();
    // Only now: every frozen span before the window is known.
    const double compile_s = ReportWarmUps(run_, eager_warm_up_, compiled_warm_up_);
    run_.phases.Begin("measure");
    Samples samples = SampleInBlocks(fixed);
    SampleToTarget(&samples);
    CheckConditions(run_, fixed);
    MeasureTheHarness();
    MeasureCacheLookup();
    // The profiler takes longer than the samples, and what it reads is the device's: others may
    // compile meanwhile.
    if (HasOwnBenchmarkWindows(run_)) {
      LeaveWindow(run_);
      EnterBenchmarkWindow(run_);
    }
    MeasureDeviceBusy();
    run_.side = SideInForce::kNone;
    LeaveWindow(run_);
    Report(samples, compile_s);
  }

  // Each pass over one block of samples; of several the first that was disturbed tells enough.
  void NoteDisturbance(const std::string& disturbance) {
    if (run_.attempt.window_blocks <= 1 || !std::exchange(disturbed_, true)) {
      run_.Note("window disturbed: " + disturbance);
    }
  }

  void EnterWindowForSamples() {
    // What the worker cannot tell from a window that was taken again. Of one window it can.
    const int64_t flags = EnterQuietWindow(run_);
    if (run_.attempt.window_blocks > 1) kept_flags_ |= flags & kUnfrozenLane;
  }

  // All samples in one window, or in as many as there are blocks: others have theirs in between
  // (worker/runner/PROTOCOL.md). Ends in the last one.
  Samples SampleInBlocks(const Json& fixed) {
    const auto pairs = run_.attempt.experiment.at("repeat").get<size_t>();
    const auto most = static_cast<size_t>(std::max(run_.attempt.window_blocks, 1));
    const size_t blocks = std::min(most, std::max<size_t>(pairs, 1));
    Samples samples;
    std::vector<WindowLook> looks;
    for (size_t block = 0; block < blocks; ++block) {
      if (block > 0) {
        run_.side = SideInForce::kNone;
        LeaveWindow(run_);
        EnterWindowForSamples();
      }
      CheckConditions(run_, fixed);
      // The process comes out of a wait, or another one had the device: clocks and caches of that
      // are part of no reading.
      TimeUntold();
      const size_t first = FirstOfBlock(block, blocks, pairs);
      const size_t end = FirstOfBlock(block + 1, blocks, pairs);
      Append(SampleUndisturbed(static_cast<int>(end - first), &looks), &samples);
    }
    ReportLook(Together(looks));
    run_.metrics()["window_repeats"] = repeats_;
    if (blocks > 1) {
      run_.result["in_force"].update(BlockFigures(samples, static_cast<int>(blocks)));
    }
    return samples;
  }

  void TimeUntold() {
    TimingPlan plan = Plan(*eager_, *compiled_warm_up_.target);
    plan.repeat = 1;
    TimePairs(plan);
  }

  // Takes the samples of a block between steady canaries, again when something disturbed them; the
  // quietest pass counts, and its look is added to `looks`.
  Samples SampleUndisturbed(int pairs, std::vector<WindowLook>* looks) {
    Samples samples;
    WindowLook quietest, previous;
    const int most = repeats_ + kMostRepeats;
    // Of several blocks together not more than as many as there are blocks.
    const int most_of_all = std::max(kMostRepeats, run_.attempt.window_blocks);
    for (bool again = false;; again = true) {
      const Canaries canaries = AwaitSteadyCanaries(run_.device);
      WindowLook look;
      Samples taken = SampleOnce(canaries, pairs, &look);
      pair_s_ = look.seconds / static_cast<double>(taken.eager_ns.size());
      if (!again || Quieter(look, quietest)) {
        samples = std::move(taken);
        quietest = look;
        if (looks->empty()) ReportCanaries(canaries);
      }
      const std::string disturbance = Disturbance(look);
      if (!disturbance.empty()) NoteDisturbance(disturbance);
      const bool may_repeat = repeats_ < most && repeats_ < most_of_all && MayRepeat(look);
      const bool lasting = again && ThrottledByItself(previous, look);
      previous = look;
      if (!disturbance.empty() && may_repeat && !lasting) {
        ++repeats_;
        continue;
      }
      kept_flags_ |= DisturbanceFlags(quietest);
      looks->push_back(quietest);
      return samples;
    }
  }

  // Further blocks of pairs, between canaries as well, until --target-precision is met or its
  // budget is spent. After a quiet first pass a disturbed block is dropped; its time counts.
  void SampleToTarget(Samples* samples) {
    const Json& experiment = run_.attempt.experiment;
    const PrecisionGoal goal{
        .target = experiment.value("target_precision", 0.0),
        .budget_s = static_cast<double>(experiment.value("precision_budget_ms", int64_t{0})) / 1e3,
        .pairs_a_block = experiment.at("repeat")};
    const int64_t begin_ns = NowNs();
    int dropped = 0;
    PrecisionDecision decision;
    std::optional<double> reached = RelativePrecision(*samples);
    while (true) {
      decision = DecidePrecision(goal, reached, static_cast<int>(samples->eager_ns.size()),
                                 static_cast<double>(NowNs() - begin_ns) / 1e9, pair_s_);
      if (decision.step != PrecisionStep::kGoOn) break;
      WindowLook look;
      const Canaries canaries = AwaitSteadyCanaries(run_.device);
      const Samples block = SampleOnce(canaries, decision.pairs, &look);
      pair_s_ = look.seconds / decision.pairs;
      // On a host that is never quiet a block is as good as the first pass.
      if (const int64_t flags = DisturbanceFlags(look); flags != 0) {
        if (kept_flags_ == 0) {
          ++dropped;
          continue;
        }
        kept_flags_ |= flags;
        run_.metrics()["window_flags"] = kept_flags_;
      }
      Append(block, samples);
      reached = RelativePrecision(*samples);
    }
    if (reached) run_.metrics()["precision_reached"] = *reached;
    if (goal.target <= 0) return;
    run_.metrics()["precision_budget_spent"] = decision.step == PrecisionStep::kBudgetSpent ? 1 : 0;
    if (dropped > 0) {
      run_.Note("window disturbed: " + std::to_string(dropped) +
                " blocks of further pairs were dropped");
    }
  }

  Samples SampleOnce(const Canaries& before, int pairs, WindowLook* look) {
    TimingPlan plan = Plan(*eager_, *compiled_warm_up_.target);
    plan.repeat = pairs;
    const std::vector<int>& cores = run_.attempt.cores;
    const auto others = ProcessTimes("/proc", getpid());
    const CoreClocks clocks = ReadCoreClocks("", cores);
    const int64_t begin_ns = NowNs();
    const CoreLoad load(cores);
    Samples samples = TimePairs(plan);
    look->foreign_share = load.ForeignShare();
    look->host_load = load.OtherCoresShare();
    look->seconds = static_cast<double>(NowNs() - begin_ns) / 1e9;
    const CoreClocks clocks_after = ReadCoreClocks("", cores);
    look->cpu_clock_mhz = clocks_after.mhz;
    if (clocks.throttles && clocks_after.throttles) {
      look->cpu_throttles = *clocks_after.throttles - *clocks.throttles;
    }
    look->told_flags = LookAtDevice(run_);
    look->busiest = Busiest(others, ProcessTimes("/proc", getpid()));
    const Canaries after = AwaitSteadyCanaries(run_.device);
    look->host_canary_before_us = before.host.median;
    look->host_canary_after_us = after.host.median;
    look->launch_canary_before_us = before.launch.median;
    look->launch_canary_after_us = after.launch.median;
    return samples;
  }

  // Copies of one experiment measure side by side: none may begin again alone.
  bool MayRepeat(const WindowLook& look) const {
    return look.seconds <= kLongestRepeatedS && !run_.attempt.copy;
  }

  void ReportLook(const WindowLook& look) {
    Json& metrics = run_.metrics();
    metrics["window_foreign_load"] = look.foreign_share;
    metrics["window_flags"] = kept_flags_;
    if (look.host_load) metrics["window_host_load"] = *look.host_load;
    if (look.cpu_clock_mhz) metrics["window_cpu_clock_mhz"] = *look.cpu_clock_mhz;
    if (look.cpu_throttles) metrics["window_cpu_throttles"] = *look.cpu_throttles;
  }

  void ReportCanaries(const Canaries& canaries) {
    Json& metrics = run_.metrics();
    const bool accelerator = run_.device.is_accelerator();
    const CanaryReading& shown = accelerator ? canaries.launch : canaries.host;
    metrics["host_canary_us"] = canaries.host.median;
    if (accelerator) metrics["launch_canary_us"] = canaries.launch.median;
    metrics["canary_spread"] = shown.spread;
    metrics["canary_waits"] = canaries.host.waits + canaries.launch.waits;
    if (!canaries.host.steady) run_.Note("the host canary was not steady before the window");
    if (accelerator && !canaries.launch.steady) {
      run_.Note("the launch canary was not steady before the window");
    }
  }

  void MeasureDeviceBusy() {
    if (!run_.device.is_accelerator()) return;
    const TimingPlan plan = Plan(*eager_, *compiled_warm_up_.target);
    for (const auto& [name, side] : {std::pair{"eager_device_busy_ms", &plan.eager},
                                     {"compiled_device_busy_ms", &plan.compiled}}) {
      side->before();
      try {
        const py::object ms =
            Shim("device_busy")
                .attr("per_call_ms")(run_.device.type(), py::cpp_function([side = side] {
                                       if (side->before_call) side->before_call();
                                       side->call();
                                       side->release();
                                     }),
                                     kProfiledCalls * plan.iterations_per_run,
                                     py::cpp_function([this] { run_.device.Synchronize(); }));
        if (!ms.is_none()) run_.metrics()[name] = ms.cast<double>() * plan.iterations_per_run;
      } catch (py::error_already_set& error) {
        run_.Note(std::string(name) + " not measured: " + error.what());
      }
    }
  }

  Side MakeSide(Target& target, SideInForce which, const char* stance) {
    return {[this, which, stance] {
              run_.side = which;
              set_stance_(stance);
            },
            [&target] { target.Call(); }, [&target] { target.Release(); },
            target.HasBeforeCall() ? [&target] { target.BeforeCall(); } : std::function<void()>()};
  }

  TimingPlan Plan(Target& eager, Target& compiled) {
    const Json& experiment = run_.attempt.experiment;
    TimingPlan plan{
        .repeat = experiment.at("repeat"),
        .iterations_per_run = experiment.at("iterations_per_run"),
        .synchronize = [this] { run_.device.Synchronize(); },
        .reseed = [this] { seed_(); },
        .eager = MakeSide(eager, SideInForce::kEager, "force_eager"),
        // Upstream's run-only mode answers a guard miss with a silent eager call; this one raises.
        .compiled = MakeSide(compiled, SideInForce::kCompiled, "fail_on_recompile"),
    };
    if (experiment.at("randomize_input")) {
      // Once a pair: both sides get the same inputs.
      plan.eager.before = [set_stance = plan.eager.before, this] {
        set_stance();
        callables_.attr("randomize")();
      };
    }
    return plan;
  }

  void MeasureTheHarness() {
    const auto nothing = MakeNullTarget();
    TimingPlan plan = Plan(*nothing, *nothing);
    plan.repeat = kNullPairs;
    const Samples samples = TimePairs(plan);
    run_.metrics()["harness_overhead_us"] =
        stats::Median(stats::ToDoubles(samples.compiled_ns)) / 1e3;
  }

  void MeasureCacheLookup() {
    if (!run_.attempt.experiment.value("measure_cache_lookup", false)) return;
    run_.side = SideInForce::kCompiled;
    const auto pair = compiled_pair_.cast<py::tuple>();
    try {
      const py::object found = Shim("reporting").attr("cache_lookup_s")(pair[0], pair[1]);
      if (!found.is_none()) run_.metrics()["cache_lookup_latency_s"] = found.cast<double>();
    } catch (py::error_already_set& error) {
      run_.Note(std::string("cache look-up not measured: ") + error.what());
    }
  }

  void Report(const Samples& samples, double compile_s) {
    Json& metrics = run_.metrics();
    metrics.update(SampleFigures(samples));
    metrics["guard_misses"] = 0;
    if (compile_look_ && Disturbed(*compile_look_)) {
      metrics["window_flags"] = metrics.value("window_flags", int64_t{0}) | kForeignLoadCompiling;
    }
    metrics["timed_pairs"] = samples.eager_ns.size();
    const double eager_ms = metrics.at("eager_latency_ms"), ms = metrics.at("abs_latency_ms");
    const double calls = run_.attempt.experiment.at("iterations_per_run");
    const auto pays = BreakEvenCalls(compile_s, eager_ms / 1e3 / calls, ms / 1e3 / calls);
    if (pays) metrics["break_even_calls"] = *pays;
    metrics.update(FromPython(callables_.attr("metrics")(eager_ms, ms)));
    run_.result["eager_ns"] = samples.eager_ns;
    run_.result["compiled_ns"] = samples.compiled_ns;
  }

  AttemptRun& run_;
  const py::object callables_, set_stance_, seed_;
  const int warm_up_calls_;
  py::object compiled_pair_;
  WarmUp eager_warm_up_, compiled_warm_up_;
  std::optional<CompileLook> compile_look_;
  double pair_s_ = 0;       // of the newest pass
  int64_t kept_flags_ = 0;  // of the passes that count
  int repeats_ = 0;         // passes that were taken again
  bool disturbed_ = false;  // one was
  std::unique_ptr<Target> eager_;
};

}  // namespace

void RunPerformance(AttemptRun& run) { PerformanceTest(run).Run(); }

}  // namespace dynbench::runner
