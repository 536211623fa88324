"""Method: a model that writes 64 MiB of bytes that are no text. The experiment must pass, the log
must be capped with a note and keep its beginning, and the commands that show it must survive it."""

import unittest

from fleet import BIN, FleetTest, wait_until

import subprocess

CAP_BYTES = 2 << 20  # 1 MiB kept, and the note


class Logs(FleetTest):
    fleet_options = {"workers": 1}

    def test_flood_is_capped(self):
        job = self.fleet.submit(*self.fleet.only("Floods"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=120)
        done = subprocess.run([BIN / "dynbenchctl", "logs", job, "Floods"], env=self.fleet.env, capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(done.stdout), CAP_BYTES)
        self.assertIn(b"first line of the flood", done.stdout)
        self.assertIn(b"\xff\xfe", done.stdout, "bytes stay bytes")
        self.assertRegex(done.stdout, rb"(?i)(cut|left out|omitted|dropped|truncated)", "a note says that it is not all")

    def test_traceback_is_in_the_log_and_one_line_in_the_table(self):
        job = self.fleet.submit(*self.fleet.only("RaisesInLoad"), "--backend", "eager", "--performance")
        self.fleet.finish(job, 1, timeout_s=60)
        table = self.fleet.ctl("results", job).expect(0).out
        self.assertIn("a weight file is missing", table)
        self.assertNotIn("Traceback", table)
        self.assertIn("Traceback", self.fleet.ctl("logs", job, "RaisesInLoad").expect(0).out)

    def test_follow_ends_with_the_experiment(self):
        job = self.fleet.submit(*self.fleet.only("Slow"), "--backend", "eager", "--performance", "--repeat", "3")
        follow = self.fleet.ctl_start("logs", job, "Slow", "-f")
        self.fleet.finish(job, timeout_s=60)
        wait_until(lambda: follow.poll() is not None, "logs -f to end", 20)
        self.assertEqual(follow.wait(), 0, follow.stderr.read())
        follow.stdout.close()
        follow.stderr.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
