"""Method: an environment with another torch (2.9.1, the last whose wheels carry NativeRT) is registered
as a person would and a job runs every way of compiling ahead of time in it, from `submit` to the row.
Each must be judged equal to eager, run from C++, and have phases of its own; the environment of the
other tests, whose torch has a stub only, must skip NativeRT with that reason.

DYNBENCH_PYTHON names the python (tests/integration/runner/run_with_torch makes it)."""

import os
import unittest

from environment_test import env_add
from fleet import BIN, ENVIRONMENTS, FleetTest, base_environment, run

NAME = "ahead-of-time"
WAYS = {"--export-nativert": "nativert", "--export-aot-inductor": "aot_inductor",
        "--torchscript-jit-trace": "torchscript"}


def setUpModule():
    env_add(NAME, os.environ["DYNBENCH_PYTHON"], timeout_s=1500).expect(0)


def tearDownModule():
    run(str(BIN / "dynbench-worker"), "env", "remove", NAME, "--environments-dir", str(ENVIRONMENTS),
        env=base_environment()).expect(0)


class AheadOfTime(FleetTest):
    fleet_options = {"workers": 1}

    def test_every_way_equals_eager_and_runs_from_cpp(self):
        for flag, way in WAYS.items():
            with self.subTest(way):
                job = self.fleet.submit(*self.fleet.only("Good"), "--environment", NAME, "--inference",
                                        "--float32", "--repeat", "4", flag)
                self.fleet.finish(job, timeout_s=400)
                rows = self.fleet.rows(job)
                self.assertEqual(rows["Good/accuracy"]["status"], "pass")
                row = rows["Good/performance"]
                self.assertEqual(row["status"], "measured")
                self.assertEqual(row["in_force"]["artifact.run_from"], "C++")
                for phase in ("export_s", "package_s", "load_s", "first_run_s"):
                    self.assertGreater(row["metrics"][phase], 0, phase)

    def test_a_build_that_has_a_stub_only_skips_with_the_reason(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--accuracy", "--inference", "--export-nativert")
        self.fleet.ctl("wait", job, timeout_s=120)
        row = self.fleet.rows(job)["Good"]
        self.assertEqual((row["outcome"], row["status"]), ("skipped", "skipped"))
        self.assertIn("nativert", row["error"].lower())


if __name__ == "__main__":
    unittest.main(verbosity=2)
