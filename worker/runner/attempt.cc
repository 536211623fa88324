#include "worker/runner/attempt.h"

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "worker/runner/cores.h"
#include "worker/runner/instances.h"
#include "worker/runner/numa.h"
#include "worker/runner/python_embedding.h"
#include "worker/runner/window.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

namespace fs = std::filesystem;

int64_t CountFiles(const std::string& folder) {
  std::error_code ignored;
  int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    files += entry.is_regular_file(ignored) ? 1 : 0;
  }
  return files;
}

int64_t CountHeaders(const AttemptRun& run) {
  return Shim("headers").attr("count")(run.attempt.headers_dir).cast<int64_t>();
}

void TakeNotes(const py::object& notes, AttemptRun& run) {
  for (const py::handle note : notes) run.Note(note.cast<std::string>());
}

void Prepare(AttemptRun& run) {
  run.phases.Begin("prepare");
  run.result["start_proof"] = {{"cache_files_before", CountFiles(run.attempt.cache_dir)}};
  run.experiment = ToPython(run.attempt.experiment);
  const std::vector<int> cores = run.attempt.cores.empty() ? AllowedCores() : run.attempt.cores;
  run.result["cores"] = FormatCores(cores);
  run.result["in_force"] = FromPython(
      Shim("options").attr("apply")(run.experiment, ToPython(cores), run.attempt.cache_dir));
  Shim("compiling").attr("check")(run.experiment);
  // The other ranks are forked here: before anything touches a device or computes.
  Shim("distributed")
      .attr("start")(run.experiment, run.attempt.model_file, run.attempt.prepare,
                     run.attempt.device_index);
  if (MemoryIsLocal()) run.result["in_force"]["numa.nodes"] = FormatCores(NodesOf(cores));
  const py::object built = Shim("headers").attr("ensure")(run.experiment, run.attempt.headers_dir);
  if (!built.is_none()) run.Note(built.cast<std::string>());
  run.headers_before = CountHeaders(run);
  TakeNotes(Shim("diagnostics").attr("begin")(run.experiment, run.attempt.work_dir), run);
  TakeWindowsForAutotuning(run);
  LeaveDeviceToCompile(run);
}

void ChooseDevice(AttemptRun& run) {
  run.device = Device(run.attempt.experiment.at("device").get<std::string>());
  StartOffDevice(run, [&run] { run.device.Choose(run.attempt.device_index); });
  run.result["threads"] = py::module_::import("torch").attr("get_num_threads")().cast<int>();
}

void Load(AttemptRun& run) {
  run.loaded = Shim("loading").attr("load")(run.experiment, run.attempt.model_file);
  run.result["in_force"].update(FromPython(run.loaded.attr("in_force")));
  run.result["batch_size"] = run.loaded.attr("batch_size").cast<int>();
  run.result["weights"] = run.loaded.attr("weights").cast<std::string>();
  TakeNotes(run.loaded.attr("notes"), run);
}

Failure Describe(py::error_already_set& error) {
  error.restore();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  const auto exception = py::reinterpret_steal<py::object>(value);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  const Json told = FromPython(Shim("failures").attr("describe")(exception));
  return {told.at("kind"), told.at("error"), told.at("detail")};
}

