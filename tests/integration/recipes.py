"""Recipes of environments that need no network: a wheel that a test makes, with the torch of the default environment."""

import contextlib
import os
import pathlib
import random
import zipfile

from fleet import PYTHON, run

PATCH = """--- a/hosttorch_extra/__init__.py
+++ b/hosttorch_extra/__init__.py
@@ -1 +1 @@
-VALUE = 1
+VALUE = 2
"""


def interpreter() -> str:
    return run(PYTHON, "-c", "import os, sys; print(os.path.realpath(sys._base_executable))").expect().out.strip()


def site_packages() -> str:
    return run(PYTHON, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").expect().out.strip()


def write_wheel(folder, version: str, megabytes: int, seed: int) -> str:
    """A wheel whose packages are its own and those of the default environment."""
    name = f"hosttorch-{version}-py3-none-any.whl"
    info = f"hosttorch-{version}.dist-info"
    noise = random.Random(seed)
    with zipfile.ZipFile(folder / name, "w") as wheel:
        wheel.writestr("hosttorch.pth", site_packages() + "\n")
        wheel.writestr("hosttorch_extra/__init__.py", "VALUE = 1\n")
        for number in range(megabytes):
            wheel.writestr(f"hosttorch_extra/data_{number}.bin", noise.randbytes(1 << 20))
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: hosttorch\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL",
                       "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name


def file_states(folder: pathlib.Path) -> dict[pathlib.Path, os.stat_result]:
    """The files below it, by path; what a process removes meanwhile is not there."""
    states = {}
    for parent, _, names in os.walk(folder):
        for path in (pathlib.Path(parent, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                states[path] = path.stat()
    return states


def folder_size(folder: pathlib.Path) -> tuple[int, int]:
    """Files below it, and their bytes."""
    states = file_states(folder)
    return len(states), sum(state.st_size for state in states.values())
