"""The harness of the integration tests: a real coordinator, real workers and real runners, in state
folders of their own, on free ports, with core claims of their own.

    with Fleet(workers=2) as fleet:
        job = fleet.submit("--only", fleet.model("Good"), "--backend", "eager")
        assert fleet.ctl("wait", job).code == 0

Leaving the block stops the fleet and fails when any process that it started, however detached, is
still alive. Everything waits for a condition with a deadline; a missed deadline shows the logs. Only
Python's standard library; not thread-safe. One Fleet at a time in a process.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from typing import Any, Callable, TypeVar

BIN = pathlib.Path(os.environ["DYNBENCH_BIN"])  # set by CMake, like the next two
KEPT = pathlib.Path(os.environ["DYNBENCH_TEST_KEPT"])  # compiled runners, shared by all tests
PYTHON = os.environ.get("DYNBENCH_TEST_PYTHON") or str(
    pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share")
    / "dynbench/environments/default/bin/python")
ENVIRONMENTS = KEPT / "environments"
MARK = "DYNBENCH_TEST_MARK"
SLOW = float(os.environ.get("DYNBENCH_TEST_SLOWNESS", "1"))  # stretches every deadline

T = TypeVar("T")


def wait_until(condition: Callable[[], T], what: str, timeout_s: float = 60) -> T:
    """The first true value of `condition`; AssertionError naming `what` when it stays false."""
    deadline = time.monotonic() + timeout_s * SLOW
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s * SLOW:.0f} s in vain for {what}")
        time.sleep(0.02)  # tidy: allow, the pause of the one polling loop


def read_json(path: pathlib.Path) -> Any:
    """The parsed file, or None while it is absent or half there."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


@dataclasses.dataclass
class Ran:
    """One finished command."""
    command: list[str]
    code: int
    out: str
    err: str
    seconds: float

    def json(self) -> Any:
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise AssertionError(f"no JSON ({error}) from {self}") from error

    def expect(self, code: int = 0) -> "Ran":
        if self.code != code:
            raise AssertionError(f"exit {self.code}, expected {code}: {self}")
        return self

    def __str__(self) -> str:
        return f"{' '.join(self.command)}\n--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}"


def run(*words: str, env: dict[str, str] | None = None, timeout_s: float = 60, cwd: str = "/") -> Ran:
    start = time.monotonic()
    done = subprocess.run(words, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=timeout_s * SLOW)
    return Ran(list(words), done.returncode, done.stdout, done.stderr, time.monotonic() - start)


class Daemon:
    """A coordinator or worker process and its log."""

    def __init__(self, name: str, words: list[str], log: pathlib.Path, env: dict[str, str]):
        self.name, self.log = name, log
        with log.open("ab") as sink:
            # In "/", as a service manager starts it: nothing may depend on the current folder.
            self.process = subprocess.Popen(words, cwd="/", env=env, stdin=subprocess.DEVNULL, stdout=sink,
                                            stderr=subprocess.STDOUT, start_new_session=True)

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.poll() is None

    def check_alive(self) -> None:
        if not self.alive():
            raise AssertionError(f"{self.name} exited with {self.process.returncode}:\n{self.tail()}")

    def tail(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-6000:]

    def kill9(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """TERM and wait: a wanted stop, which succeeds."""
        if not self.alive():
            return
        self.process.terminate()
        try:
            self.process.wait(30 * SLOW)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.name} did not end 30 s after SIGTERM:\n{self.tail()}") from None
        if self.process.returncode:
            raise AssertionError(f"{self.name} ended with {self.process.returncode} on SIGTERM:\n{self.tail()}")


def owners_of(folder: pathlib.Path) -> list[bytes]:
    """What DYNBENCH_OWNER begins with in processes of the workers whose state is in `folder`."""
    found = []
    for file in (*folder.glob("*/identity.json"), *folder.glob("*/*/identity.json")):
        record = read_json(file)
        if record:
            found.append(f"DYNBENCH_OWNER={record['worker_id']}/".encode())
    return found


