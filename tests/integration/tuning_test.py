"""Method: real workers on a folder that is laid out as a host's proc and sys are (--host-root), killed
by SIGKILL, ended by SIGTERM, or refused. What --tune changed must be as before afterwards; what it
cannot change must be said before anything is. The coordinator that they look for is not there."""

import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
import uuid

from fleet import BIN, wait_until

POLICY = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
BOOST = "sys/devices/system/cpu/cpufreq/boost"
TUNE = "governor=performance,turbo=off"


class Tuning(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dynbench tuning ")
        self.addCleanup(folder.cleanup)
        self.root, self.state = pathlib.Path(folder.name, "host"), pathlib.Path(folder.name, "state")
        for path, text in ((POLICY, "powersave"), (BOOST, "1"),
                           ("proc/sys/kernel/random/boot_id", "this-boot")):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text + "\n")
        self.environment = {**os.environ, "DYNBENCH_CLAIMS_SCOPE": uuid.uuid4().hex}
        self.workers = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            worker.stderr.close()

    def worker(self, *words, state=None, share="1/1"):
        worker = subprocess.Popen(
            [BIN / "dynbench-worker", "run", "--coordinator", "127.0.0.1:1", "--state-dir",
             state or self.state, "--host-root", self.root, "--share", share, *words],
            env=self.environment, stderr=subprocess.PIPE, text=True)
        self.workers.append(worker)
        return worker

    def host(self):
        return (self.root / POLICY).read_text().strip(), (self.root / BOOST).read_text().strip()

    def until_host(self, *wanted):
        wait_until(lambda: self.host() == wanted, f"the host to be {wanted}")

    def refused(self, code, says, *words, **more):
        worker = self.worker(*words, **more)
        said = worker.communicate(timeout=60)[1]
        self.assertEqual(worker.returncode, code, said)
        self.assertIn(says, said)

    def test_its_end_puts_everything_back(self):
        worker = self.worker("--tune", TUNE)
        self.until_host("performance", "0")
        self.assertTrue((self.state / "tuning.json").exists())
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(60), 0)
        self.assertEqual(self.host(), ("powersave", "1"))
        self.assertFalse((self.state / "tuning.json").exists())

    def test_what_a_killed_worker_left_the_next_start_puts_back(self):
        worker = self.worker("--tune", TUNE)
        self.until_host("performance", "0")
        worker.kill()
        worker.wait(60)
        self.assertEqual(self.host(), ("performance", "0"), "nobody was there to do it")
        worker = self.worker()
        self.until_host("powersave", "1")
        worker.kill()
        worker.wait(60)
        self.assertFalse((self.state / "tuning.json").exists())

    def test_killed_again_and_again(self):
        for _ in range(3):
            worker = self.worker("--tune", TUNE)
            self.until_host("performance", "0")
            worker.kill()
            worker.wait(60)
        self.worker()
        self.until_host("powersave", "1")

    def test_what_cannot_be_is_refused_before_anything_is_changed(self):
        self.refused(5, "this worker has no GPU", "--tune", TUNE + ",gpu-clocks=max", "--devices",
                     "cpu")
        self.refused(5, "numa-balancing: this host does not have it", "--tune",
                     TUNE + ",numa-balancing=off")
        self.refused(2, "one of the keys governor, turbo", "--tune", "governer=performance")
        self.assertEqual(self.host(), ("powersave", "1"))
        self.assertFalse((self.state / "tuning.json").exists())

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two workers need two cores")
    def test_one_worker_of_a_host_tunes_it(self):
        self.worker("--tune", TUNE, share="1/2")
        self.until_host("performance", "0")
        self.refused(5, "one worker of a host tunes it", "--tune", "turbo=on", share="2/2",
                     state=str(self.state) + "-2")
        self.assertEqual(self.host(), ("performance", "0"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
