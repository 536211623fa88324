#include "worker/runner/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "worker/runner/cores.h"
#include "worker/runner/numa.h"
#include "worker/runner/python_embedding.h"
#include "worker/runner/tensor_operations.h"

namespace py = pybind11;

namespace dynbench::runner {
namespace {

constexpr int kNotSetUp = 3;

// Signals as a program that was just started has them.
void ResetSignals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void TakeStreams(const ChildFds& fds) {
  const worker::UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(nothing.get(), STDIN_FILENO);
  dup2(fds.output.get(), STDOUT_FILENO);
  dup2(fds.error.get(), STDERR_FILENO);
}

void SetLimits(const Attempt& attempt) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // Data, not address space: an accelerator's driver reserves far more addresses than memory.
  if (attempt.memory_limit_bytes > 0) {
    const rlimit data{static_cast<rlim_t>(attempt.memory_limit_bytes),
                      static_cast<rlim_t>(attempt.memory_limit_bytes)};
    if (setrlimit(RLIMIT_DATA, &data) != 0) {
      throw std::runtime_error(std::string("memory limit refused: ") + strerror(errno));
    }
  }
}

void SetUpPython(const std::string& temporary) {
  py::module_ faulthandler = py::module_::import("faulthandler");
  faulthandler.attr("enable")(STDERR_FILENO);
  // `kill` of the lane asks for the stacks with this signal.
  faulthandler.attr("register")(static_cast<int>(SIGUSR1), STDERR_FILENO);
  py::module_::import("os").attr("environ")["TMPDIR"] = temporary;
  py::module_::import("tempfile").attr("tempdir") = temporary;  // it remembers the zygote's
  // New ones: the zygote's streams remember what kind of file they were opened on.
  const py::object open = py::module_::import("io").attr("open");
  const py::object sys = py::module_::import("sys");
  for (const auto& [name, fd] : {std::pair{"stdout", STDOUT_FILENO}, {"stderr", STDERR_FILENO}}) {
    sys.attr(name) = open(fd, "w", py::arg("buffering") = 1, py::arg("encoding") = "utf-8",
                          py::arg("errors") = "backslashreplace", py::arg("closefd") = false);
    sys.attr((std::string("__") + name + "__").c_str()) = sys.attr(name);
  }
}

void SetUp(const Attempt& attempt, const ChildFds& fds, pid_t lane) {
  // Its own session: model code that signals its process group must not reach the lane.
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != lane) _exit(kNotSetUp);
  prctl(PR_SET_NAME, "dynbench-child");
  ResetSignals();
  TakeStreams(fds);
  SetLimits(attempt);
  if (chdir(attempt.work_dir.c_str()) != 0) {
    throw std::runtime_error("work folder " + attempt.work_dir + ": " + strerror(errno));
  }
  const std::string temporary = attempt.work_dir + "/tmp";
  if (mkdir(temporary.c_str(), 0700) != 0 && errno != EEXIST) {
    throw std::runtime_error("temporary folder " + temporary + ": " + strerror(errno));
  }
  if (!attempt.cores.empty()) SetAffinity(attempt.cores);
  if (MemoryIsLocal()) BindMemory(NodesOf(AllowedCores()));
  StopCountingTensorOperations();
  SetUpPython(attempt.temporary_dir);
}

// Compile workers end by themselves when they are asked to.
void ShutDownWorkers() {
  try {
    py::module_::import("torch._inductor.async_compile").attr("shutdown_compile_workers")();
  } catch (py::error_already_set&) {
    // The lane kills what is left.
  }
}

}  // namespace

void ChildMain(const Attempt& attempt, ChildFds fds, pid_t lane) {
  int code = kNotSetUp;
  try {
    SetUp(attempt, fds, lane);
    fds.output.reset();
    fds.error.reset();
    worker::LineChannel control(std::move(fds.control));
    code = RunAttempt(attempt, control);
    if (code == 0) ShutDownWorkers();
  } catch (const std::exception& error) {
    fprintf(stderr, "dynbench-runner: the attempt's process cannot be set up: %s\n", error.what());
  }
  FlushPython();
  fflush(nullptr);
  // No finalisation: device libraries and thread pools of a forked process are not made for it.
  _exit(code);
}

}  // namespace dynbench::runner
