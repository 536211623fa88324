// The tests that compare outputs: the order of the phases; the steps themselves are shims
// (accuracy.py, batch_invariance.py, tolerance_test.py, batch_size_search.py).
#include "worker/runner/attempt.h"
#include "worker/runner/python_embedding.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

py::object Compare() { return py::module_::import("dynbench_runner").attr("compare"); }

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

void Pass(AttemptRun& run, const char* status) {
  run.result.update({{"outcome", "passed"}, {"status", status}, {"blame", "none"}});
}

// What the compiler did, whether the compiled run came to its end or not.
void ReportCompiled(AttemptRun& run) {
  ReportCompiler(run);
  const py::object compile_s = Shim("callables").attr("compile_seconds")();
  if (!compile_s.is_none()) run.metrics()["compilation_latency_s"] = compile_s.cast<double>();
}

void TakeNotes(AttemptRun& run, const py::object& test) {
  for (const py::handle note : test.attr("notes")) run.Note(note.cast<std::string>());
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
  ReportCompiled(run);
  if (Decided(run, compiled)) return;
  if (run.attempt.prepare) return Pass(run, "prepared");
  run.phases.Begin("verify");
  Decided(run, check.attr("verify")());
}

// Away from the row's own words: what a minifier does must not change them.
void Minify(AttemptRun& run) {
  if (!run.attempt.experiment.at("minify") || run.result.value("status", "") != "fail_accuracy") {
    return;
  }
  run.Note(Shim("minifier")
               .attr("minify")(run.experiment, run.loaded, run.attempt.work_dir)
               .cast<std::string>());
}

void RunBatchInvariance(AttemptRun& run) {
  const py::object test =
      Shim("batch_invariance").attr("BatchInvariance")(run.experiment, run.loaded, Compare());
  run.phases.Begin("compile");
  const py::object told = test.attr("run")();
  ReportCompiled(run);
  if (run.attempt.prepare) return Pass(run, "prepared");
  Decided(run, told);
  TakeNotes(run, test);
}

}  // namespace

void RunAccuracy(AttemptRun& run) {
  if (run.attempt.experiment.at("batch_invariant")) return RunBatchInvariance(run);
  const py::object check =
      Shim("accuracy").attr("AccuracyCheck")(run.experiment, run.loaded, Compare());
  run.result["accuracy_function_hash"] =
      Shim("accuracy_rules").attr("function_hash")().cast<std::string>();
  run.metrics()["accuracy_tolerance"] = run.attempt.experiment.at("accuracy").at("tolerance");
  RunSteps(run, check);
  run.result["in_force"].update(FromPython(check.attr("in_force")()));
  TakeNotes(run, check);
  Minify(run);
}

void RunTolerance(AttemptRun& run) {
  const py::object test = Shim("tolerance_test").attr("ToleranceTest")(run.experiment, run.loaded);
  if (!run.attempt.prepare) {
    run.phases.Begin("eager");
    test.attr("run_eager")();
  }
  run.phases.Begin("compile");
  test.attr("run_compiled")();
  ReportCompiled(run);
  if (run.attempt.prepare) return Pass(run, "prepared");
  run.phases.Begin("verify");
  run.metrics().update(FromPython(test.attr("verify")()));
  TakeNotes(run, test);
  Pass(run, "measured");
}

bool PassOverWithoutARun(AttemptRun& run) {
  const auto reason =
      Shim("accuracy_rules").attr("without_a_run")(run.experiment).cast<std::string>();
  if (reason.empty()) return false;
  Pass(run, "pass_due_to_skip");
  run.result["detail"] = reason;
  run.result["batch_size"] = run.attempt.experiment.at("batch_size");
  run.metrics()["accuracy_tolerance"] = run.attempt.experiment.at("accuracy").at("tolerance");
  run.result["in_force"]["accuracy.reference"] = "not run";
  return true;
}

void SearchBatchSize(AttemptRun& run) {
  const Json told =
      FromPython(Shim("batch_size_search").attr("search")(run.experiment, run.attempt.model_file));
  for (const Json& note : told.at("notes")) run.Note(note);
  if (!told.contains("status")) {
    run.result["batch_size"] = told.at("batch_size");
    run.result["weights"] = told.at("weights");
    return Pass(run, "measured");
  }
  const Judgement judgement = JudgeAccuracy(told.at("status"), {told.at("kind"), "", ""});
  run.result.update({{"outcome", judgement.outcome},
                     {"status", judgement.status},
                     {"blame", judgement.blame},
                     {"phase", "eager"},
                     {"error", told.at("error")},
                     {"detail", told.at("detail")}});
}

}  // namespace dynbench::runner
