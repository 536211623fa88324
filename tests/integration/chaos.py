"""What the chaos tests share: a fleet that needs no torch, experiments of the command engine that do
what a test tells them step by step (tests/props/chaos_model.py), and the one check that all of them end
with: every experiment exactly once, read from the coordinator's SQLite file.

    with ChaosFleet(workers=2) as fleet:
        job = fleet.run_models({"a": ["gate one"], "b": []})
        fleet.wait_noted("gate")
        …the fault…
        fleet.open("one")
        fleet.finish(job)
        fleet.expect_exactly_once(job)
"""

import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from typing import Any

from fleet import BIN, Daemon, Fleet, wait_until

PROPS = pathlib.Path(__file__).resolve().parents[1] / "props"
sys.path.insert(0, str(PROPS))
from relay import Relay  # noqa: E402  (a prop, not a package)

TREE = ["ignore-term", "session", "daemon"]  # a child that is hard to end, with all its kin
PROP = PROPS / "chaos_model.py"
# A lease that a test can wait for, and still ten beats long, so that a busy machine breaks none.
LEASE_S = 3.0
QUICK = ("--lease-ttl", str(LEASE_S), "--beat", "0.3")


def let_pass(seconds: float) -> None:
    """Waits until this much time has passed: for faults that are nothing but time."""
    end = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= end, f"{seconds} s to pass", seconds + 5)


def may(*command: str) -> bool:
    """Whether this user on this machine may do that."""
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def state_of(pid: int) -> str:
    """The letter of /proc/PID/stat; empty when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def gone(pid: int) -> bool:
    return state_of(pid) in ("", "Z", "X")


class ChaosFleet(Fleet):
    """A Fleet whose one environment is a record of this Python, without torch: enough for programs."""

    def __init__(self, workers: int = 1, coordinator_flags: tuple[str, ...] = QUICK, start: bool = True,
                 worker_flags: tuple[str, ...] = ()):
        super().__init__(workers=workers, coordinator_flags=coordinator_flags, start=start)
        self.worker_flags = worker_flags
        self.environments = self.folder / "environments"
        self.environments.mkdir()
        (self.folder / "gates").mkdir()
        runner = self.folder / "runner"
        runner.mkdir()
        # A worker keeps a runner ready in any environment, whoever runs the experiments.
        shutil.copy(PROPS / "scripted_runner", runner / "dynbench-runner")
        record = {"schema": "dynbench.environment/1", "name": "default", "python": sys.executable,
                  "python_version": platform.python_version(), "python_include_dir": "/usr/include",
                  "python_library_dir": "/usr/lib", "python_library": "python3", "torch_version": "0.0.0",
                  "torch_git": "", "torch_dir": str(runner), "torch_cxx11_abi": True, "packages": {},
                  "devices": ["cpu"], "suites": ["timm"], "capabilities": [], "files": {}, "hash": "0" * 64,
                  "runner_dir": str(runner)}
        (self.environments / "default.json").write_text(json.dumps(record), encoding="utf-8")
        self._behaviours: dict[str, list[str]] = {}
        self._suites = 0

    def start_worker(self, index: int = 0, flags: tuple[str, ...] = (), wait: bool = True,
                     address: str | None = None, prefix: tuple[str, ...] = ()) -> Daemon:
        """`address`: instead of the coordinator's own; `prefix`: words before the program, which must
        become it (exec)."""
        share = () if "--cores" in (*self.worker_flags, *flags) else (
            "--share", f"{index + 1}/{self.wanted_workers}")
        worker = Daemon(f"worker {index}", [
            *prefix, str(BIN / "dynbench-worker"), "run", "--coordinator", address or self.address,
            "--state-dir", str(self.worker_state(index)), "--environments-dir", str(self.environments),
            *share, *self.worker_flags, *flags], self.folder / f"worker-{index}.log", self.env)
        self.workers[index] = worker
        if wait:
            self.wait_connected(index)
        return worker

    # ---- experiments ----
    def run_models(self, models: dict[str, list[str]], *flags: str, tests: str = "performance") -> str:
        """Submits one job with an experiment for each model (and test), in this order; answers its id.
        The name of an accuracy experiment is "model/accuracy"."""
        self._behaviours.update(models)
        new = self.folder / "behaviours.json.new"
        new.write_text(json.dumps(self._behaviours), encoding="utf-8")
        new.rename(self.folder / "behaviours.json")
        suite = self._suite([name for name in models if "/" not in name])
        return self.submit("--engine", "command", "--inference", "--bfloat16", "--suite", suite, "--test", tests,
                           *flags, "--", sys.executable, "-S", str(PROP), str(self.folder), "{model}", "{test}")

    def run_scripts(self, models: dict[str, str]) -> str:
        """Likewise with upstream's scripts, which the fake suite stands in for: model -> its behaviour."""
        scripts = self.folder / "scripts größer"
        if not scripts.exists():
            shutil.copytree(PROPS / "fake_suite", scripts)
        with (scripts / "behaviours.txt").open("a", encoding="utf-8") as file:
            file.writelines(f"{name}: {behaviour}\n" for name, behaviour in models.items())
        return self.submit("--engine", "script", "--scripts", str(scripts), "--backend=inductor", "--inference",
                           "--bfloat16", "--suite", self._suite(list(models)), "--test", "performance")

    def _suite(self, models: list[str]) -> str:
        self._suites += 1
        suite = self.folder / f"suite {self._suites}.yaml"
        suite.write_text(f"name: chaos{self._suites}\nloader: timm\nmodels:\n" + "".join(
            f"  - {{name: {name}, batch_size: 1}}\n" for name in models), encoding="utf-8")
        return str(suite)

    def open(self, gate: str) -> None:
        (self.folder / "gates" / gate).touch()

    def started(self, model: str) -> list[dict[str, Any]]:
        return [note for note in self.noted("start") if note["model"] == model]

    def wait_started(self, model: str, count: int = 1, timeout_s: float = 60) -> list[dict[str, Any]]:
        return wait_until(lambda: notes if len(notes := self.started(model)) >= count else None,
                          f"start {count} of {model}", timeout_s)

    @contextlib.contextmanager
    def commands(self, *many: list[str]):
        """dynbenchctl commands that run until the block is left."""
        running = [self.ctl_start(*words) for words in many]
        try:
            yield running
        finally:
            for process in running:
                process.kill()
                process.wait()
                for pipe in (process.stdout, process.stderr):
                    pipe.close()

    def family(self, model: str) -> set[int]:
        """Waits until a model with all of TREE stands in its gate; answers the pids of its processes."""
        events = ("start", "session", "daemon", "gate")
        wait_until(lambda: all(any(n["model"] == model for n in self.noted(e)) for e in events), f"the tree of {model}")
        return {n["pid"] for e in events for n in self.noted(e) if n["model"] == model and not gone(n["pid"])}

    def kill_worker(self, index: int = 0) -> None:
        """kill -9; nothing of its trees may stay, running or stopped."""
        self.workers[index].kill9()
        kept = {self.coordinator.pid} | {w.pid for w in self.workers.values()}

        def mine() -> dict[int, str]:
            return {pid: command for pid, command in self.processes().items() if pid not in kept}

        try:
            wait_until(lambda: not mine(), "the end of the worker's trees", 20)
        except AssertionError:
            left = {pid: (state_of(pid), command) for pid, command in mine().items()}
            raise AssertionError(f"left behind by a killed worker: {left}") from None

    # ---- the store ----
    @property
    def database(self) -> pathlib.Path:
        return self.folder / "coordinator/dynbench.db"

    def sql(self, query: str, *values: Any) -> list[tuple]:
        """Read beside the coordinator, as people do."""
        db = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=20)
        try:
            return db.execute(query, values).fetchall()
        finally:
            db.close()

    def done(self, job: str) -> int:
        return self.sql("SELECT count(*) FROM result JOIN experiment e ON e.id = experiment WHERE e.job = ?", job)[0][0]

    def attempts(self, job: str) -> dict[str, list[tuple[int, str]]]:
        """(lease, state) of every attempt, by model."""
        found: dict[str, list[tuple[int, str]]] = {}
        for model, lease, state in self.sql(
                "SELECT e.model, a.lease, a.state FROM attempt a JOIN experiment e ON e.id = a.experiment "
                "WHERE e.job = ? ORDER BY a.lease", job):
            found.setdefault(model, []).append((lease, state))
        return found

    def expect_exactly_once(self, job: str, passed: int | None = None) -> None:
        """One result for each experiment, the coverage equation, and no lease that lives on."""
        planned, *parts = self.sql(
            "SELECT planned, passed, failed, skipped, lost, cancelled, waiting, running FROM v_coverage "
            "WHERE job = ?", job)[0]
        problems = []
        if planned != sum(parts) or parts[5] or parts[6]:
            problems.append(f"coverage {planned} != {parts}")
        if passed is not None and parts[0] != passed:
            problems.append(f"passed {parts[0]}, expected {passed}")
        results = self.sql("SELECT count(*), count(DISTINCT r.experiment) FROM experiment e JOIN result r "
                           "ON r.experiment = e.id WHERE e.job = ?", job)[0]
        if results != (planned, planned):
            problems.append(f"results {results}, expected {planned}")
        doubled = self.sql("SELECT e.model, count(*) FROM attempt a JOIN experiment e ON e.id = a.experiment "
                           "WHERE e.job = ? AND a.state = 'done' GROUP BY e.id HAVING count(*) > 1", job)
        if doubled:
            problems.append(f"more than one attempt counts: {doubled}")
        if self.sql("PRAGMA integrity_check") != [("ok",)]:
            problems.append("the database is damaged")
        if problems:
            raise AssertionError("; ".join(problems) + f"\n{self.ctl('results', job)}")

    def explain(self, job: str) -> str:
        return self.ctl("explain", job).expect(0).out


