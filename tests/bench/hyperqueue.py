"""Small processes: /bin/true through the command engine (its own work folder, its log captured, its tree
killed, its result durable on the worker and in the store) against HyperQueue's local cluster with a
task folder and captured output, alternating, on the same cores. Installs HyperQueue in a throwaway
environment."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import venv

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import report
from coordinator_side import TICKS, Coordinator, wait_until, write_suite
from dynbench_side import binary

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def times(pid: int) -> list:
    """User and system time of a process and of its children that ended, in ticks."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return [int(field) for field in file.read().rpartition(")")[2].split()[11:15]]
    except OSError:
        return [0] * 4


def below(parents: list, name: str) -> list:
    """The living children of `parents` with this name: (pid, times)."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                head, _, rest = file.read().rpartition(")")
        except OSError:
            continue
        if head.partition("(")[2].startswith(name) and int(rest.split()[1]) in parents:
            found.append((int(entry), times(int(entry))))
    return found


class Workers:
    """One worker for each core, as `--share` splits this host, on a coordinator."""

    def __init__(self, coordinator: Coordinator, count: int, environments: str):
        self.processes = []
        scope = dict(os.environ, DYNBENCH_CLAIMS_SCOPE=f"bench-{os.getpid()}")
        for index in range(count):
            folder = os.path.join(coordinator.folder, f"worker-{index}")
            with open(folder + ".log", "ab") as log:
                self.processes.append(subprocess.Popen(
                    [binary("dynbench-worker"), "run", "--coordinator", coordinator.listen,
                     "--state-dir", folder, "--environments-dir", environments,
                     "--share", f"{index + 1}/{count}"], stdout=log, stderr=log, env=scope))
        wait_until(lambda: coordinator.metrics()["dynbench_workers_connected"] == count,
                   "the workers")

    def cpu_s(self, lanes: bool = True) -> float:
        """Of the workers, of what they waited for, and of their lanes that still live with theirs."""
        parents = [process.pid for process in self.processes]
        pids = parents + [pid for pid, _ in below(parents, "dynbench-lane")] if lanes else parents
        return sum(sum(times(pid)[0:4]) for pid in pids) / TICKS

    def wait_until_quiet(self) -> None:
        """Each worker checks its environment when it starts, which imports torch: as a cluster of the
        peer's is up before it is measured, so is ours."""
        parents = [process.pid for process in self.processes]
        seen = [-1]

        def quiet():
            seen.append(sum(sum(time) for _, time in below(parents, "dynbench-runner")))
            threading.Event().wait(1)
            return seen[-1] == seen[-2]
        wait_until(quiet, "the checks of the environments", 120)

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def ours(tasks: int, cores: int, environments: str) -> dict:
    coordinator = Coordinator()
    workers = None
    try:
        workers = Workers(coordinator, cores, environments)
        suite = os.path.join(coordinator.folder, "suite.yaml")

        def run(models):
            write_suite(suite, models)
            words = ("submit", "--suite", suite, "--engine", "command", "--performance")
            # It reports no figure, so each row is a crash: stored as any other.
            coordinator.control(*words, "--wait", "--", "/bin/true", accept=(0, 1))
            jobs = json.loads(coordinator.control("status", "--json"))["jobs"]
            return max(jobs, key=lambda job: job["id"])
        workers.wait_until_quiet()
        run(2 * cores)  # lanes are up
        cpu_s = coordinator.cpu_s(), workers.cpu_s()
        job = run(tasks)
        seconds = (job["finished_unix_ms"] - job["submitted_unix_ms"]) / 1e3
        return {"tasks_per_s": tasks / seconds, "seconds": seconds,
                "coordinator_cpu_ms": 1e3 * (coordinator.cpu_s() - cpu_s[0]) / tasks,
                "workers_cpu_ms": 1e3 * (workers.cpu_s() - cpu_s[1]) / tasks}
    finally:
        if workers is not None:
            workers.close()
        coordinator.close()


def theirs(python: str, tasks: int, cores: int) -> dict:
    folder = tempfile.mkdtemp(prefix="bench-hyperqueue-")
    try:
        done = subprocess.run([python, os.path.join(LIB, "hyperqueue_peer.py"), str(tasks),
                               str(cores), folder], capture_output=True, check=False, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"bench: HyperQueue failed:\n{done.stderr.decode()[-2000:]}")
        told = json.loads(done.stdout.decode().strip().splitlines()[-1])
        return {"tasks_per_s": tasks / told["seconds"], "seconds": told["seconds"]}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(folder: str) -> str:
    venv.create(os.path.join(folder, "peer"), with_pip=True)
    python = os.path.join(folder, "peer", "bin", "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "hyperqueue"], check=True)
    return python


def register(folder: str, python: str) -> str:
    """The command engine wants an environment, as every experiment; its runner is compiled for a minute."""
    environments = os.path.join(folder, "environments")
    subprocess.run([binary("dynbench-worker"), "env", "add", "default", "--python", python,
                    "--environments-dir", environments], check=True, stdout=subprocess.DEVNULL)
    return environments


def main():
    parser = argparse.ArgumentParser(prog="tools/bench hyperqueue", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--environments", help="a folder that `dynbench-worker env add` has filled")
    parser.add_argument("--peer-python", help="a python that has hyperqueue")
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument("--python", default=os.path.join(
        os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")),
        "dynbench/environments/default/bin/python"))
    args = parser.parse_args()
    our_rounds, their_rounds = [], []
    with tempfile.TemporaryDirectory(prefix="bench-small-") as folder:
        environments = args.environments or register(folder, args.python)
        peer = None if args.ours_only else args.peer_python or install(folder)
        for _ in range(args.rounds):
            our_rounds.append(ours(args.tasks, args.cores, environments))
            if peer:
                their_rounds.append(theirs(peer, args.tasks, args.cores))
    figures = {}
    for name, rounds in (("dynbench", our_rounds), ("hyperqueue", their_rounds)):
        if not rounds:
            continue
        rates = [r["tasks_per_s"] for r in rounds]
        figures |= {f"{name}_tasks_per_s": statistics.median(rates),
                    f"{name}_tasks_per_s_low": min(rates), f"{name}_tasks_per_s_high": max(rates)}
    figures["dynbench_coordinator_cpu_ms"] = statistics.median(
        r["coordinator_cpu_ms"] for r in our_rounds)
    figures["dynbench_workers_cpu_ms"] = statistics.median(r["workers_cpu_ms"] for r in our_rounds)
    report.print_report(report.report("hyperqueue", figures,
                                      {"ours": our_rounds, "theirs": their_rounds}), args.json)


if __name__ == "__main__":
    main()
