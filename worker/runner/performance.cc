// The performance test: upstream's protocol (five warm-up calls a side, then timed pairs), with its
// figures and ours beside them.
#include <functional>
#include <optional>

#include "common/stats/break_even.h"
#include "common/stats/stats.h"
#include "worker/runner/attempt.h"
#include "worker/runner/cores.h"
#include "worker/runner/memory.h"
#include "worker/runner/python_embedding.h"
#include "worker/runner/timing.h"
#include "worker/runner/window.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

constexpr int kWarmUpCalls = 5;

// A Python callable with its arguments; holds the output of the last call.
class Target {
 public:
  explicit Target(const py::object& function_and_arguments) {
    const auto pair = function_and_arguments.cast<py::tuple>();
    function_ = pair[0];
    arguments_ = pair[1];
  }

  void Call() {
    output_ = py::reinterpret_steal<py::object>(
        PyObject_Call(function_.ptr(), arguments_.ptr(), nullptr));
    if (!output_) throw py::error_already_set();
  }
  void Release() { output_ = py::object(); }

 private:
  py::object function_;
  py::tuple arguments_;
  py::object output_;
};

// Times are CLOCK_MONOTONIC nanoseconds.
struct WarmUp {
  int64_t begin_ns = 0;
  int64_t first_called_ns = 0;        // the first call returned
  int64_t first_synchronized_ns = 0;  // and the device was done with it
  int64_t end_ns = 0;
  MemoryReading memory;
};

// Upstream's wall time of a warm-up: it does not wait for the device after the first call. That
// wait is taken out again, so both meanings come from one run.
double WallSeconds(const AttemptRun& run, const WarmUp& w) {
  const int64_t wait_ns = w.first_synchronized_ns - w.first_called_ns;
  const int64_t frozen_ns = run.phases.FrozenWithin(w.begin_ns, w.end_ns);
  return static_cast<double>(w.end_ns - w.begin_ns - wait_ns - frozen_ns) / 1e9;
}

double FirstCallSeconds(const AttemptRun& run, const WarmUp& w) {
  const int64_t frozen_ns = run.phases.FrozenWithin(w.begin_ns, w.first_synchronized_ns);
  return static_cast<double>(w.first_synchronized_ns - w.begin_ns - frozen_ns) / 1e9;
}

WarmUp WarmUpSide(AttemptRun& run, Target& target, int calls, const std::string& name) {
  py::module_::import("gc").attr("collect")();
  const PhaseMemory memory(run.device);
  WarmUp warm_up;
  warm_up.begin_ns = NowNs();
  target.Call();
  warm_up.first_called_ns = NowNs();
  run.device.Synchronize();
  warm_up.first_synchronized_ns = NowNs();
  // No output outlives its call, as upstream: it would be part of the next one's peak, and CUDA
  // graphs take another path while an output of theirs is alive.
  target.Release();
  for (int i = 1; i < calls; ++i) {
    target.Call();
    target.Release();
  }
  warm_up.end_ns = NowNs();
  run.device.Synchronize();
  warm_up.memory = memory.Read();
  run.phases.AddSpan(name + "_warm_up", warm_up.begin_ns, warm_up.end_ns);
  run.phases.AddSpan(name + "_first_call", warm_up.begin_ns, warm_up.first_synchronized_ns);
  return warm_up;
}

void Put(Json& metrics, const char* name, const std::optional<double>& value) {
  if (value) metrics[name] = *value;
}

void ReportWarmUps(AttemptRun& run, const WarmUp& eager, const WarmUp& compiled) {
  Json& metrics = run.metrics();
  metrics["compilation_latency_s"] = WallSeconds(run, compiled) - WallSeconds(run, eager);
  metrics["compile_synchronized_s"] = FirstCallSeconds(run, compiled);
  Put(metrics, "eager_peak_memory_bytes", eager.memory.upstream_bytes);
  Put(metrics, "compiled_peak_memory_bytes", compiled.memory.upstream_bytes);
  Put(metrics, "eager_phase_peak_bytes", eager.memory.phase_peak_bytes);
  Put(metrics, "compiled_phase_peak_bytes", compiled.memory.phase_peak_bytes);
  if (eager.memory.upstream_bytes && compiled.memory.upstream_bytes) {
    const double peak = *compiled.memory.upstream_bytes;
    metrics["compression_ratio"] = peak == 0 ? 0 : *eager.memory.upstream_bytes / peak;
  }
}

// What compiling cost before the first call could be answered at full speed: the first compiled
// call, and on an ahead-of-time path what was done before it.
double CompileSeconds(const Json& metrics) {
  double seconds = 0;
  for (const char* name : {"compile_synchronized_s", "export_s", "package_s", "load_s"}) {
    const auto found = metrics.find(name);
    if (found != metrics.end() && found->is_number()) seconds += found->get<double>();
  }
  return seconds;
}

