// What is called and timed: a Python callable with its arguments, or an artefact from C++.
//
// Holds the output of the last call until it is released. Not thread-safe; the caller has the
// interpreter.
#pragma once

#include <memory>

#include "pybind11/pybind11.h"

namespace dynbench::runner {

class Target {
 public:
  virtual ~Target() = default;
  // Throws what the callable throws (pybind11::error_already_set for a Python exception).
  virtual void Call() = 0;
  virtual void Release() = 0;
  // What has to be done before each call and is no part of it (a cache is emptied), where there is
  // such a thing.
  virtual bool HasBeforeCall() const { return false; }
  virtual void BeforeCall() {}
};

// `function_and_arguments` is (callable, (model, inputs)), and a third part where something has to
// be called before each call. A callable of shims/ahead_of_time.py that has a C++ artefact is
// called without Python.
std::unique_ptr<Target> MakeTarget(const pybind11::object& function_and_arguments);

// A Python function that returns its argument: what is left of a call is the harness.
std::unique_ptr<Target> MakeNullTarget();

}  // namespace dynbench::runner
