"""Method: kill -9 a worker and everything that would clean up after it, at once, while a model with a
session of its own and a double-forked daemon stands in its gate and another part of the tree is stopped.
With the watchdog alive nothing stays; with the watchdog killed too nothing stays after the worker's
next start. Strangers that look alike are not touched."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from chaos import PROP, TREE, ChaosFleet, ChaosTest, gone
from fleet import wait_until


def worker_id(fleet: ChaosFleet) -> str:
    import json
    return json.loads((fleet.worker_state(0) / "identity.json").read_text(encoding="utf-8"))["worker_id"]


def with_words(*words: str) -> set[int]:
    """Pids whose command line holds all of these."""
    found = set()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or gone(int(entry.name)):
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if all(word in command for word in words):
            found.add(int(entry.name))
    return found


def kill_at_once(pids: set[int]) -> None:
    """All are stopped first, so that nobody does anything between two kills."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


class Orphans(ChaosTest):
    def scene(self, fleet: ChaosFleet) -> tuple[str, set[int], set[int], set[int]]:
        """A job whose tree stands, one of it stopped: job, family, those who would clean up, watchdogs."""
        job = fleet.run_models({"tree": [*TREE, "gate a"], "after": []})
        family = fleet.family("tree")
        self.assertEqual(len(family), 3)
        self.stop(sorted(family)[0])
        watchdogs = with_words("--watch-over", worker_id(fleet))
        self.assertEqual(len(watchdogs), 1)
        cleaners = {pid for pid, command in fleet.processes().items()
                    if pid not in family and pid != fleet.coordinator.pid}
        self.assertGreaterEqual(len(cleaners), 3, "worker, lane, zygote")
        return job, family, cleaners, watchdogs

    def strangers(self, fleet: ChaosFleet) -> list[subprocess.Popen]:
        folder = fleet.folder.parent / f"stranger-{fleet.mark[:8]}"
        (folder / "gates").mkdir(parents=True)
        (folder / "behaviours.json").write_text('{"tree": ["gate never"]}', encoding="utf-8")
        marked = {"PATH": os.environ["PATH"], "DYNBENCH_OWNER": worker_id(fleet) + "x/1"}  # another worker's
        alike = [subprocess.Popen([sys.executable, "-S", str(PROP), str(folder), "tree"], cwd="/", env=env,
                                  stdout=subprocess.DEVNULL) for env in (None, marked)]

        def end() -> None:
            for process in alike:
                process.kill()
                process.wait()

        self.addCleanup(end)
        return alike

    def finish(self, fleet: ChaosFleet, job: str, alike: list[subprocess.Popen]) -> None:
        fleet.open("a")
        fleet.finish(job)
        fleet.expect_exactly_once(job, passed=2)
        self.assertEqual([p.poll() for p in alike], [None, None], "a stranger was ended")

    def test_worker_lanes_and_zygote_killed_at_once(self):
        with ChaosFleet(workers=1) as fleet:
            job, family, cleaners, watchdogs = self.scene(fleet)
            alike = self.strangers(fleet)
            kill_at_once(cleaners)
            wait_until(lambda: all(gone(pid) for pid in family), "the watchdog to end what was left", 20)
            wait_until(lambda: all(gone(pid) for pid in watchdogs), "the watchdog to end", 20)
            self.assertEqual(set(fleet.processes()), {fleet.coordinator.pid})
            fleet.workers[0].kill9()
            fleet.start_worker(0)
            self.finish(fleet, job, alike)

    def test_the_watchdog_killed_as_well(self):
        with ChaosFleet(workers=1) as fleet:
            job, family, cleaners, watchdogs = self.scene(fleet)
            alike = self.strangers(fleet)
            kill_at_once(cleaners | watchdogs)
            wait_until(lambda: all(gone(pid) for pid in cleaners), "all of them to be dead", 10)
            orphans = {pid for pid in family if not gone(pid)}
            self.assertTrue(orphans, "there was nothing to test: the kernel ended the whole tree")
            fleet.workers[0].kill9()
            fleet.start_worker(0)
            wait_until(lambda: all(gone(pid) for pid in orphans), "the new worker to end what was left", 20)
            self.finish(fleet, job, alike)

    def test_a_wanted_stop_leaves_no_watchdog(self):
        with ChaosFleet(workers=1) as fleet:
            fleet.wait_connected(0)
            mine = worker_id(fleet)
            self.assertEqual(len(with_words("--watch-over", mine)), 1)
            fleet.workers[0].stop()
            self.assertEqual(with_words("--watch-over", mine), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
