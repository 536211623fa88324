"""Method: an accuracy job that fails is run again with `retry --debug`. Its traces must be listed and
copied by `artifacts`, outlive the work folder, and no sample may be kept; a failure's compile cache is
kept only when it was asked for."""

import pathlib
import tempfile
import unittest

from fleet import FleetTest


class Artifacts(FleetTest):
    fleet_options = {"workers": 1}

    def retry(self, job, *flags, code=0):
        answer = self.fleet.ctl("retry", job, *flags, "--json").expect(0).json()
        again = str(answer["job"]["id"] if isinstance(answer["job"], dict) else answer["job"])
        self.fleet.finish(again, code, timeout_s=120)
        return again

    def listed(self, job, model):
        return self.fleet.ctl("artifacts", job, model, "--json").expect(0).json()["artifacts"]

    def test_diagnostic_rerun(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=60)
        self.assertEqual(self.listed(job, "Good"), [])
        again = self.retry(job, "--models", "Good", "--debug")
        row = self.fleet.rows(again)["Good"]
        self.assertEqual((row["status"], row["outcome"]), ("diagnosed", "passed"))
        self.assertNotIn("speedup", row["metrics"])
        artifacts = self.listed(again, "Good")
        for kind in ("trace/", "logs/torch.log", "profiler/compiled.trace", "operator_inputs/"):
            self.assertTrue(any("/run/" + kind in a["path"] for a in artifacts), (kind, artifacts))
        self.assertTrue(all(a["size_bytes"] is not None for a in artifacts), artifacts)
        with tempfile.TemporaryDirectory() as folder:
            self.fleet.ctl("artifacts", again, "Good", "--fetch", folder).expect(0)
            copied = {str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*") if p.is_file()}
        self.assertEqual(len(copied), len(artifacts))
        self.assertTrue(all("/run/" in path for path in copied), copied)

    def test_cache_of_a_failure(self):
        # Fails after compiling: what it compiled is what people want to see.
        job = self.fleet.submit(*self.fleet.only("WrongWhenCompiled"), "--backend", "inductor", "--accuracy")
        self.fleet.finish(job, 1, timeout_s=180)
        self.assertEqual(self.fleet.rows(job)["WrongWhenCompiled"]["status"], "fail_accuracy")
        self.assertEqual(self.listed(job, "WrongWhenCompiled"), [])
        again = self.retry(job, "--diagnostics", "cache", code=1)
        self.assertTrue(any("/cache/" in a["path"] for a in self.listed(again, "WrongWhenCompiled")))

    def test_refusals(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=60)
        self.assertIn("there is no diagnostics kind", self.fleet.ctl(
            "retry", job, "--models", "Good", "--diagnostics", "traces").expect(2).err)
        self.assertNotEqual(self.fleet.ctl("retry", job, "--models", "Goood").code, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