// Of what the compiler did up to now; also of an attempt that failed while it compiled.
void ReportDetails(AttemptRun& run) {
  const py::module_ reporting = Shim("reporting");
  run.metrics().update(FromPython(reporting.attr("metrics")()));
  run.result["compiler_report"] = FromPython(reporting.attr("report")(run.attempt.cache_dir))
                                      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Dynamo's view of the step, from a further run after everything that is measured or compared.
void Explain(AttemptRun& run) {
  if (!run.attempt.experiment.value("explain", false) || run.attempt.prepare) return;
  try {
    const py::object step = Shim("callables").attr("make_step")(run.experiment);
    Json report = Json::parse(run.result.value("compiler_report", "{}"));
    report["explain"] =
        FromPython(Shim("reporting")
                       .attr("explain")(step, run.loaded.attr("model"), run.loaded.attr("inputs")));
    run.result["compiler_report"] = report.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (py::error_already_set& error) {
    run.Note("not explained: " + Describe(error).error);
  }
}

void ApplyJudgement(const Judgement& judgement, const Failure& failure, AttemptRun& run) {
  run.result["outcome"] = judgement.outcome;
  run.result["status"] = judgement.status;
  run.result["blame"] = judgement.blame;
  run.result["error"] = failure.error;
  run.result["detail"] = failure.detail;
}

void Fail(const Failure& failure, AttemptRun& run) {
  run.result["phase"] = run.phases.current();
  // The traceback belongs into the experiment's log too: that is where people look for it.
  std::fprintf(stderr, "%s\n", failure.detail.c_str());
  ApplyJudgement(Judge(failure, run.phases.current(), run.side), failure, run);
  if (run.result["status"] == "guard_miss") run.metrics()["guard_misses"] = 1;
  if (run.phases.current() != "compile") return;
  try {
    ReportDetails(run);
  } catch (const std::exception& error) {
    run.Note(std::string("no report of the compiler: ") + error.what());
  }
}

// Invalid UTF-8 from model code must not keep a result from being sent.
void Send(const Json& message, worker::LineChannel& control) {
  control.Send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void Report(AttemptRun& run) {
  run.phases.Begin("report");
  ReportWindows(run);
  if (!run.result.contains("phase")) run.result["phase"] = "report";
  run.result["phases"] = run.phases.Finish();
  if (!run.phases.spans().empty()) {
    Send({{"type", "spans"}, {"spans", run.phases.spans()}}, run.control);
  }
  Send(run.result, run.control);
}

void RunTest(AttemptRun& run) {
  Prepare(run);
  if (PassOverWithoutARun(run)) return;
  run.phases.Begin("load");
  ChooseDevice(run);
  const std::string test = run.attempt.experiment.at("test");
  if (test == "batch_size") return SearchBatchSize(run);
  Load(run);
  if (test == "accuracy") {
    RunAccuracy(run);
  } else if (test == "tolerance") {
    RunTolerance(run);
  } else {
    RunPerformance(run);
  }
  if (Instrumented(run)) {
    TakeNotes(
        Shim("diagnostics").attr("further_runs")(run.experiment, run.loaded, run.attempt.work_dir),
        run);
  }
  if (run.result.value("outcome", "") == "passed") Explain(run);
}

// Whatever ended the test: what was recorded until then is what it was run for.
void EndDiagnostics(AttemptRun& run) {
  if (run.experiment.is_none()) return;
  try {
    run.result["artifacts"] =
        FromPython(Shim("diagnostics").attr("end")(run.experiment, run.attempt.work_dir));
  } catch (py::error_already_set& error) {
    run.Note(std::string("diagnostics: ") + error.what());
  }
}

template <typename T>
T Required(const Json& run, const char* name) {
  try {
    return run.at(name).get<T>();
  } catch (const Json::exception&) {
    throw std::invalid_argument(std::string("the run message lacks \"") + name +
                                "\" or it has a wrong type");
  }
}

}  // namespace

bool Instrumented(const AttemptRun& run) {
  if (run.attempt.prepare) return false;
  return Shim("diagnostics").attr("instrumented")(run.experiment).cast<bool>();
}

Attempt ParseAttempt(const Json& run) {
  Attempt attempt;
  attempt.id = Required<std::string>(run, "attempt");
  attempt.experiment = Required<Json>(run, "experiment");
  attempt.work_dir = Required<std::string>(run, "work_dir");
  attempt.cache_dir = Required<std::string>(run, "cache_dir");
  attempt.temporary_dir = attempt.work_dir + "/tmp";
  attempt.model_file = run.value("model_file", "");
  attempt.headers_dir = run.value("precompiled_headers_dir", "");
  attempt.device_index = run.value("device_index", -1);
  attempt.cores = run.value("cores", std::vector<int>{});
  attempt.prepare = run.value("prepare", false);
  attempt.lanes = run.value("lanes", 1);
  attempt.cores_shared = run.value("cores_shared", false);
  attempt.memory_limit_bytes = run.value("memory_limit_bytes", int64_t{0});
  attempt.window_blocks = run.value("window_blocks", 1);
  if (!attempt.experiment.is_object()) {
    throw std::invalid_argument("\"experiment\" of the run message is not an object");
  }
  if (attempt.headers_dir.empty()) {
    // A runner's folder belongs to one environment, so it is the place for what it compiled.
    attempt.headers_dir =
        (fs::read_symlink("/proc/self/exe").parent_path() / "precompiled_headers").string();
  }
  return attempt;
}

void ReportCompiler(AttemptRun& run) {
  const Json counters = FromPython(Shim("callables").attr("counters")());
  run.metrics().update(counters.at("metrics"));
  Json& proof = run.result["start_proof"];
  const int64_t hits = counters.at("cache_hits"), misses = counters.at("cache_misses");
  proof["cache_hits"] = hits;
  proof["cache_misses"] = misses;
  const std::string start = run.attempt.experiment.at("start");
  const bool empty = proof.at("cache_files_before") == 0;
  const bool warm = hits > 0 && misses == 0;
  proof["proven"] = start == "cold" ? empty : start == "warm" && warm;
  if (start == "cold" && !empty) run.Note("cold start not proven: the cache folder had files");
  if (start == "warm" && !warm && !run.attempt.prepare) {
    run.Note("warm start not proven: " + std::to_string(hits) + " hits, " + std::to_string(misses) +
             " misses of the graph cache");
  }
  ReportDetails(run);
  ReportArtifact(run);
  if (CountHeaders(run) > run.headers_before) {
    run.Note("precompiled headers were built while the model was compiled");
  }
}

bool ReportArtifact(AttemptRun& run) {
  const py::object artifact = Shim("ahead_of_time").attr("last");
  if (artifact.is_none()) return false;
  const Json spans = FromPython(artifact.attr("spans"));
  for (const auto& [name, span] : spans.items()) {
    const int64_t begin_ns = span.at(0), end_ns = span.at(1);
    run.phases.AddSpan(name, begin_ns, end_ns);
    run.metrics()[name + "_s"] =
        static_cast<double>(end_ns - begin_ns - run.phases.FrozenWithin(begin_ns, end_ns)) / 1e9;
  }
  run.result["in_force"]["artifact.run_from"] =
      artifact.attr("describe")()["run_from"].cast<std::string>();
  return true;
}

int RunAttempt(const Attempt& attempt, worker::LineChannel& control) {
  if (HasInstances(attempt)) return RunInstances(attempt, control);
  AttemptRun run{attempt,
                 control,
                 Device("cpu"),
                 Phases([&control](const Json& message) { Send(message, control); }),
                 py::none(),
                 py::none(),
                 {{"type", "result"}, {"metrics", Json::object()}, {"notes", Json::array()}}};
  try {
    RunTest(run);
  } catch (py::error_already_set& error) {
    // The model's code wants the process to end: it does, and a missing result says so.
    if (error.matches(PyExc_SystemExit)) return ExitCodeOf(error);
    Fail(Describe(error), run);
  } catch (const WindowInvalid& error) {
    Fail({"window", error.what(), ""}, run);
  } catch (const std::exception& error) {
    Fail({"other", error.what(), ""}, run);
  }
  EndDiagnostics(run);
  Report(run);
  return 0;
}

}  // namespace dynbench::runner