void ReportSamples(AttemptRun& run, const Samples& samples) {
  const auto eager = stats::ToDoubles(samples.eager_ns);
  const auto compiled = stats::ToDoubles(samples.compiled_ns);
  const double eager_ns = stats::Median(eager), compiled_ns = stats::Median(compiled);
  Json& metrics = run.metrics();
  metrics["speedup"] = eager_ns / compiled_ns;
  metrics["eager_latency_ms"] = eager_ns / 1e6;
  metrics["abs_latency_ms"] = compiled_ns / 1e6;
  const double call_ns = 1e9 * run.experiment.at("iterations_per_run").get<double>();
  Put(metrics, "break_even_calls",
      stats::BreakEvenCalls(CompileSeconds(metrics), eager_ns / call_ns, compiled_ns / call_ns));
  metrics["eager_spread"] = stats::Spread(eager);
  metrics["compiled_spread"] = stats::Spread(compiled);
  run.result["eager_ns"] = samples.eager_ns;
  run.result["compiled_ns"] = samples.compiled_ns;
}

Samples Measure(AttemptRun& run, const py::object& callables, Target& eager, Target& compiled) {
  const py::object stance = Shim("callables").attr("set_stance");
  const py::object reseed = Shim("loading").attr("seed");
  const auto side = [&](Target& target, SideInForce which, const char* stance_name) {
    return Side{[&run, stance, which, stance_name] {
                  run.side = which;
                  stance(stance_name);
                },
                [&target] { target.Call(); }, [&target] { target.Release(); }};
  };
  const Json& experiment = run.attempt.experiment;
  Side eager_side = side(eager, SideInForce::kEager, "force_eager");
  if (experiment.at("randomize_input")) {
    // Once a pair: both sides get the same inputs.
    eager_side.before = [set_stance = eager_side.before, randomize = callables.attr("randomize")] {
      set_stance();
      randomize();
    };
  }
  const Samples samples = TimePairs({
      .repeat = experiment.at("repeat"),
      .iterations_per_run = experiment.at("iterations_per_run"),
      .synchronize = [&run] { run.device.Synchronize(); },
      .reseed = [&reseed] { reseed(); },
      .eager = eager_side,
      // Upstream's run-only mode answers a guard miss with a silent eager call; this one raises.
      .compiled = side(compiled, SideInForce::kCompiled, "fail_on_recompile"),
  });
  run.side = SideInForce::kNone;
  return samples;
}

WarmUp WarmUpEager(AttemptRun& run, const py::object& callables) {
  run.phases.Begin("eager");
  Shim("callables").attr("set_stance")("force_eager");
  Target copy(callables.attr("eager_on_a_copy")());
  return WarmUpSide(run, copy, kWarmUpCalls, "eager");
}

void MeasureInWindow(AttemptRun& run, const py::object& callables, Target& compiled,
                     const std::function<void()>& entered) {
  Target eager(callables.attr("eager")());
  run.phases.Begin("ready");
  const Json fixed = ReadConditions(run);
  if (!run.attempt.cores.empty()) SetAffinity(run.attempt.cores);
  EnterWindow(run);
  entered();
  run.phases.Begin("measure");
  CheckConditions(run, fixed);
  const Samples samples = Measure(run, callables, eager, compiled);
  CheckConditions(run, fixed);
  LeaveWindow(run);
  ReportSamples(run, samples);
}

}  // namespace

void RunPerformance(AttemptRun& run) {
  const py::object callables = Shim("callables").attr("Callables")(run.experiment, run.loaded);
  std::optional<WarmUp> eager_warm_up;
  if (!run.attempt.prepare) eager_warm_up = WarmUpEager(run, callables);

  run.phases.Begin("compile");
  Target compiled(callables.attr("compiled")());
  const WarmUp compiled_warm_up =
      WarmUpSide(run, compiled, run.attempt.prepare ? 1 : kWarmUpCalls, "compiled");
  ReportCompiler(run);
  run.result["outcome"] = "passed";
  run.result["blame"] = "none";
  run.result["status"] = run.attempt.prepare ? "prepared" : "measured";
  if (run.attempt.prepare) return;
  if (Instrumented(run)) {
    run.result["status"] = "diagnosed";
    return;
  }
  MeasureInWindow(run, callables, compiled, [&] {
    // Only now: every frozen span before the window is known.
    ReportWarmUps(run, *eager_warm_up, compiled_warm_up);
  });
}

}  // namespace dynbench::runner
