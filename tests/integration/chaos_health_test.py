"""Method: a real coordinator and worker whose runner does what the model's name says (a process that KILL
does not reach, a lane that dies); read from the tables what became of the results and of the slot."""

import subprocess
import unittest

from chaos import ChaosFleet, ChaosTest
from fleet import wait_until


def native(fleet: ChaosFleet, *models: str) -> str:
    return fleet.submit("--suite", fleet._suite(list(models)), "--backend", "eager", "--performance", "--inference",
                        "--bfloat16")


class StuckProcess(ChaosTest):
    def test_the_result_counts_and_the_slot_is_closed_until_the_process_is_gone(self):
        """D3. A process that no signal reaches cannot be made; the lane names one that is not its own, so
        that the worker has no way to end it."""
        with ChaosFleet(workers=1, worker_flags=("--recheck", "1")) as fleet:
            other = subprocess.Popen(["sleep", "1234"], cwd="/")
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
            job = native(fleet, f"stuck:{other.pid}+result")
            fleet.finish(job)
            row = next(iter(fleet.rows(job).values()))
            self.assertEqual(row["outcome"], "passed", "what it measured, it measured")
            self.assertIn(f"process {other.pid} (sleep 1234) did not end after KILL", "\n".join(row["notes"]))

            def slot():
                return fleet.ctl("workers", "--json").expect(0).json()["workers"][0]["slots"][0]

            wait_until(lambda: slot()["state"] == "quarantined", "the slot to be quarantined", 20)
            self.assertIn(f"process {other.pid} (sleep 1234)", slot()["reason"])
            waits = native(fleet, "result")
            self.assertIn(f"process {other.pid}", fleet.explain(waits))
            self.assertIsNone(other.poll(), "it is not the worker's")
            other.kill()
            other.wait()
            fleet.finish(waits, timeout_s=60)
            self.assertEqual(slot()["state"], "")


class Lost(ChaosTest):
    def test_lost_is_exit_3_and_can_be_retried(self):
        """Infrastructure failures are retried until the retries are spent; then the row is lost, `wait` ends
        with 3, and `retry --failed` makes a job of it."""
        with ChaosFleet(workers=1) as fleet:
            job = native(fleet, "killlane", "result")
            fleet.finish(job, code=3, timeout_s=120)
            fleet.expect_exactly_once(job, passed=1)
            rows = fleet.rows(job)
            self.assertEqual((rows["killlane"]["outcome"], rows["killlane"]["blame"]), ("lost", "infrastructure"))
            self.assertIn("infrastructure failed 3 times", rows["killlane"]["error"])
            self.assertEqual(len(fleet.attempts(job)["killlane"]), 3)
            again = str(fleet.ctl("retry", job, "--failed", "--json").expect(0).json()["job"])
            self.assertEqual(list(fleet.rows(again)), ["killlane"])
            fleet.ctl("cancel", again, "--reason", "end of test").expect(0)


class LargeJob(ChaosTest):
    def test_twenty_thousand_experiments(self):
        """A suite file whose request is larger than any message: planned, submitted, counted."""
        with ChaosFleet(workers=0) as fleet:
            count = 20_000
            suite = fleet._suite([f"model_{i:05}_with_a_name_of_usual_length" for i in range(count)])
            flags = ("--engine", "command", "--inference", "--bfloat16", "--suite", suite, "--test", "performance",
                     "--", "/bin/true")
            answer = fleet.ctl("submit", "--json", *flags, timeout_s=120).expect(0).json()
            self.assertEqual(answer["planned"], count)
            job = str(answer["job"])
            self.assertEqual(fleet.sql("SELECT count(*) FROM experiment WHERE job = ?", job), [(count,)])
            plan = fleet.ctl("plan", "--json", *flags, timeout_s=120).expect(0).json()
            self.assertEqual(len(plan["experiments"]), count)
            fleet.ctl("cancel", job, "--reason", "end of test", timeout_s=120).expect(0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
