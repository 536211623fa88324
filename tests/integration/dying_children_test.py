"""Method: one job of models that each die in their own way, among good ones. Each must have a row
with outcome, status, phase and blame; the good ones must pass (nothing is cancelled because a sibling
failed); `wait` must exit 1; an exit code 0 of a child without a result is still a failure."""

import unittest

from fleet import FleetTest

# model -> (status, phase, blame), words that the error line must hold
EXPECTED = {
    "Segfault": (("crash", "load", "model"), ["SIGSEGV"]),
    "KilledOutside": (("crash", "load", "model"), ["SIGKILL"]),
    "ExitsZero": (("crash", "load", "model"), ["exit"]),
    "ExitsTwo": (None, ["2"]),  # SystemExit while loading: a crash or a load failure of the model
    "RaisesInLoad": (("eager_fail_to_run", "load", "model"), ["ValueError", "a weight file is missing"]),
    "NotForThisDevice": (("model_fail_to_load", "load", "model"), ["needs another device"]),
    "SegfaultInForward": (("crash", None, None), ["SIGSEGV"]),
    "RaisesInForward": (None, ["ValueError", "shapes do not fit"]),
}
GOOD = ["Good", "Good2"]


class DyingChildren(FleetTest):
    fleet_options = {"workers": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The first to run is a failure: what follows must run all the same.
        cls.job = cls.fleet.submit(*cls.fleet.only("RaisesInLoad", *GOOD, *[m for m in EXPECTED if m != "RaisesInLoad"]),
                                   "--backend", "eager", "--performance", "--repeat", "3")
        cls.waited = cls.fleet.ctl("wait", cls.job, timeout_s=240)
        cls.rows = cls.fleet.rows(cls.job)

    def test_wait_exits_1(self):
        self.assertEqual(self.waited.code, 1, self.waited)

    def test_counts(self):
        coverage = self.fleet.coverage(self.job)
        self.assertEqual(coverage["planned"], len(EXPECTED) + len(GOOD))
        self.assertEqual((coverage["passed"], coverage["failed"]), (len(GOOD), len(EXPECTED)))

    def test_good_ones_pass(self):
        for model in GOOD:
            self.assertEqual(self.rows[model]["outcome"], "passed", self.rows[model])

    def test_every_death_has_its_row(self):
        for model, (words, names) in EXPECTED.items():
            with self.subTest(model=model):
                row = self.rows[model]
                self.assertEqual(row["outcome"], "failed", row)
                self.assertTrue(row["status"] and row["phase"] and row["blame"] != "none", row)
                self.assertNotEqual(row["blame"], "infrastructure", row)
                for word, key in zip(words or (), ("status", "phase", "blame")):
                    if word is not None:
                        self.assertEqual(row[key], word, row)
                for name in names:
                    self.assertIn(name, row["error"])
                self.assertEqual(len(row["error"].splitlines()), 1, "the one useful line")
                self.assertNotIn("speedup", row["metrics"], "a failure is no number")

    def test_table_shows_the_useful_line(self):
        table = self.fleet.ctl("results", self.job).expect(0).out
        self.assertIn("a weight file is missing", table)

    def test_csv_has_upstreams_failure_rows(self):
        lines = self.fleet.ctl("results", self.job, "--csv").expect(0).out.splitlines()
        for model in EXPECTED:
            row = next(line for line in lines if line.split(",")[1] == model)
            self.assertTrue(row.startswith(f"cpu,{model},0,0.0"), row)


if __name__ == "__main__":
    unittest.main(verbosity=2)
