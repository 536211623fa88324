#include "worker/runner/warm_up.h"

#include <optional>

#include "worker/runner/python_embedding.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

double SecondsBetween(const AttemptRun& run, int64_t begin_ns, int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns - run.phases.FrozenWithin(begin_ns, end_ns)) / 1e9;
}

// Upstream's wall time of a warm-up: it does not wait for the device after the first call. That
// wait is taken out again, so both meanings come from one run.
double WallSeconds(const AttemptRun& run, const WarmUp& w) {
  return SecondsBetween(run, w.begin_ns, w.first_called_ns) +
         SecondsBetween(run, w.first_synchronized_ns, w.end_ns);
}

void Put(Json& metrics, const char* name, const std::optional<double>& value) {
  if (value) metrics[name] = *value;
}

MemoryReading MemoryOfOneCall(AttemptRun& run, Target& target) {
  py::module_::import("gc").attr("collect")();
  const PhaseMemory memory(run.device);
  target.BeforeCall();
  target.Call();
  run.device.Synchronize();
  const MemoryReading reading = memory.Read();
  target.Release();
  return reading;
}

}  // namespace

WarmUp WarmUpSide(AttemptRun& run, const std::function<std::unique_ptr<Target>()>& build, int calls,
                  const std::string& name) {
  py::module_::import("gc").attr("collect")();
  const PhaseMemory memory(run.device);
  WarmUp w;
  w.begin_ns = NowNs();
  w.target = build();
  w.built_ns = NowNs();
  w.target->BeforeCall();
  w.target->Call();
  w.first_called_ns = NowNs();
  run.device.Synchronize();
  w.first_synchronized_ns = NowNs();
  // No output outlives its call, as upstream: it would be part of the next one's peak, and CUDA
  // graphs take another path while an output of theirs is alive.
  w.target->Release();
  for (int i = 1; i < calls; ++i) {
    w.target->BeforeCall();
    w.target->Call();
    w.target->Release();
  }
  w.end_ns = NowNs();
  run.device.Synchronize();
  w.memory = memory.Read();
  if (run.attempt.experiment.value("warm_peak_memory", false)) {
    w.memory = MemoryOfOneCall(run, *w.target);
  }
  run.phases.AddSpan(name + "_warm_up", w.begin_ns, w.end_ns);
  run.phases.AddSpan(name + "_first_call", w.begin_ns, w.first_synchronized_ns);
  return w;
}

double ReportWarmUps(AttemptRun& run, const WarmUp& eager, const WarmUp& compiled) {
  Json& metrics = run.metrics();
  metrics["compilation_latency_s"] = WallSeconds(run, compiled) - WallSeconds(run, eager);
  const double compile_s = SecondsBetween(run, compiled.begin_ns, compiled.first_synchronized_ns);
  metrics["compile_synchronized_s"] = compile_s;
  if (ReportArtifact(run)) {
    metrics["first_run_s"] = SecondsBetween(run, compiled.built_ns, compiled.first_synchronized_ns);
  }
  Put(metrics, "eager_peak_memory_bytes", eager.memory.upstream_bytes);
  Put(metrics, "compiled_peak_memory_bytes", compiled.memory.upstream_bytes);
  Put(metrics, "eager_phase_peak_bytes", eager.memory.phase_peak_bytes);
  Put(metrics, "compiled_phase_peak_bytes", compiled.memory.phase_peak_bytes);
  if (eager.memory.upstream_bytes && compiled.memory.upstream_bytes) {
    const double peak = *compiled.memory.upstream_bytes;
    metrics["compression_ratio"] = peak == 0 ? 0 : *eager.memory.upstream_bytes / peak;
  }
  return compile_s;
}

}  // namespace dynbench::runner
