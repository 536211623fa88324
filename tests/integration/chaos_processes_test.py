"""Method: stop (SIGSTOP) and kill (-9) coordinators, workers, lanes and children at moments that the
experiments themselves announce, let them go on, and read the coordinator's SQLite file: one result for
each experiment, the right attempt counted, the late one kept, nothing left running or stopped."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from chaos import LEASE_S, PROP, TREE, ChaosFleet, ChaosTest, gone, let_pass
from fleet import read_json, wait_until


def lanes_of(fleet: ChaosFleet, worker: int) -> list[int]:
    """Pids of the worker's lanes for programs."""
    return [pid for pid, command in fleet.processes().items()
            if "program-lane" in command and parent_of(pid) == fleet.workers[worker].pid]


def parent_of(pid: int) -> int:
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return int(stat.rpartition(")")[2].split()[1])
    except OSError:
        return 0


class Stopped(ChaosTest):
    def test_coordinator_stopped_for_longer_than_a_lease(self):
        """Nothing expires: what ran is adopted, not leased again."""
        with ChaosFleet(workers=2) as fleet:
            job = fleet.run_models({"left": ["gate a"], "right": ["gate a"], "later": []})
            # Both: a lease that is on its way when the coordinator stops is rightly queued again.
            pid = fleet.wait_noted("gate", 2)[0]["pid"]
            self.stop(fleet.coordinator.pid)
            let_pass(1.5 * LEASE_S)
            wait_until(lambda: not read_json(fleet.worker_state(0) / "worker.json")["connected"],
                       "the worker to notice the silence")
            self.cont(fleet.coordinator.pid)
            fleet.wait_connected(0)
            fleet.wait_connected(1)
            self.assertFalse(gone(pid), "what ran goes on")
            fleet.open("a")
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=3)
            self.assertEqual({model: len(fleet.started(model)) for model in ("left", "right", "later")},
                             {"left": 1, "right": 1, "later": 1}, "an experiment was started again")
            self.assertEqual([s for states in fleet.attempts(job).values() for _, s in states], ["done"] * 3)

    def test_worker_stopped_for_longer_than_its_lease(self):
        """Another one takes the work. The late result is kept as evidence and does not count."""
        with ChaosFleet(workers=2) as fleet:
            job = fleet.run_models({"slow": ["gate a"]})
            first = fleet.wait_started("slow")[0]["pid"]
            index = 0 if lanes_of(fleet, 0) and parent_of(first) in lanes_of(fleet, 0) else 1
            self.stop(fleet.workers[index].pid)
            second = fleet.wait_started("slow", 2)[1]["pid"]
            fleet.open("a")
            fleet.finish(job)
            wait_until(lambda: gone(first) and gone(second), "both children to end")
            self.cont(fleet.workers[index].pid)
            wait_until(lambda: [s for _, s in fleet.attempts(job)["slow"]] == ["superseded", "done"],
                       "the late result to be kept beside")
            fleet.expect_exactly_once(job, passed=1)
            evidence = fleet.sql("SELECT length(evidence) FROM attempt WHERE state = 'superseded'")
            self.assertGreater(evidence[0][0] or 0, 0, "the late result itself is kept")
            # The worker that was away works on, and its spool is empty.
            self.assertEqual(list((fleet.worker_state(index) / "spool").glob("*.result")), [])
            again = fleet.run_models({"next": [], "over": []})
            fleet.finish(again)

    def test_silent_worker_is_named_with_its_age(self):
        """A worker registers and goes silent: status and explain say who and for how long (D8)."""
        with ChaosFleet(workers=1) as fleet:
            job = fleet.run_models({"waits": ["gate a"], "next": []})
            fleet.wait_started("waits")
            wait_until(lambda: fleet.sql("SELECT 1 FROM attempt WHERE state = 'running'"), "the coordinator to hear it")
            worker = fleet.sql("SELECT id FROM worker")[0][0]
            self.stop(fleet.workers[0].pid)
            def said(*words: str) -> float:
                """For how many seconds explain says that the worker was not heard."""
                found = re.search(rf"{worker}, which is not connected and was not heard for ([\d.]+) s",
                                  fleet.ctl("explain", job, *words).expect(0).out)
                return float(found.group(1)) if found else 0

            age = wait_until(said, "explain to say that the worker is away, and how long", 20)
            # The age grows, also past the end of the lease, and the experiment itself says so too.
            wait_until(lambda: said("waits") > max(age, LEASE_S), "a longer silence", 20)
            self.assertIn(worker, fleet.ctl("status", job).expect(0).out)
            self.cont(fleet.workers[0].pid)
            fleet.open("a")
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)
            self.assertEqual(len(fleet.started("waits")), 1, "the worker was back first: it went on")


