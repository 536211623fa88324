// CPython inside this process: start, imports, fork. pybind11 only, no torch headers.
//
// One thread holds the interpreter for the whole life of the process; nothing here is thread-safe.
#pragma once

#include <sys/types.h>

#include <string>

#include "nlohmann/json.hpp"
#include "pybind11/pybind11.h"

namespace dynbench::runner {

using Json = nlohmann::json;

// Starts the interpreter as the environment that the program `python` belongs to, with the folder
// `shims` as package dynbench_shims. Throws std::runtime_error when sys.prefix is another one.
void StartPython(const std::string& python, const std::string& shims);

// Imports torch and the suites' libraries; returns their versions. Throws std::runtime_error with
// the last line of what Python said.
Json ImportLibraries();

// The shim `dynbench_shims.NAME`.
pybind11::module_ Shim(const char* name);

// fork() with Python's own hooks on both sides.
pid_t ForkPython();

// Through text: what goes between C++ and Python is small.
pybind11::object ToPython(const Json& json);
Json FromPython(const pybind11::handle& object);

// What sys.exit(x) means as an exit status, its message printed to stderr as the interpreter does.
int ExitCodeOf(const pybind11::error_already_set& system_exit);

// Flushes sys.stdout and sys.stderr.
void FlushPython();

}  // namespace dynbench::runner
