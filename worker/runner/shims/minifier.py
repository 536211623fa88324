"""After fail_accuracy: torch's own minifier on the graph that is wrong; its repro is kept."""

import os
import shutil
import subprocess
import sys

import torch
import torch._dynamo

from . import callables, diagnostics, failures
from .accuracy import run_side
from .loading import seed

# The graph is cut in a process of its own, which may take long: the attempt's time limit is the
# real end, this one leaves time for the report.
_SHARE_OF_TIMEOUT = 0.5


def minify(experiment, loaded, work_dir):
    """Never raises: the row is decided already. Returns a note on what came of it."""
    if experiment["distributed"]:
        return "minifier: not run with several processes"
    folder = os.path.join(diagnostics.folder_of(work_dir), "minifier")
    try:
        os.makedirs(folder, exist_ok=True)
        launcher = _find_graph(experiment, loaded, folder)
        if launcher is None:
            return "minifier: no graph is wrong by itself (the whole model is)"
        return _run(launcher, folder, experiment["timeout_ms"] / 1000 * _SHARE_OF_TIMEOUT)
    except Exception as error:
        return "minifier: %s" % failures.useful_line(error)


def _find_graph(experiment, loaded, folder):
    """Runs compiled once more with every graph checked; the launcher for the first wrong one."""
    config = dict(repro_after="dynamo", repro_level=4, debug_dir_root=folder,
                  repro_tolerance=experiment["accuracy"]["tolerance"])
    seed()
    torch._dynamo.reset()
    with torch._dynamo.config.patch(**config):
        try:
            run_side(experiment, callables.copy_of(experiment, loaded.model), loaded.inputs,
                     compiled=True)
        except Exception as error:
            told = error
            while told is not None:
                path = getattr(told, "minifier_path", None)
                if path and os.path.exists(path):
                    return path
                told = told.__cause__ or told.__context__
            raise
    return None


def _run(launcher, folder, timeout_s):
    shutil.copy(launcher, os.path.join(folder, "minifier_launcher.py"))
    environment = dict(os.environ, TORCH_COMPILE_DEBUG_DIR=folder)
    with open(os.path.join(folder, "minifier.log"), "wb") as log:
        try:
            subprocess.run([sys.executable, launcher], cwd=folder, env=environment, check=False,
                           stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                           timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return "minifier: not done after %d s; its launcher is kept" % timeout_s
    repro = _newest_repro(folder)
    if repro is None:
        return "minifier: it made no repro (minifier.log says why); its launcher is kept"
    if repro != os.path.join(folder, "repro.py"):
        shutil.copy(repro, folder)
    return "minifier: repro.py is kept"


def _newest_repro(folder):
    found = [os.path.join(parent, name) for parent, _, names in os.walk(folder)
             for name in names if name == "repro.py"]
    return max(found, key=os.path.getmtime) if found else None
