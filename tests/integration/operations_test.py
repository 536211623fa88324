"""Method: what an operator does, with real binaries and small programs as experiments that wait for a
file, so that every moment can be chosen: drain with and without time, quarantine, a copy of the database
under load, results brought by hand, SIGTERM with a grace. What was running must end or be given back
without a mark, and every second of the slots must have its reason."""

import os
import pathlib
import signal
import sqlite3
import sys
import time
import unittest

from fleet import Fleet, wait_until

# Waits for GATE (a file), then passes.
WAITING = r"""
import os, pathlib, resource, sys, time
gate = pathlib.Path(sys.argv[1])
pathlib.Path(sys.argv[1] + ".started").touch()
while not gate.exists(): time.sleep(0.02)  # tidy: allow, a program that waits for its gate
limits = [resource.getrlimit(getattr(resource, "RLIMIT_" + name))[0] for name in ("CORE", "DATA", "NPROC", "NOFILE")]
print('dynbench: {"fact": "limits", "value": "%s"}' % " ".join(map(str, limits)))
print('dynbench: {"status": "pass"}')
"""
QUICK = "print('dynbench: {\"status\": \"pass\"}')"
TWO = "ghostnet_100,mobilenetv2_100"


class Operations(unittest.TestCase):
    def submit(self, fleet: Fleet, code: str, *words: str, models: str = TWO) -> str:
        return fleet.submit("--engine", "command", "--accuracy", "--suite", "timm", "--models", models, "--",
                            sys.executable, "-c", code, *words)

    def gate(self, fleet: Fleet) -> pathlib.Path:
        return fleet.folder / "gate"

    def submit_waiting(self, fleet: Fleet, models: str = TWO) -> str:
        """Two experiments (or those of `models`); the first of them runs and waits for the gate."""
        gate = self.gate(fleet)
        job = self.submit(fleet, WAITING, str(gate), models=models)
        wait_until(lambda: pathlib.Path(f"{gate}.started").exists(), "the first program")
        wait_until(lambda: fleet.coverage(job)["running"] == 1, "its start in the coordinator")
        return job

    def worker(self, fleet: Fleet) -> dict:
        workers = fleet.ctl("workers", "--json").expect(0).json()["workers"]
        self.assertEqual(len(workers), 1)
        return workers[0]

    def state(self, fleet: Fleet) -> str:
        return self.worker(fleet)["state"]

    def test_what_runs_ends_before_the_deadline_of_a_drain(self):
        with Fleet() as fleet:
            job = self.submit_waiting(fleet)
            host = self.worker(fleet)["host"]
            drained = fleet.ctl("workers", "drain", host, "--deadline", "1h", "--reason", "new kernel", "--json")
            self.assertEqual(drained.expect(0).json()["workers"][0]["state"], "draining", drained)
            wait_until(lambda: fleet.coverage(job)["waiting"] == 1, "what waits to be given back")
            self.gate(fleet).touch()
            wait_until(lambda: fleet.coverage(job)["passed"] == 1, "what runs to end")
            # It stays so over the death of the coordinator and of the worker.
            fleet.coordinator.kill9()
            fleet.start_coordinator()
            fleet.wait_connected(0)
            fleet.workers[0].kill9()
            fleet.start_worker(0)
            worker = self.worker(fleet)
            self.assertEqual((worker["state"], worker["reason"]), ("drained", "new kernel"))
            self.assertIn("drained: new kernel", fleet.ctl("status", job).out)
            self.assertEqual(fleet.coverage(job)["waiting"], 1)
            fleet.ctl("workers", "release", worker["id"]).expect(0)
            fleet.finish(job)
            for row in fleet.results(job)["results"]:
                self.assertEqual((row["outcome"], row["attempt"]), ("passed", 1), row)

    def test_after_the_deadline_it_is_given_back_without_a_mark(self):
        with Fleet() as fleet:
            job = self.submit_waiting(fleet)
            worker = self.worker(fleet)["id"]
            for _ in range(3):  # more often than the crash budget and the retries allow
                wait_until(lambda: fleet.coverage(job)["running"] == 1, "an attempt")
                fleet.ctl("workers", "drain", worker, "--deadline", "0").expect(0)
                wait_until(lambda: fleet.coverage(job)["running"] == 0, "the attempt to be given back")
                self.assertEqual(self.state(fleet), "drained")
                fleet.ctl("workers", "release", worker).expect(0)
            self.gate(fleet).touch()
            fleet.finish(job)
            attempts = sorted(row["attempt"] for row in fleet.results(job)["results"])
            self.assertEqual(attempts[0], 1)
            self.assertGreater(attempts[1], 3)

    def test_a_quarantined_slot_takes_nothing_until_its_release(self):
        with Fleet() as fleet:
            worker = self.worker(fleet)["id"]
            self.assertEqual(fleet.ctl("workers", "quarantine", worker).code, 2)
            fleet.ctl("workers", "quarantine", worker, "--slot", "0", "--reason", "strange numbers").expect(0)
            job = self.submit(fleet, QUICK)
            slot = self.worker(fleet)["slots"][0]
            self.assertEqual((slot["accepting"], slot["state"], slot["reason"]),
                             (False, "quarantined", "strange numbers"))
            doctor = fleet.ctl("doctor")
            self.assertEqual(doctor.code, 3, doctor)
            self.assertIn("strange numbers", doctor.out)
            self.assertEqual(fleet.coverage(job)["waiting"], 2)
            fleet.ctl("workers", "release", worker, "--slot", "0").expect(0)
            fleet.finish(job)
            fleet.ctl("doctor").expect(0)
            self.assertEqual(fleet.ctl("workers", "drain", "nobody").code, 5)

    def test_results_brought_by_hand_count_once(self):
        with Fleet() as fleet:
            job = self.submit_waiting(fleet, models="ghostnet_100")
            fleet.coordinator.kill9()
            self.gate(fleet).touch()
            spool = fleet.worker_state(0) / "spool"
            wait_until(lambda: list(spool.glob("*.result")), "a result in the spool")
            files = sorted(map(str, spool.glob("*.result")))
            fleet.workers[0].kill9()
            fleet.start_coordinator()
            torn = fleet.folder / "torn.result"
            torn.write_bytes(pathlib.Path(files[0]).read_bytes()[:-1])
            first = fleet.ctl("import", *files, str(torn), "--json")
            self.assertEqual(first.code, 5, first)
            self.assertEqual((first.json()["counted"], len(first.json()["refused"])), (1, 1), first)
            rows = fleet.results(job)["results"]
            again = fleet.ctl("import", *files, "--json").expect(0).json()
            self.assertEqual((again["counted"], again["duplicate"]), (0, 1))
            fleet.start_worker(0)  # it delivers them as well
            wait_until(lambda: not list(spool.glob("*.result")), "the spool to be acknowledged")
            self.assertEqual(fleet.results(job)["results"], rows)
            fleet.finish(job)

    def test_a_copy_of_the_database_under_load(self):
        with Fleet() as fleet:
            jobs = [self.submit(fleet, QUICK) for _ in range(5)]
            copies = []
            while len(copies) < 3:
                copies.append(str(fleet.folder / f"copy {len(copies)}.db"))
                fleet.ctl("backup", copies[-1]).expect(0)
            for job in jobs:
                fleet.finish(job)
            for copy in copies:
                listed = fleet.ctl("status", "--db", copy, "--json").expect(0).json()["jobs"]
                self.assertEqual(len(listed), 5)
                fleet.ctl("doctor", "--db", copy).expect(0)
            self.assertEqual(fleet.ctl("backup", copies[0]).code, 2)

    def test_every_second_of_a_slot_has_its_reason(self):
        with Fleet() as fleet:
            started = time.time()
            job = self.submit_waiting(fleet)
            self.gate(fleet).touch()
            fleet.finish(job)
            report = wait_until(lambda: self.idle_with(fleet, "no_work", "compiling"), "the end in the accounts")
            database = sqlite3.connect(f"file:{self.record(fleet)}?mode=ro", uri=True)
            (first, last, total), = database.execute(
                "SELECT min(since_unix_ms), max(until_unix_ms), sum(until_unix_ms - since_unix_ms) FROM slot_span")
            self.assertEqual(total, last - first, "gaps or overlaps")
            self.assertAlmostEqual(report["slot_seconds"], total / 1000, delta=2)
            self.assertLess(abs(first / 1000 - started), 60)
            reasons = {span["reason"] for span in report["spans"]}
            self.assertGreater(report["busy_seconds"], 0)
            offline = fleet.ctl("idle", "--db", self.record(fleet), "--json").expect(0).json()
            self.assertEqual({span["reason"] for span in offline["spans"]}, reasons)
            self.assertIn("compiling", fleet.ctl("idle", "--by-slot").expect(0).out)

    def record(self, fleet: Fleet) -> str:
        return str(fleet.folder / "coordinator" / "dynbench.db")

    def idle_with(self, fleet: Fleet, *told: str) -> dict | None:
        """The report, once the slot has come to rest and has told of all that."""
        report = fleet.ctl("idle", "--json", "--since", "1h").expect(0).json()
        resting = self.worker(fleet)["slots"][0]["activity"] == "idle"
        return report if resting and {span["reason"] for span in report["spans"]} >= set(told) else None

    def test_sigterm_with_a_grace_lets_what_runs_end(self):
        with Fleet(start=False) as fleet:
            fleet.start_coordinator()
            fleet.start_worker(0, flags=("--grace", "600", "--label", "rack=7"))
            self.assertEqual(self.worker(fleet)["labels"]["rack"], "7")
            job = self.submit_waiting(fleet)
            worker = fleet.workers[0]
            os.kill(worker.pid, signal.SIGTERM)
            wait_until(lambda: fleet.coverage(job)["waiting"] == 1, "what waits to be given back")
            self.assertTrue(worker.alive())
            self.gate(fleet).touch()
            wait_until(lambda: not worker.alive(), "the worker's end")
            self.assertEqual(fleet.coverage(job)["passed"], 1)
            # Asked twice: what runs is given back at once.
            self.gate(fleet).unlink()
            fleet.start_worker(0, flags=("--grace", "600",))
            wait_until(lambda: fleet.coverage(job)["running"] == 1, "the second program")
            os.kill(fleet.workers[0].pid, signal.SIGTERM)
            wait_until(lambda: "within the grace" in fleet.workers[0].tail().rpartition("connected to")[2],
                       "the first signal")
            os.kill(fleet.workers[0].pid, signal.SIGTERM)
            wait_until(lambda: not fleet.workers[0].alive(), "the worker's end")
            self.assertEqual(fleet.coverage(job)["waiting"], 1)
            self.gate(fleet).touch()
            fleet.start_worker(0)
            fleet.finish(job)

    def test_programs_are_limited(self):
        with Fleet() as fleet:
            self.gate(fleet).touch()
            job = self.submit(fleet, WAITING, str(self.gate(fleet)), models="ghostnet_100")
            fleet.finish(job)
            row, = fleet.results(job)["results"]
            core, data, processes, files = map(int, row["in_force"]["command.limits"].split())
            self.assertEqual(core, 0)
            self.assertGreater(data, 0)
            self.assertLessEqual(data, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
            self.assertTrue(0 < processes <= 16_384, processes)
            self.assertTrue(0 < files <= 65_536, files)


if __name__ == "__main__":
    unittest.main(verbosity=2)
