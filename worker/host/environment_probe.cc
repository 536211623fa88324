#include "worker/host/environment_probe.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "nlohmann/json.hpp"
#include "worker/host/split.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {
namespace {

constexpr int64_t kProbeLimitMs = 300'000;

// Answers one line that begins with the marker; whatever imports print is ignored.
constexpr char kMarker[] = "DYNBENCH-PROBE ";
constexpr char kScript[] = R"PY(
import importlib, importlib.metadata, importlib.util, json, os, platform, sys, sysconfig
def answer(**facts):
    print("DYNBENCH-PROBE " + json.dumps(facts), flush=True)
    os._exit(0)
facts = dict(python_version=platform.python_version())
if sys.version_info < (3, 9):
    answer(error="python %s is too old; 3.9 or newer is needed" % facts["python_version"])
try:
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    import torch
except ImportError as error:
    answer(error="torch cannot be imported: %s" % error, no_torch=True)
paths = sysconfig.get_paths()
library = "python" + (sysconfig.get_config_var("LDVERSION") or sysconfig.get_python_version())
dirs = [sysconfig.get_config_var("LIBDIR") or "", os.path.join(sys.base_prefix, "lib"),
        os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("MULTIARCH") or "")]
found = [d for d in dirs if d and os.path.exists(os.path.join(d, "lib%s.so" % library))]
if not found:
    answer(error="this python has no shared library lib%s.so to embed; install its development "
                 "package (python3-dev), or build python with --enable-shared" % library)
if not os.path.exists(os.path.join(paths["include"], "Python.h")):
    answer(error="this python has no Python.h in %s; install its development package "
                 "(python3-dev)" % paths["include"])
packages = {}
for name in ("torchvision", "timm", "transformers", "triton", "numpy", "pytorch-triton"):
    try:
        packages[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
devices = ["cpu"]
try:
    if torch.cuda.is_available():
        devices.append("cuda")
except Exception:
    pass
suites = ["path"]
try:
    importlib.import_module("timm")
    suites.append("timm")
except Exception:
    pass
def has_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:
        return False
for suite, package in (("huggingface", "transformers"), ("torchbench", "torchbenchmark")):
    if has_module(package):
        suites.append(suite)
def has_nativert():
    # Some builds carry only its header; the constructor of its C++ runner tells.
    import ctypes
    folder = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "lib")
    try:
        library = ctypes.CDLL(os.path.join(folder, "libtorch_cpu.so"))
    except OSError:
        return False
    return hasattr(library, "_ZN5torch8nativert17ModelRunnerHandleC1ERKNSt7__cxx1112basic_string"
                            "IcSt11char_traitsIcESaIcEEES9_")
def has_backend(name):
    import torch.distributed as distributed
    return distributed.is_available() and getattr(distributed, "is_%s_available" % name)()
def has_aot_inductor():
    import torch._inductor
    return hasattr(torch._inductor, "aoti_compile_and_package")
checks = dict(
    aot_inductor=has_aot_inductor,
    aot_precompile=lambda: hasattr(torch.compiler, "load_compiled_function"),
    nativert=has_nativert, torchao=lambda: has_module("torchao"),
    triton=lambda: has_module("triton"), torchbenchmark=lambda: has_module("torchbenchmark"),
    distributed_gloo=lambda: has_backend("gloo"), distributed_nccl=lambda: has_backend("nccl"))
capabilities = []
for name, check in checks.items():
    try:
        if check():
            capabilities.append(name)
    except Exception:
        pass
answer(python=sys.executable, python_include_dir=paths["include"], python_library_dir=found[0],
       python_library=library, torch_version=torch.__version__,
       torch_git=getattr(torch.version, "git_version", None) or "",
       torch_dir=os.path.dirname(os.path.abspath(torch.__file__)),
       torch_cxx11_abi=bool(torch._C._GLIBCXX_USE_CXX11_ABI), packages=packages, devices=devices,
       suites=suites, capabilities=sorted(capabilities), **facts)
)PY";

std::string Getenv(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

// The last lines of what a failed python wrote.
std::string Tail(const std::string& output) {
  return output.size() <= 2'000 ? output : output.substr(output.size() - 2'000);
}

absl::StatusOr<EnvironmentFacts> ReadAnswer(const std::string& python, const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.contains("error")) {
      const std::string error = json.at("error");
      const std::string hint =
          json.contains("no_torch")
              ? absl::StrCat("; install it with: ", python, " -m pip install torch")
              : std::string();
      return absl::InvalidArgumentError(absl::StrCat(python, ": ", error, hint));
    }
    EnvironmentFacts f;
    f.python = python;
    f.python_version = json.at("python_version");
    f.python_include_dir = json.at("python_include_dir");
    f.python_library_dir = json.at("python_library_dir");
    f.python_library = json.at("python_library");
    f.torch_version = json.at("torch_version");
    f.torch_git = json.at("torch_git");
    f.torch_dir = json.at("torch_dir");
    f.torch_cxx11_abi = json.at("torch_cxx11_abi");
    f.packages = json.at("packages").get<std::map<std::string, std::string>>();
    f.devices = json.at("devices").get<std::vector<std::string>>();
    f.suites = json.at("suites").get<std::vector<std::string>>();
    f.capabilities = json.at("capabilities").get<std::vector<std::string>>();
    return f;
  } catch (const nlohmann::json::exception& error) {
    return absl::InternalError(absl::StrCat(python, ": the probe's answer: ", error.what()));
  }
}

}  // namespace

absl::StatusOr<EnvironmentFacts> ProbeEnvironment(const std::string& python) {
  // Absolute, but links are kept: a venv finds itself by the path that it was called with.
  const std::string path = std::filesystem::absolute(python).lexically_normal();
  if (access(path.c_str(), X_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is no program; give the environment's own python, e.g. venv/bin/python"));
  }
  SpawnOptions options;
  options.argv = {path, "-c", kScript};
  options.working_dir = "/";  // a folder named torch in the caller's must not be imported
  options.environment = {{"PATH", Getenv("PATH")}, {"HOME", Getenv("HOME")}, {"LANG", "C.UTF-8"}};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"}) {
    if (!Getenv(name).empty()) options.environment[name] = Getenv(name);
  }
  ASSIGN_OR_RETURN(const CommandResult result, RunCommand(options, kProbeLimitMs));
  for (const std::string& line : Split(result.output, '\n')) {
    if (absl::StartsWith(line, kMarker)) return ReadAnswer(path, line.substr(sizeof kMarker - 1));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, " did not answer as a python with torch does (exit code ",
                   result.exit.code, ", signal ", result.exit.signal, "): ", Tail(result.output)));
}

}  // namespace dynbench::worker
