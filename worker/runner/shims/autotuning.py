"""What the compiler benchmarks to choose kernels is benchmarked in a window of its own.

Every entry point is wrapped at its outermost level, so that one window holds all candidates of a
kernel; the windows nest. Entry points that a version of torch lacks are passed over.
"""

import functools
import importlib
import os
import threading

# Module, class, methods. The first are the coarsest: all candidates of one choice.
_ENTRIES = (
    ("torch._inductor.select_algorithm", "AlgorithmSelectorCache",
     ("benchmark_choices", "benchmark_in_current_process", "benchmark_in_sub_process",
      "benchmark_choice", "benchmark_collective_choice", "prescreen_choices")),
    ("torch._inductor.runtime.triton_heuristics", "CachingAutotuner",
     ("benchmark_all_configs", "bench")),
    ("torch._inductor.runtime.benchmarking", "Benchmarker", ()),
    ("torch._inductor.runtime.benchmarking", "TritonBenchmarker", ()),
    ("torch._inductor.runtime.benchmarking", "InductorBenchmarker", ()),
    ("torch._inductor.runtime.benchmarking", "TorchProfilerBenchmarker", ()),
)
_MARK = "_dynbench_in_a_window"


class Window:
    """A context that takes the window at the first level and gives it back at the last. Threads of
    this process take turns; a process that was forked from it relies on its parent's window."""

    def __init__(self, enter, leave):
        self._enter, self._leave = enter, leave
        self._lock, self._depth, self._owner = threading.RLock(), 0, os.getpid()

    def __enter__(self):
        if os.getpid() != self._owner:
            return
        self._lock.acquire()
        if self._depth == 0:
            try:
                self._enter()
            except BaseException:
                self._lock.release()
                raise
        self._depth += 1

    def __exit__(self, *_error):
        if os.getpid() != self._owner:
            return
        self._depth -= 1
        try:
            if self._depth == 0:
                self._leave()
        finally:
            self._lock.release()


def _in_window(function, window):
    @functools.wraps(function)
    def measured(*args, **kwargs):
        with window:
            return function(*args, **kwargs)

    setattr(measured, _MARK, True)
    return measured


def _wrap(owner, name, window):
    found = owner.__dict__.get(name)
    if found is None:
        return False
    kind = type(found) if isinstance(found, (classmethod, staticmethod)) else None
    function = found.__func__ if kind else found
    if not callable(function) or getattr(function, _MARK, False):
        return False
    wrapped = _in_window(function, window)
    setattr(owner, name, kind(wrapped) if kind else wrapped)
    return True


def install(enter, leave):
    """`enter` waits for the window, `leave` gives it back. Returns the names that were wrapped."""
    window, wrapped = Window(enter, leave), []
    for module_name, class_name, methods in _ENTRIES:
        try:
            owner = getattr(importlib.import_module(module_name), class_name, None)
        except ImportError:  # no Triton
            owner = None
        if owner is None:
            continue
        if not methods:
            methods = [name for name in owner.__dict__ if name.startswith("benchmark")]
        wrapped += ["%s.%s" % (class_name, name) for name in methods
                    if _wrap(owner, name, window)]
    return wrapped
