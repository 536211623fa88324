#include "worker/runner/window.h"

#include <unistd.h>

#include "common/base/window_flags.h"
#include "worker/runner/canary.h"
#include "worker/runner/cores.h"
#include "worker/runner/python_embedding.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

constexpr int kMostWindows = 3;

// What the worker says next that is `awaited`.
Json Await(AttemptRun& run, const std::string& awaited) {
  while (true) {
    while (const auto line = run.control.TakeLine()) {
      const Json message = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
      const std::string type = message.is_object() ? message.value("type", "") : "";
      if (type == awaited) return message;
    }
    // Without a worker there is nobody to give the window, nor to take the result.
    if (!run.control.Receive()) _exit(1);
  }
}

// `use`: what for, as worker/runner/PROTOCOL.md has it. Returns what is wrong with the window.
int64_t AskFor(const char* use, AttemptRun& run) {
  const int64_t asked_ns = NowNs();
  run.control.Send(Json{{"type", "window"}, {"use", use}}.dump());
  const Json go = Await(run, "go");
  const int64_t given_ns = NowNs();
  for (const Json& span : go.value("frozen", Json::array())) {
    run.phases.AddFrozen(span.at(0), span.at(1));
  }
  run.phases.AddFrozen(asked_ns, given_ns);
  run.windows.waited_ns += given_ns - asked_ns;
  return go.value("flags", int64_t{0});
}

}  // namespace

Json ReadConditions(const AttemptRun& run) {
  return FromPython(Shim("conditions").attr("read")(run.device.type()));
}

int64_t EnterWindow(AttemptRun& run) { return AskFor("measure", run); }

int64_t EnterQuietWindow(AttemptRun& run) {
  // Alone in its slot there is nobody who would stand still the next time.
  const bool alone = run.attempt.lanes <= 1 && run.attempt.window_blocks <= 1;
  for (int window = 1;; ++window) {
    const int64_t flags = EnterWindow(run);
    if ((flags & kUnfrozenLane) == 0 || alone || window == kMostWindows) return flags;
    LeaveWindow(run);
  }
}

bool HasOwnBenchmarkWindows(const AttemptRun& run) {
  return run.attempt.lanes > 1 && !run.attempt.copy && run.device.is_accelerator();
}

void EnterBenchmarkWindow(AttemptRun& run) {
  AskFor("benchmark", run);
  AwaitIdleDevice(run.device);
}

int64_t LookAtDevice(AttemptRun& run) {
  if (!run.device.is_accelerator() || run.attempt.copy) return 0;
  run.control.Send(R"({"type":"look"})");
  return Await(run, "state").value("flags", int64_t{0});
}

void LeaveWindow(AttemptRun& run) { run.control.Send(R"({"type":"window_done"})"); }

void TakeWindowsForAutotuning(AttemptRun& run) {
  if (run.attempt.lanes <= 1) return;
  Shim("autotuning")
      .attr("install")(py::cpp_function([&run] {
                         // Other threads of the compiler go on meanwhile.
                         const py::gil_scoped_release released;
                         EnterBenchmarkWindow(run);
                         run.windows.autotuning_ns -= NowNs();
                       }),
                       py::cpp_function([&run] {
                         run.device.Synchronize();
                         run.windows.autotuning_ns += NowNs();
                         ++run.windows.autotunings;
                         LeaveWindow(run);
                       }));
}

void LeaveDeviceToCompile(AttemptRun& run) {
  // On a CPU compiling takes what others measure on.
  if (run.attempt.lanes <= 1 || run.attempt.experiment.at("device") == "cpu") return;
  Shim("device_use")
      .attr("install")(run.experiment, py::cpp_function([&run] {
                         const py::gil_scoped_release released;
                         run.device.Synchronize();
                         run.control.Send(R"({"type":"off_device"})");
                       }),
                       py::cpp_function([&run] {
                         const py::gil_scoped_release released;
                         AskFor("return", run);
                       }));
}

void StartOffDevice(AttemptRun& run, std::function<void()> choose) {
  if (!HasOwnBenchmarkWindows(run)) return choose();
  run.control.Send(R"({"type":"off_device"})");
  Shim("device_use").attr("at_first_use")(py::cpp_function([&run, choose = std::move(choose)] {
    const py::gil_scoped_release released;
    AskFor("return", run);
    choose();
  }));
}

void ReportWindows(AttemptRun& run) {
  if (run.windows.waited_ns == 0) return;
  run.metrics()["window_wait_s"] = static_cast<double>(run.windows.waited_ns) / 1e9;
  if (run.windows.autotunings == 0) return;
  run.metrics()["autotune_windows"] = run.windows.autotunings;
  run.metrics()["autotune_s"] = static_cast<double>(run.windows.autotuning_ns) / 1e9;
}

void CheckConditions(const AttemptRun& run, const Json& fixed) {
  std::string changed;
  const Json now = ReadConditions(run);
  for (const auto& [name, value] : fixed.items()) {
    if (now.at(name) == value) continue;
    changed += (changed.empty() ? "" : "; ") + name + " was " + value.dump() + ", is " +
               now.at(name).dump();
  }
  if (!run.attempt.cores.empty()) {
    for (const std::string& thread : ThreadsElsewhere(run.attempt.cores)) {
      changed += (changed.empty() ? "" : "; ") + thread;
    }
  }
  if (!changed.empty()) throw WindowInvalid("changed since the model was compiled: " + changed);
}

}  // namespace dynbench::runner
