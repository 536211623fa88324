"""Method: inductor's own test fault makes its C++ relu wrong; a job with --minify must end as
`fail_accuracy` and list a repro.py, which, copied by `artifacts --fetch`, is Python that holds the relu
and outlives the work folder. Then a model that passes: nothing is listed."""

import ast
import pathlib
import tempfile
import unittest

from fleet import FleetTest

FAULT = ("--inductor-config", "cpp.inject_relu_bug_TESTING_ONLY=accuracy")


class Minify(FleetTest):
    fleet_options = {"workers": 1}

    def job(self, *flags, code):
        job = self.fleet.submit(*self.fleet.only("Good"), "--accuracy", "--inference", "--float32",
                                "--backend", "inductor", "--minify", *flags)
        self.fleet.finish(job, code, timeout_s=400)
        return job

    def artifacts(self, job):
        return self.fleet.ctl("artifacts", job, "Good", "--json").expect(0).json()["artifacts"]

    def test_a_repro_of_a_wrong_kernel_is_an_artifact(self):
        job = self.job(*FAULT, code=1)
        self.assertEqual(self.fleet.rows(job)["Good"]["status"], "fail_accuracy")
        listed = [a["path"] for a in self.artifacts(job)]
        self.assertTrue(any(path.endswith("minifier/repro.py") for path in listed), listed)
        with tempfile.TemporaryDirectory() as folder:
            self.fleet.ctl("artifacts", job, "Good", "--fetch", folder).expect(0)
            repro = next(pathlib.Path(folder).rglob("repro.py")).read_text(encoding="utf-8")
        ast.parse(repro)
        self.assertIn("relu", repro)

    def test_nothing_after_a_pass(self):
        job = self.job(code=0)
        self.assertEqual(self.artifacts(job), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
