"""A coordinator with one worker whose lanes the bench chooses, on this machine."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from coordinator_side import Coordinator, wait_until
from dynbench_side import binary


class LaneFleet:
    """`lanes`: what --lanes takes; `freeze` False: lanes run on in one another's windows. The environment
    is registered once in `environments`, which is kept. Once made it is up: the worker takes work and its
    zygote is warm, after `start_s` seconds."""

    def __init__(self, python: str, environments: str, lanes: str, freeze: bool, device: str):
        self.scope = f"bench-lanes-{os.getpid()}"
        self.coordinator = Coordinator()
        state = os.path.join(self.coordinator.folder, "worker")
        os.makedirs(environments, mode=0o700, exist_ok=True)
        environment = dict(os.environ, DYNBENCH_CLAIMS_SCOPE=self.scope)
        add = subprocess.run([binary("dynbench-worker"), "env", "add", "default", "--python", python,
                              "--environments-dir", environments], env=environment, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if add.returncode != 0:
            self.coordinator.close()
            raise SystemExit("bench: env add failed:\n" + add.stdout.decode()[-3000:])
        command = [binary("dynbench-worker"), "run", "--coordinator", self.coordinator.listen,
                   "--state-dir", state, "--environments-dir", environments, "--lanes", lanes,
                   "--devices", device] + ([] if freeze else ["--no-freeze"])
        begun = time.monotonic()
        self.log = os.path.join(self.coordinator.folder, "worker.log")
        with open(self.log, "ab") as log:
            self.worker = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            wait_until(self.ready, "the worker", 300)
        except BaseException:
            print(self.told()[-3000:], file=sys.stderr)
            self.close()
            raise
        self.start_s = time.monotonic() - begun

    def ready(self) -> bool:
        if self.worker.poll() is not None:
            raise SystemExit("bench: the worker ended")
        status = json.loads(self.coordinator.control("workers", "--json"))
        # What a standing fleet has behind it: the slot's preflight, the imports of the zygote.
        told = self.told()
        return ("slot 0 takes work" in told and "of environment default is ready" in told and
                any(w.get("connected") and w.get("environments") for w in status["workers"]))

    def told(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def submit(self, suite: str, *flags: str):
        """Submits, waits; (wall seconds, rows of `results --json`)."""
        begun = time.monotonic()
        text = self.coordinator.control("submit", "--suite", suite, *flags, "--wait", "--json",
                                        accept=(0, 1))
        return time.monotonic() - begun, json.loads(text)["results"]

    def idle(self) -> dict:
        """Seconds of the slot by what it did."""
        return json.loads(self.coordinator.control("idle", "--json", accept=(0, 4)))

    def close(self):
        if self.worker.poll() is None:
            self.worker.send_signal(signal.SIGTERM)
            try:
                self.worker.wait(30)
            except subprocess.TimeoutExpired:
                self.worker.kill()
                self.worker.wait()
        self.coordinator.close()
        shutil.rmtree(self.coordinator.folder, ignore_errors=True)
