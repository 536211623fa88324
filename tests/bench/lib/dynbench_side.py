"""A private fleet of dynbench on this machine, for benches: own state folder, port and claims."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

# Environments and their runners, which take minutes to compile, are kept between benches.
KEPT = os.path.join(ROOT, "build", "release", "bench-environments")


def binary(name: str) -> str:
    path = os.path.join(os.environ.get("DYNBENCH_BIN")
                        or os.path.join(ROOT, "build", "release", "bin"), name)
    if not os.path.exists(path):
        raise SystemExit(f"bench: {path} is not built; run: cmake --preset release && "
                         "cmake --build --preset release")
    return path


class Fleet:
    """`dynbenchctl local up` in a folder of its own; close() stops it and removes the folder, not KEPT.
    A bench that is told to end (SIGTERM) leaves its blocks as at an interrupt, so that its fleet is stopped too."""

    def __init__(self, python: str, workers: int = 1):
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        self.folder = tempfile.mkdtemp(prefix="bench-dynbench-")
        os.makedirs(KEPT, mode=0o700, exist_ok=True)
        os.symlink(KEPT, os.path.join(self.folder, "environments"))
        self.python = python
        self.workers = workers
        self.environment = dict(os.environ, DYNBENCH_CLAIMS_SCOPE=f"bench-{os.getpid()}")
        self.up()

    def up(self):
        self.control("local", "up", "--state-dir", self.folder, "--port", "0", "--workers",
                     str(self.workers), "--env", f"default={self.python}")
        status = json.loads(self.control("local", "status", "--state-dir", self.folder, "--json"))
        self.environment["DYNBENCH_COORDINATOR"] = status["coordinator"]

    def restart(self):
        """New processes, so new zygotes; state, runner and prepared caches stay."""
        self.control("local", "down", "--state-dir", self.folder)
        self.up()

    def close(self):
        self.control("local", "down", "--state-dir", self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    def control(self, *arguments, accept=(0,)) -> str:
        done = subprocess.run([binary("dynbenchctl"), *arguments], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode not in accept:
            raise SystemExit(f"bench: dynbenchctl {' '.join(arguments)} exited {done.returncode}:\n"
                             + done.stderr.decode()[-2000:])
        return done.stdout.decode()

    def submit(self, *flags):
        """Submits, waits; returns (wall seconds, the results object)."""
        return self.submit_suite("timm", *flags)

    def submit_suite(self, suite, *flags):
        begun = time.monotonic()
        text = self.control("submit", "--suite", suite, *flags, "--wait", "--json", accept=(0, 1))
        wall_s = time.monotonic() - begun
        return wall_s, json.loads(text)