class Killed(ChaosTest):
    def test_a_lane_is_killed(self):
        """Trouble of the host: the experiment runs again, and nothing of the old tree is left."""
        with ChaosFleet(workers=1) as fleet:
            job = fleet.run_models({"tree": [*TREE, "gate a"], "after": []})
            family = fleet.family("tree")
            self.assertEqual(len(family), 3)
            for lane in lanes_of(fleet, 0):
                os.kill(lane, 9)
            wait_until(lambda: all(gone(pid) for pid in family), "the old tree to end", 20)
            fleet.open("a")
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)
            fleet.workers[0].check_alive()

    def test_coordinator_killed_in_a_stream_of_results(self):
        """Three times, on the same port and state; workers run on and deliver (D5, D25)."""
        with ChaosFleet(workers=2) as fleet:
            count = 40
            job = fleet.run_models({f"m{i:02}": [] for i in range(count)})
            for seen in (4, 12, 24):
                wait_until(lambda: fleet.done(job) >= seen, f"{seen} results")
                fleet.coordinator.kill9()
                # What came is there, without any program of ours running.
                offline = fleet.ctl("results", job, "--json", "--db", str(fleet.database)).expect(0).json()
                self.assertGreaterEqual(offline["coverage"]["passed"], seen)
                fleet.start_coordinator()
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=count)
            again = [name for name in (f"m{i:02}" for i in range(count)) if len(fleet.started(name)) != 1]
            self.assertEqual(again, [], "started again")
            for worker in fleet.workers.values():
                worker.check_alive()

    def test_results_are_stored_before_anybody_judges(self):
        """A wait that ends with 1 has all its data, also when everything dies right after (D25, D27)."""
        with ChaosFleet(workers=1) as fleet:
            job = fleet.run_models({"bad": ["exit 3"], "good": []})
            fleet.finish(job, code=1)
            fleet.coordinator.kill9()
            fleet.kill_worker()
            self.assertEqual(fleet.sql("SELECT e.model, r.outcome, s.experiment IS NOT NULL FROM result r "
                                       "JOIN experiment e ON e.id = r.experiment LEFT JOIN sample s "
                                       "ON s.experiment = r.experiment ORDER BY e.id"),
                             [("bad", "failed", 0), ("good", "passed", 1)])

    def test_worker_killed_again_and_again(self):
        """Each time while another experiment runs: all of them pass in the end (D7)."""
        with ChaosFleet(workers=1) as fleet:
            names = [f"m{i}" for i in range(8)]
            job = fleet.run_models({name: [*TREE, f"gate {name}"] for name in names})
            for name in names[:5]:
                fleet.family(name)
                fleet.kill_worker()
                fleet.open(name)  # the next attempt passes
                fleet.start_worker(0)
            for name in names:
                fleet.open(name)
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=len(names))
            self.assertTrue(all(len(fleet.started(name)) == 2 for name in names[:5]), "one death each")

    def test_worker_killed_while_a_tree_is_frozen(self):
        """A tree that is stopped as a worker stops it: after kill -9 of the worker nothing of it runs, and
        nothing is stopped."""
        with ChaosFleet(workers=1) as fleet:
            job = fleet.run_models({"m1": [*TREE, "gate a"], "m2": []})
            tree = fleet.family("m1")
            self.assertEqual(len(tree), 3)
            for pid in tree:
                self.stop(pid)
            fleet.kill_worker()
            fleet.open("a")
            fleet.start_worker(0)
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)


class Trees(ChaosTest):
    def test_result_comes_although_a_grandchild_holds_stdout(self):
        """The log ends with the tree, not with the pipe (D33); a stranger that looks like one of ours is
        left alone (D34)."""
        with ChaosFleet(workers=1) as fleet:
            folder = fleet.folder.parent / f"stranger-{fleet.mark[:8]}"
            folder.mkdir()
            (folder / "gates").mkdir()
            (folder / "behaviours.json").write_text('{"leaves": ["gate never"]}', encoding="utf-8")
            # The same program with the same model, and one with the name of our own lanes.
            alike = [subprocess.Popen([sys.executable, "-S", str(PROP), str(folder), "leaves"], cwd="/",
                                      stdout=subprocess.DEVNULL),
                     subprocess.Popen([shutil.copy(shutil.which("sleep"), folder / "dynbench-lane"), "600"], cwd="/")]
            try:
                job = fleet.run_models({"leaves": TREE})
                ran = fleet.finish(job, timeout_s=60)
                self.assertLess(ran.seconds, 20)
                family = [note["pid"] for event in ("session", "daemon") for note in fleet.noted(event)]
                self.assertEqual(len(family), 2)
                self.assertTrue(all(gone(pid) for pid in family), "the slot is free only when the tree has ended")
                row = fleet.rows(job)["leaves"]
                self.assertIn("left behind and killed: 2", "\n".join(row["notes"]))
                fleet.expect_exactly_once(job, passed=1)
                fleet.kill_worker()
                self.assertEqual([p.poll() for p in alike], [None, None], "a stranger was ended")
            finally:
                for process in alike:
                    process.kill()
                    process.wait()
                shutil.rmtree(folder)

    def test_cancel_ends_a_tree_that_ignores_term(self):
        with ChaosFleet(workers=1) as fleet:
            job = fleet.run_models({"tree": [*TREE, "gate never"]})
            family = fleet.family("tree")
            fleet.ctl("cancel", job, "--reason", "enough").expect(0)
            wait_until(lambda: all(gone(pid) for pid in family), "the tree to end", 30)
            fleet.expect_exactly_once(job, passed=0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
