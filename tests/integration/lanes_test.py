"""Method: two lanes of a real worker; one measures for as long as the test likes, the other one's tree of
two busy processes is frozen for it. Whoever is killed then, nothing may stay stopped and nothing may
stay running; what was not killed goes on."""

import os
import pathlib
import signal
import unittest
from typing import Any

from chaos import let_pass
from fleet import Fleet, wait_until


def ticks(pid: int) -> int | None:
    """CPU time of a process; None when it is gone (or a zombie)."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[11]) + int(fields[12])


class Lanes(unittest.TestCase):
    def frozen(self, fleet: Fleet) -> tuple[dict[str, Any], dict[str, Any], list[int], str]:
        """Submits, and comes back when one lane measures and the other one's tree stands still. (A lease is
        half of what waits: the first two.)"""
        job = fleet.submit(*fleet.only("Busy", "Holder", "Good", "Good2"), "--backend", "eager", "--performance",
                           "--repeat", "3")
        busy = fleet.wait_noted("busy", timeout_s=120)[-1]
        holder = fleet.wait_noted("measuring", timeout_s=120)[-1]
        tree = [busy["pid"], busy["child"]]

        def still() -> bool:
            before = [ticks(pid) for pid in tree]
            let_pass(0.3)
            return None not in before and before == [ticks(pid) for pid in tree]

        wait_until(still, "the other lane's tree to stand still", 20)
        return busy, holder, tree, job

    def runs_again(self, tree: list[int]) -> None:
        for pid in tree:
            before = ticks(pid)
            self.assertIsNotNone(before, "its tree was ended")
            wait_until(lambda: (ticks(pid) or 0) > before, f"process {pid} to run again", 30)

    def start(self) -> Fleet:
        fleet = Fleet(workers=1, start=False)
        fleet.__enter__()
        fleet.start_coordinator()
        fleet.start_worker(0, ("--lanes", "2"))
        return fleet

    def check(self, act) -> None:
        fleet = self.start()
        problem = AssertionError
        try:
            act(fleet)
            problem = None
        finally:
            fleet.__exit__(problem, None, None)

    def go(self, fleet: Fleet) -> None:
        pathlib.Path(f"{fleet.notes}.go").touch()

    def row(self, fleet: Fleet, job: str, model: str) -> dict[str, Any]:
        return wait_until(lambda: row if (row := fleet.rows(job)[model]).get("outcome") else None,
                          f"the row of {model}", 60)

    def test_worker(self):
        def act(fleet):
            _, _, _, job = self.frozen(fleet)
            fleet.workers[0].kill9()
            wait_until(lambda: set(fleet.processes()) <= {fleet.coordinator.pid}, "everything below it to end", 20)
            fleet.ctl("cancel", job, "--reason", "the test is over").expect(0)

        self.check(act)

    def test_lane_of_the_frozen_tree(self):
        def act(fleet):
            busy, _, tree, job = self.frozen(fleet)
            os.kill(busy["lane"], signal.SIGKILL)
            wait_until(lambda: all(ticks(pid) is None for pid in tree), "the frozen tree to end", 20)
            self.go(fleet)
            self.assertEqual(self.row(fleet, job, "Holder")["status"], "measured")
            fleet.ctl("cancel", job, "--reason", "the test is over").expect(0)

        self.check(act)

    def test_lane_that_has_the_window(self):
        def act(fleet):
            _, holder, tree, job = self.frozen(fleet)
            self.go(fleet)  # for its next attempt
            os.kill(holder["pid"], signal.SIGSTOP)  # not this one
            os.kill(holder["lane"], signal.SIGKILL)
            wait_until(lambda: ticks(holder["pid"]) is None, "the tree of the killed lane to end", 20)
            self.runs_again(tree)
            fleet.ctl("cancel", job, "--reason", "the test is over").expect(0)

        self.check(act)

    def test_coordinator(self):
        def act(fleet):
            _, _, tree, job = self.frozen(fleet)
            fleet.coordinator.kill9()
            self.go(fleet)
            self.runs_again(tree)
            fleet.start_coordinator()
            self.assertEqual(self.row(fleet, job, "Holder")["status"], "measured")
            fleet.ctl("cancel", job, "--reason", "the test is over").expect(0)

        self.check(act)


if __name__ == "__main__":
    unittest.main(verbosity=2)