def processes_of(mark: str, folder: pathlib.Path) -> dict[int, str]:
    """Live processes (zombies apart) that carry the mark in their environment, or whose current
    folder or command line is in `folder`, or that run a runner of the tests (a model's process has a
    cleaned environment, without the mark) unless a worker of another fleet owns it: pid -> command line."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                continue
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            variables = (entry / "environ").read_bytes().split(b"\0")
            ours = f"{MARK}={mark}".encode() in variables or str(folder) in command
            if not ours and str(ENVIRONMENTS / "runners") in command:
                owner = [v for v in variables if v.startswith(b"DYNBENCH_OWNER=")]
                ours = not owner or owner[0].startswith(tuple(owners_of(folder)))
            ours = ours or os.readlink(entry / "cwd").startswith(str(folder))
            if ours:
                found[int(entry.name)] = command
    return found


def base_environment() -> dict[str, str]:
    """The tests' own environment without anything that steers dynbench."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("DYNBENCH_", "TORCH", "PYTHON"))}


class Fleet:
    """A coordinator and `workers` workers that share this machine's cores."""

    def __init__(self, workers: int = 1, coordinator_flags: tuple[str, ...] = (), start: bool = True,
                 own_environments: bool = False):
        # A blank and a letter beyond ASCII in every path.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dynbench größer "))
        self.mark = uuid.uuid4().hex
        self.env = base_environment() | {
            MARK: self.mark, "DYNBENCH_CLAIMS_SCOPE": f"test-{self.mark[:12]}", "NO_COLOR": "1",
            "XDG_STATE_HOME": str(self.folder / "xdg-state")}
        self.wanted_workers = workers
        self.coordinator_flags = coordinator_flags
        self.address = ""
        self.coordinator: Daemon | None = None
        self.workers: dict[int, Daemon] = {}
        self.own_environments = own_environments  # each worker a folder of its own, with the same default
        self._start = start

    # ---- life ----
    def __enter__(self) -> "Fleet":
        try:
            if self._start:
                self.start_coordinator()
                for index in range(self.wanted_workers):
                    self.start_worker(index)
        except BaseException:
            self._show_logs()
            self._kill_all()
            raise
        return self

    def __exit__(self, kind, value, trace) -> None:
        try:
            if kind is not None:
                self._show_logs()
                return
            for worker in self.workers.values():
                worker.stop()
            if self.coordinator:
                self.coordinator.stop()
            self.expect_no_process()
        except BaseException:
            self._show_logs()
            raise
        finally:
            self._kill_all()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _show_logs(self) -> None:
        for log in sorted(self.folder.rglob("*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")[-4000:]
            print(f"--- {log.relative_to(self.folder)}\n{text}", file=sys.stderr)

    def _kill_all(self) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for daemon in [*self.workers.values(), *([self.coordinator] if self.coordinator else [])]:
            daemon.process.wait()

    def start_coordinator(self) -> None:
        """Also restarts it, on the same port."""
        state = self.folder / "coordinator"
        listen = self.address or "127.0.0.1:0"
        self.coordinator = Daemon("coordinator", [
            str(BIN / "dynbench-coordinator"), "--listen", listen, "--state-dir", str(state),
            *self.coordinator_flags], self.folder / "coordinator.log", self.env)

        def ready() -> Any:
            self.coordinator.check_alive()
            record = read_json(state / "coordinator.json")
            return record if record and record["pid"] == self.coordinator.pid else None

        self.record = wait_until(ready, "coordinator.json", 20)
        self.address = self.record["address"]
        self.env["DYNBENCH_COORDINATOR"] = self.address

    def start_worker(self, index: int = 0, flags: tuple[str, ...] = (), wait: bool = True) -> Daemon:
        worker = Daemon(f"worker {index}", [
            str(BIN / "dynbench-worker"), "run", "--coordinator", self.address,
            "--state-dir", str(self.worker_state(index)), "--environments-dir", str(self.environments(index)),
            "--share", f"{index % self.wanted_workers + 1}/{self.wanted_workers}", *flags],
            self.folder / f"worker-{index}.log", self.env)
        self.workers[index] = worker
        if wait:
            self.wait_connected(index)
        return worker

    def wait_connected(self, index: int, timeout_s: float = 60) -> None:
        worker = self.workers[index]

        def connected() -> bool:
            worker.check_alive()
            record = read_json(self.worker_state(index) / "worker.json")
            return bool(record) and record["pid"] == worker.pid and record["connected"]

        wait_until(connected, f"worker {index} to connect", timeout_s)

    def environments(self, index: int) -> pathlib.Path:
        if not self.own_environments:
            return ENVIRONMENTS
        folder = self.folder / f"environments {index}"
        if not folder.exists():
            folder.mkdir()
            shutil.copy(ENVIRONMENTS / "default.json", folder)
            (folder / "runners").symlink_to(ENVIRONMENTS / "runners")  # compiled once
        return folder

    def worker_state(self, index: int) -> pathlib.Path:
        return self.folder / f"worker {index}"

    # ---- processes ----
    def processes(self) -> dict[int, str]:
        return processes_of(self.mark, self.folder)

    def expect_no_process(self, timeout_s: float = 15) -> None:
        """Nothing that this fleet started may be alive."""
        try:
            wait_until(lambda: not self.processes(), "the end of every process", timeout_s)
        except AssertionError:
            raise AssertionError(f"processes are left: {self.processes()}") from None

    # ---- commands ----
    def ctl(self, *words: str, timeout_s: float = 60, env: dict[str, str] | None = None) -> Ran:
        return run(str(BIN / "dynbenchctl"), *map(str, words), env={**self.env, **(env or {})}, timeout_s=timeout_s)

    def ctl_start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen([str(BIN / "dynbenchctl"), *map(str, words)], env=self.env, cwd="/", text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, *words: str) -> str:
        """Submits and answers the job's id."""
        answer = self.ctl("submit", "--json", *words).expect(0).json()
        job = answer["job"]
        return str(job["id"] if isinstance(job, dict) else job)

    def finish(self, job: str, code: int = 0, timeout_s: float = 180) -> Ran:
        """Waits for the job; another exit code than `code` shows its table."""
        ran = self.ctl("wait", job, timeout_s=timeout_s)
        if ran.code != code:
            raise AssertionError(f"exit {ran.code}, expected {code}: {ran}\n{self.ctl('results', job)}")
        return ran

    def results(self, job: str) -> dict[str, Any]:
        return self.ctl("results", job, "--json").expect(0).json()

    def rows(self, job: str) -> dict[str, dict[str, Any]]:
        """Rows of a job by model (by "model/test" where a model has more than one)."""
        rows = self.results(job)["results"]
        models = [row["experiment"]["model"] for row in rows]
        return {name if models.count(name) == 1 else f"{name}/{row['experiment']['test']}": row
                for name, row in zip(models, rows)}

    def coverage(self, job: str) -> dict[str, int]:
        coverage = self.results(job)["coverage"]
        parts = ("passed", "failed", "skipped", "lost", "cancelled", "waiting", "running")
        if coverage["planned"] != sum(coverage[part] for part in parts):
            raise AssertionError(f"the coverage equation does not hold: {coverage}")
        return coverage

    def phase(self, job: str, model: str) -> str:
        """The phase that a running experiment is in; empty when it does not run."""
        row = self.rows(job).get(model, {})
        return row.get("phase") or "" if row.get("state") == "running" else ""

    # ---- models ----
    def model(self, class_name: str) -> str:
        """The `--only` value for a class of models.py; its `notes` file is of this fleet."""
        file = self.folder / "models größer.py"
        if not file.exists():
            text = (pathlib.Path(__file__).parent / "models.py").read_text(encoding="utf-8")
            file.write_text(text.replace("@NOTES@", str(self.notes)), encoding="utf-8")
        return f"path:{file},class:{class_name}"

    def only(self, *class_names: str) -> list[str]:
        return [word for name in class_names for word in ("--only", self.model(name))]

    @property
    def notes(self) -> pathlib.Path:
        return self.folder / "notes.jsonl"

    def noted(self, event: str) -> list[dict[str, Any]]:
        """What the models of this fleet noted (models.py: note), oldest first."""
        if not self.notes.exists():
            return []
        lines = [json.loads(line) for line in self.notes.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if line["event"] == event]

    def wait_noted(self, event: str, count: int = 1, timeout_s: float = 60) -> list[dict[str, Any]]:
        return wait_until(lambda: notes if len(notes := self.noted(event)) >= count else None,
                          f"{count} notes '{event}' of a model", timeout_s)


class FleetTest(unittest.TestCase):
    """One fleet for all tests of a class: starting one costs the imports of a zygote."""
    fleet_options: dict[str, Any] = {}
    fleet: Fleet

    @classmethod
    def setUpClass(cls) -> None:
        cls.fleet = Fleet(**cls.fleet_options)
        cls.fleet.__enter__()
        cls.faults = 0
        # After a failed test the logs are shown instead of the check for leftovers.
        cls.addClassCleanup(lambda: cls.fleet.__exit__(AssertionError if cls.faults else None, None, None))

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        type(self).faults += len(result.failures) + len(result.errors) - before
        return result
