// The accuracy test: the order of the phases; the steps themselves are shims/accuracy.py.
#include "worker/runner/attempt.h"
#include "worker/runner/python_embedding.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

// Takes over a decision of a step. Returns whether there was one.
bool Decided(AttemptRun& run, const py::object& step_result) {
  if (step_result.is_none()) return false;
  const Json told = FromPython(step_result);
  const Failure failure{told.value("kind", "other"), told.value("error", ""),
                        told.value("detail", "")};
  const Judgement judgement = JudgeAccuracy(told.at("status"), failure);
  run.result["outcome"] = judgement.outcome;
  run.result["status"] = judgement.status;
  run.result["blame"] = judgement.blame;
  if (judgement.outcome != "passed") run.result["phase"] = run.phases.current();
  run.result["error"] = failure.error;
  run.result["detail"] = failure.detail;
  if (told.contains("rule")) run.result["accuracy_rule"] = told["rule"];
  if (told.contains("multiplier") && told["multiplier"] != 0) {
    run.metrics()["accuracy_multiplier"] = told["multiplier"];
  }
  if (told.contains("distance") && told["distance"].is_number()) {
    run.metrics()["accuracy_distance"] = told["distance"];
  }
  return true;
}

void RunSteps(AttemptRun& run, const py::object& check) {
  if (!run.attempt.prepare) {
    run.phases.Begin("eager");
    if (Decided(run, check.attr("run_eager")())) return;
    run.phases.Begin("reference");
    if (Decided(run, check.attr("run_reference")())) return;
  }
  run.phases.Begin("compile");
  const py::object compiled = check.attr("run_compiled")();
  ReportCompiler(run);
  const py::object compile_s = Shim("callables").attr("compile_seconds")();
  if (!compile_s.is_none()) run.metrics()["compilation_latency_s"] = compile_s.cast<double>();
  if (Decided(run, compiled)) return;
  if (run.attempt.prepare) {
    run.result.update({{"outcome", "passed"}, {"status", "prepared"}, {"blame", "none"}});
    return;
  }
  run.phases.Begin("verify");
  Decided(run, check.attr("verify")(py::module_::import("dynbench_runner").attr("compare")));
}

}  // namespace

void RunAccuracy(AttemptRun& run) {
  const py::object check = Shim("accuracy").attr("AccuracyCheck")(run.experiment, run.loaded);
  run.result["accuracy_function_hash"] =
      Shim("accuracy").attr("function_hash")().cast<std::string>();
  run.metrics()["accuracy_tolerance"] = run.attempt.experiment.at("accuracy").at("tolerance");
  RunSteps(run, check);
  for (const py::handle note : check.attr("notes")) run.Note(note.cast<std::string>());
}

}  // namespace dynbench::runner
