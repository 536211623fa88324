"""Method: kill -9 a worker while one of its children hangs with TERM ignored. Nothing of its tree may
stay alive or stopped, a bystander with a similar name must be untouched, and after a restart of the
worker (same state folder) the experiment must get its one terminal row."""

import os
import shutil
import subprocess
import unittest

from fleet import Fleet, processes_of, wait_until


class KillWorker(unittest.TestCase):
    def test_nothing_is_left_and_the_crash_counts(self):
        with Fleet(workers=1) as fleet:
            bystander_folder = fleet.folder.parent / f"bystander-{fleet.mark[:8]}"
            bystander_folder.mkdir()
            fake = shutil.copy(shutil.which("sleep"), bystander_folder / "dynbench-runner")
            bystander = subprocess.Popen([fake, "600"], env={"PATH": os.environ["PATH"]}, cwd="/")
            try:
                job = fleet.submit(*fleet.only("Hangs", "Good"), "--backend", "eager", "--performance", "--repeat", "3")
                fleet.wait_noted("hangs", timeout_s=120)
                worker = fleet.workers[0]
                tree = {pid for pid in fleet.processes() if pid != fleet.coordinator.pid}
                self.assertGreater(len(tree), 2, "worker, runner and child")
                worker.kill9()
                wait_until(lambda: set(fleet.processes()) <= {fleet.coordinator.pid}, "the worker's tree to end", 15)
                self.assertIsNone(bystander.poll(), "a stranger's process was killed")

                # Each death of the worker counts against the experiment that ran; after the budget it
                # is failed, not tried for ever.
                for _ in range(5):
                    row = fleet.rows(job)["Hangs"]
                    if row.get("outcome"):
                        break
                    seen = len(fleet.noted("hangs"))
                    fleet.start_worker(0)
                    wait_until(lambda: len(fleet.noted("hangs")) > seen or fleet.rows(job)["Hangs"].get("outcome"),
                               "the next attempt or the verdict", 120)
                    if not fleet.rows(job)["Hangs"].get("outcome"):
                        fleet.workers[0].kill9()
                row = fleet.rows(job)["Hangs"]
                self.assertEqual((row["outcome"], row["status"]), ("failed", "crash"), row)
                self.assertGreater(row["attempt"], 1, "a first death is retried")
                if not fleet.workers[0].alive():
                    fleet.start_worker(0)
                fleet.finish(job, 1, timeout_s=120)
                self.assertEqual(fleet.rows(job)["Good"]["outcome"], "passed")
                fleet.coverage(job)
            finally:
                bystander.kill()
                bystander.wait()
                shutil.rmtree(bystander_folder)

    def test_wanted_stop_does_not_count(self):
        """SIGTERM: the experiment goes back to the queue without blame and runs after the restart."""
        with Fleet(workers=1) as fleet:
            job = fleet.submit(*fleet.only("Slow"), "--backend", "eager", "--performance", "--repeat", "3")
            fleet.wait_noted("slow", timeout_s=120)
            fleet.workers[0].stop()
            self.assertEqual(set(processes_of(fleet.mark, fleet.folder)), {fleet.coordinator.pid})
            fleet.start_worker(0)
            fleet.finish(job, 0, timeout_s=120)
            self.assertEqual(fleet.rows(job)["Slow"]["outcome"], "passed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
