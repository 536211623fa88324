"""A coordinator of its own for the benches of the fleet, the load generator (`dynbench-load`) beside
it, and suites of many small experiments for them."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

from dynbench_side import binary

TICKS = os.sysconf("SC_CLK_TCK")
# A submission carries the whole suite and may have 8 MiB.
MODELS_MAX = 10000


def wait_until(condition, what: str, timeout_s: float = 60):
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise SystemExit(f"bench: waited {timeout_s:.0f} s in vain for {what}")
        threading.Event().wait(0.02)
    return value


def write_suite(path: str, models: int, name: str = "tasks") -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"schema: dynbench.suite/1\nname: {name}\nloader: timm\n"
                   "defaults: {batch_size: 8, batch_size_accuracy: 8}\nmodels:\n")
        file.writelines(f"  - name: t{i:06d}\n" for i in range(models))


class Coordinator:
    """`dynbench-coordinator` on a folder; close() stops it and removes the folder."""

    def __init__(self, folder: str | None = None):
        self.folder = folder or tempfile.mkdtemp(prefix="bench-coordinator-")
        self.kept = folder is not None
        self.state = os.path.join(self.folder, "coordinator")
        self.log = os.path.join(self.folder, "coordinator.log")
        self.listen, self.http = "127.0.0.1:0", "127.0.0.1:0"
        self.process = None
        self.start()

    def start(self) -> float:
        """Returns the seconds until it said that it is ready."""
        ready = os.path.join(self.state, "coordinator.json")
        if os.path.exists(ready):
            os.unlink(ready)
        begun = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [binary("dynbench-coordinator"), "--state-dir", self.state, "--listen", self.listen,
                 "--http", self.http], stdout=log, stderr=log)

        def said():
            if self.process.poll() is not None:
                raise SystemExit(f"bench: the coordinator ended:\n{self.tail()}")
            try:
                with open(ready, encoding="utf-8") as file:
                    return json.load(file)
            except (OSError, ValueError):
                return None
        told = wait_until(said, "the coordinator")
        seconds = time.monotonic() - begun
        self.listen = told["address"]
        self.http = told["http_url"].removeprefix("http://")
        return seconds

    def tail(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        if not self.kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    def cpu_s(self) -> float:
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss_bytes(self) -> int:
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return 1024 * int(line.split()[1])
        return 0

    def metrics(self) -> dict:
        text = urllib.request.urlopen(f"http://{self.http}/metrics", timeout=10).read().decode()
        return {name: float(value) for name, _, value in
                (line.rpartition(" ") for line in text.splitlines() if line and line[0] != "#")}

    def control(self, *words: str, accept=(0,)) -> str:
        done = subprocess.run([binary("dynbenchctl"), *words], check=False, capture_output=True,
                              env=dict(os.environ, DYNBENCH_COORDINATOR=self.listen))
        if done.returncode not in accept:
            raise SystemExit(f"bench: dynbenchctl {' '.join(words)} exited {done.returncode}:\n"
                             + done.stderr.decode()[-2000:])
        return done.stdout.decode()

    def submit(self, experiments: int, wide: bool = False) -> int:
        """Jobs of at most MODELS_MAX models for the command engine; `wide`: of four experiments each
        (two modes, two tests). Returns how many experiments they have, at least as many as wanted."""
        path = os.path.join(self.folder, "suite.yaml")
        flags = ["--mode", "inference,training", "--test", "performance,accuracy"] if wide else [
            "--performance"]
        each = 4 if wide else 1
        submitted = 0
        while submitted < experiments:
            models = min(-(-(experiments - submitted) // each), MODELS_MAX)
            write_suite(path, models)
            self.control("submit", "--suite", path, "--engine", "command", *flags, "--", "/bin/true")
            submitted += models * each
        return submitted


class Load:
    """`dynbench-load` against a coordinator. Its workers stay until close(), or end by themselves."""

    def __init__(self, coordinator: Coordinator, **flags):
        words = [binary("dynbench-load"), "--coordinator", coordinator.listen]
        for name, value in flags.items():
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        encoding="utf-8")
        self.events = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    def wait_connected(self, times: int = 1, timeout_s: float = 120) -> dict:
        """The event of the `times`-th moment at which all workers were connected."""
        def connected():
            return [e for e in self.events if e["event"] == "connected"]
        with self.changed:
            if not self.changed.wait_for(lambda: len(connected()) >= times, timeout_s):
                raise SystemExit(f"bench: not all workers were connected after {timeout_s:.0f} s")
            return connected()[times - 1]

    def summary(self, timeout_s: float = 600) -> dict:
        """Waits for the end that its flags name."""
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise SystemExit(f"bench: the load did not end within {timeout_s:.0f} s") from None
        self.reader.join()
        return self.events[-1]

    def close(self) -> dict:
        self.process.stdin.close()
        return self.summary(30)
