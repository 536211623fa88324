"""Method: kill -9 the coordinator in the middle of a job and start it again on the same state folder
and port. Workers re-attach by themselves, running attempts are adopted (the child's pid stays), what
finished meanwhile arrives from the spool, and every experiment has exactly one result."""

import unittest

from fleet import Fleet, wait_until

MODELS = ["Slow", "Slow2", "Slow3", "Slow4", "Good"]


class KillCoordinator(unittest.TestCase):
    def test_job_survives(self):
        with Fleet(workers=2) as fleet:
            job = fleet.submit(*fleet.only(*MODELS), "--backend", "eager", "--performance", "--repeat", "3")
            fleet.wait_noted("slow", 1, timeout_s=120)
            workers = {index: worker.pid for index, worker in fleet.workers.items()}
            fleet.coordinator.kill9()
            fleet.start_coordinator()
            fleet.finish(job, 0, timeout_s=180)
            coverage = fleet.coverage(job)
            self.assertEqual((coverage["planned"], coverage["passed"]), (len(MODELS), len(MODELS)))
            loads = {}
            for note in fleet.noted("built"):
                loads.setdefault(note["model"], []).append(note["pid"])
            self.assertEqual({m: len(set(p)) for m, p in loads.items()}, dict.fromkeys(MODELS, 1),
                             "an experiment was started again")
            self.assertEqual({i: w.pid for i, w in fleet.workers.items()}, workers)
            for worker in fleet.workers.values():
                worker.check_alive()

    def test_results_of_the_gap_arrive(self):
        """The child ends while no coordinator runs; its result waits on the worker's disk."""
        with Fleet(workers=1) as fleet:
            job = fleet.submit(*fleet.only("Slow"), "--backend", "eager", "--performance", "--repeat", "3")
            pid = fleet.wait_noted("slow", 1, timeout_s=120)[0]["pid"]
            fleet.coordinator.kill9()
            wait_until(lambda: pid not in fleet.processes(), "the child to end without a coordinator", 60)
            fleet.start_coordinator()
            fleet.finish(job, 0, timeout_s=60)
            row = fleet.rows(job)["Slow"]
            self.assertEqual((row["outcome"], row["attempt"]), ("passed", 1))

    def test_worker_dies_during_the_gap(self):
        """Both die; the worker's next process brings what its spool holds, and the rest runs again."""
        with Fleet(workers=1) as fleet:
            job = fleet.submit(*fleet.only("Slow", "Good"), "--backend", "eager", "--performance", "--repeat", "3")
            fleet.wait_noted("slow", 1, timeout_s=120)
            fleet.coordinator.kill9()
            fleet.workers[0].kill9()
            wait_until(lambda: not fleet.processes(), "the end of everything", 15)
            fleet.start_coordinator()
            fleet.start_worker(0)
            fleet.finish(job, 0, timeout_s=120)
            self.assertEqual(fleet.coverage(job)["passed"], 2)

    def test_second_coordinator_is_refused(self):
        with Fleet(workers=0) as fleet:
            first = fleet.coordinator
            address, fleet.address = fleet.address, ""
            with self.assertRaises(AssertionError) as refused:
                fleet.start_coordinator()
            self.assertIn("exited", str(refused.exception))
            self.assertIn("dynbench.db", str(refused.exception))
            fleet.coordinator, fleet.address = first, address
            fleet.env["DYNBENCH_COORDINATOR"] = address
            self.assertEqual(fleet.ctl("status", "--json").code, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