@contextlib.contextmanager
def relayed(workers: int = 1, coordinator_flags: tuple[str, ...] = QUICK):
    """A fleet whose workers reach the coordinator through a relay; yields both."""
    with ChaosFleet(workers=0, coordinator_flags=coordinator_flags) as fleet:
        fleet.wanted_workers = workers
        with Relay(fleet.address) as relay:
            for index in range(workers):
                fleet.start_worker(index, address=relay.address)
            yield fleet, relay
            relay.heal()


class ChaosTest(unittest.TestCase):
    """Names what it stopped, so that nothing stays stopped when a test fails."""

    def stop(self, pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.cont, pid)
        wait_until(lambda: state_of(pid) == "T", f"process {pid} to stop", 10)

    def cont(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def hold_lock(self, database: pathlib.Path, spans: list[tuple[float, float]]) -> threading.Thread:
        """Holds the write lock for `held` and lets go of it for `free` seconds, each in turn."""
        db = sqlite3.connect(database, timeout=30, isolation_level=None, check_same_thread=False)
        db.execute("BEGIN IMMEDIATE")  # before this returns, so that the fault is there

        def run() -> None:
            for held, free in spans:
                if not db.in_transaction:
                    db.execute("BEGIN IMMEDIATE")
                let_pass(held)
                db.execute("COMMIT")
                let_pass(free)
            db.close()

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        return thread
