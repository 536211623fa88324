"""Inductor's precompiled C++ headers: one folder per environment, built before anything is measured.

They ignore the cache folder (inductor keeps them under the temporary folder, for everybody), cost
seconds and are shared, so the first experiment of a host would pay for all others.
"""

import fcntl
import hashlib
import os
import tempfile
import time
import traceback

import torch
import torch._inductor.codecache as codecache


def use_folder(folder):
    """False when this PyTorch has no precompiled headers, or keeps them elsewhere."""
    if not hasattr(codecache, "_HEADER_DIR"):
        return False
    os.makedirs(folder, mode=0o700, exist_ok=True)
    codecache._HEADER_DIR = folder
    if hasattr(codecache, "_HEADER_LOCK_DIR"):
        codecache._HEADER_LOCK_DIR = os.path.join(folder, "locks")
    return True


def count(folder):
    return sum(name.endswith((".gch", ".pch")) for _, _, names in os.walk(folder) for name in names)


def needs(experiment):
    options = experiment["options"]
    return options["backend"] == "inductor" and (
        experiment["device"] == "cpu" or torch._inductor.config.cpp_wrapper)


def build():
    """Compiles one tiny function with the options in force. Runs in a process of its own, so that
    nothing of it is warm in the one that measures."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")
        with torch.no_grad():
            torch.compile(lambda x: torch.sin(x) + 1)(torch.zeros(64))


def _marker(folder, experiment):
    """One for each set of options that changes how C++ is compiled."""
    config = torch._inductor.config
    keys = sorted(k for k in config._config if k.startswith("cpp") or k.startswith("aot_inductor."))
    text = repr([torch.__version__, experiment["device"]] + [(k, getattr(config, k)) for k in keys
                                                             if k != "cpp.threads"])
    return os.path.join(folder, "built-%s" % hashlib.sha256(text.encode()).hexdigest()[:16])


def ensure(experiment, folder):
    """Builds what is missing; returns a note about it, or None when nothing was to do."""
    if not needs(experiment) or not use_folder(folder):
        return None
    marker = _marker(folder, experiment)
    with open(os.path.join(folder, "building"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(marker) and count(folder):
            return None
        begin = time.monotonic()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                build()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if os.waitpid(pid, 0)[1] != 0:
            return "precompiled headers could not be built; the compile time includes them"
        with open(marker, "w"):
            pass
        return "precompiled headers built in %.1f s, before the first measurement" % (
            time.monotonic() - begin)
