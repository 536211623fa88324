#include "worker/runner/python_embedding.h"

#include <pybind11/embed.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace py = pybind11;

namespace dynbench::runner {
namespace {

void Initialize(const std::string& python) {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  // The interpreter finds its environment (pyvenv.cfg) from the program's own name.
  PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, python.c_str());
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) {
    throw std::runtime_error(std::string("Python does not start: ") +
                             (status.err_msg ? status.err_msg : "unknown reason"));
  }
}

void CheckPrefix(const std::string& python) {
  namespace fs = std::filesystem;
  const std::string prefix = py::module_::import("sys").attr("prefix").cast<std::string>();
  std::error_code ignored;
  const fs::path home = fs::path(python).parent_path().parent_path();
  const fs::path real_home = fs::canonical(python, ignored).parent_path().parent_path();
  if (fs::equivalent(prefix, home, ignored) || fs::equivalent(prefix, real_home, ignored)) return;
  throw std::runtime_error("the interpreter came up in " + prefix + " instead of the environment " +
                           home.string() + " that " + python + " belongs to");
}

void AddPackage(const std::string& folder) {
  py::dict scope;
  scope["folder"] = folder;
  py::exec(R"(
import importlib.machinery, importlib.util, os, sys
name = "dynbench_shims"
spec = importlib.util.spec_from_file_location(
    name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
spec.loader.exec_module(module)
sys.argv = ["dynbench-runner"]
)",
           scope);
}

}  // namespace

void StartPython(const std::string& python, const std::string& shims) {
  Initialize(python);
  CheckPrefix(python);
  try {
    AddPackage(std::filesystem::absolute(shims).string());
  } catch (py::error_already_set& error) {
    throw std::runtime_error("the shims in " + shims + " cannot be imported: " + error.what());
  }
}

Json ImportLibraries() {
  // Touching CUDA before a fork makes it unusable in every child; NVML does not.
  setenv("PYTORCH_NVML_BASED_CUDA_CHECK", "1", 1);
  py::module_::import("os").attr("environ")["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1";
  // numpy's BLAS starts threads when it is imported, and a zygote has one thread. Nothing that is
  // measured computes with numpy; what children start later does not see the variable.
  const bool ours = getenv("OPENBLAS_NUM_THREADS") == nullptr;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  try {
    const Json versions = FromPython(Shim("imports").attr("import_all")());
    if (ours) unsetenv("OPENBLAS_NUM_THREADS");
    return versions;
  } catch (py::error_already_set& error) {
    throw std::runtime_error(py::str(error.type().attr("__name__")).cast<std::string>() + ": " +
                             py::str(error.value()).cast<std::string>());
  }
}

py::module_ Shim(const char* name) {
  return py::module_::import((std::string("dynbench_shims.") + name).c_str());
}

pid_t ForkPython() {
  FlushPython();
  fflush(nullptr);
  PyOS_BeforeFork();
  const pid_t pid = fork();
  if (pid == 0) {
    PyOS_AfterFork_Child();
  } else {
    PyOS_AfterFork_Parent();
  }
  return pid;
}

py::object ToPython(const Json& json) {
  return py::module_::import("json").attr("loads")(json.dump());
}

Json FromPython(const py::handle& object) {
  // Numbers of numpy and the like become text rather than an exception.
  const auto text = py::module_::import("json").attr("dumps")(
      object, py::arg("default") = py::module_::import("builtins").attr("str"));
  // NaN and infinity have no place in JSON: such a figure was not measured.
  Json json = Json::parse(text.cast<std::string>(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) return json;
  py::dict scope;
  scope["o"] = object;
  return Json::parse(py::eval(R"(__import__("json").dumps((lambda f: f(f, o))(lambda f, x:
      {k: f(f, v) for k, v in x.items()} if isinstance(x, dict) else
      [f(f, v) for v in x] if isinstance(x, (list, tuple)) else
      None if isinstance(x, float) and (x != x or abs(x) == float("inf")) else x), default=str))",
                              scope)
                         .cast<std::string>());
}

int ExitCodeOf(const py::error_already_set& system_exit) {
  const py::object code = system_exit.value().attr("code");
  if (code.is_none()) return 0;
  try {
    if (py::isinstance<py::int_>(code)) return py::int_(code & py::int_(0xff)).cast<int>();
    fprintf(stderr, "%s\n", py::str(code).cast<std::string>().c_str());
  } catch (const std::exception&) {
    // A text that is no UTF-8: Python itself ends with 1 as well.
  }
  return 1;
}

void FlushPython() {
  try {
    const py::module_ sys = py::module_::import("sys");
    for (const char* name : {"stdout", "stderr"}) {
      const py::object stream = sys.attr(name);
      if (!stream.is_none()) stream.attr("flush")();
    }
  } catch (py::error_already_set&) {
    // A closed or broken stream has nothing to flush.
  }
}

}  // namespace dynbench::runner
