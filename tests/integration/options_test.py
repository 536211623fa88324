"""Method: a model that notes the compiler's settings and the environment as its own process sees
them. One job with --set-env and --inductor-config, one without, on the same zygote: the first must
have them in force, the second must not. And each child starts in a folder of its own."""

import unittest

from fleet import FleetTest


class Options(FleetTest):
    fleet_options = {"workers": 1}

    def look(self, *flags: str) -> dict:
        before = len(self.fleet.noted("looked"))
        job = self.fleet.submit(*self.fleet.only("Looks"), "--performance", "--repeat", "3", *flags)
        self.fleet.finish(job, timeout_s=180)
        looked = self.fleet.noted("looked")[before:]
        self.assertEqual(len(looked), 1, "one process, one load")
        return looked[0]

    def test_options_are_of_one_child(self):
        with_flags = self.look("--backend", "inductor", "--freezing", "--inductor-config", "epilogue_fusion=False",
                               "--set-env", "TORCHINDUCTOR_COMPILE_THREADS=1")
        self.assertTrue(with_flags["freezing"])
        self.assertFalse(with_flags["epilogue_fusion"])
        self.assertEqual(with_flags["environment"].get("TORCHINDUCTOR_COMPILE_THREADS"), "1")
        plain = self.look("--backend", "eager")
        self.assertFalse(plain["freezing"])
        self.assertTrue(plain["epilogue_fusion"])
        self.assertNotIn("TORCHINDUCTOR_COMPILE_THREADS", plain["environment"])

    def test_unknown_inductor_setting_fails_by_name(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--performance", "--backend", "inductor",
                                "--inductor-config", "no_such_setting=1")
        self.fleet.finish(job, 1, timeout_s=60)
        self.assertIn("no_such_setting", self.fleet.rows(job)["Good"]["error"])

    def test_a_target_of_precision_goes_with_the_experiment_and_its_end_is_in_the_row(self):
        flags = ("--performance", "--backend", "eager", "--repeat", "6", "--target-precision", "20%",
                 "--precision-budget", "5s")
        plan = self.fleet.ctl("plan", *self.fleet.only("Good"), *flags, "--json").expect().json()
        self.assertEqual(plan["experiments"][0]["target_precision"], 0.2)
        self.assertEqual(plan["experiments"][0]["precision_budget_s"], 5)
        job = self.fleet.submit(*self.fleet.only("Good"), *flags)
        self.fleet.finish(job, timeout_s=60)
        metrics = self.fleet.rows(job)["Good"]["metrics"]
        self.assertGreaterEqual(metrics["timed_pairs"], 6)
        met = metrics["precision_reached"] <= 0.2
        self.assertEqual(metrics["precision_budget_spent"], int(not met), metrics)
        self.assertIn("window_flags", metrics)

    def test_each_child_has_its_own_folder(self):
        first, second = self.look("--backend", "eager"), self.look("--backend", "eager")
        self.assertNotEqual(first["cwd"], second["cwd"])
        for note in (first, second):
            self.assertTrue(note["cwd"].startswith(str(self.fleet.folder)), note["cwd"])
            self.assertEqual(set(note["modes"]), {0o700}, "caches are of this user alone")
            self.assertTrue(all(f.startswith(str(self.fleet.folder)) for f in note["cache_folders"]), note)

    def test_model_that_changes_its_folder(self):
        job = self.fleet.submit(*self.fleet.only("Chdir"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=60)

    def test_no_variable_of_the_harness_but_the_needed(self):
        """What steers workers is not seen by models."""
        note = self.look("--backend", "eager")
        self.assertNotIn("DYNBENCH_COORDINATOR", note["environment"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
