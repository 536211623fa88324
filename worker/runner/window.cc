#include "worker/runner/window.h"

#include <unistd.h>

#include "worker/runner/cores.h"
#include "worker/runner/python_embedding.h"

namespace dynbench::runner {

Json ReadConditions(const AttemptRun& run) {
  return FromPython(Shim("conditions").attr("read")(run.device.type()));
}

void EnterWindow(AttemptRun& run) {
  run.control.Send(R"({"type":"window"})");
  while (true) {
    while (const auto line = run.control.TakeLine()) {
      const Json message = Json::parse(*line, nullptr, /*allow_exceptions=*/false);
      const std::string type = message.is_object() ? message.value("type", "") : "";
      if (type == "go") return;
      if (type == "frozen") {
        run.phases.AddFrozen(message.value("begin_ns", int64_t{0}),
                             message.value("end_ns", int64_t{0}));
      }
    }
    // Without a worker there is nobody to give the window, nor to take the result.
    if (!run.control.Receive()) _exit(1);
  }
}

void LeaveWindow(AttemptRun& run) { run.control.Send(R"({"type":"window_done"})"); }

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
