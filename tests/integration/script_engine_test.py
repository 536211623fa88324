"""Method: a real coordinator, worker and dynbenchctl drive the fake suite (tests/props/fake_suite), in
which each model does one thing that scripts are known to do. One job has them all: every one must end
in exactly one row with the right outcome, status, phase and blame, the good ones among the bad ones
must pass, the counts must add up, and nothing of any process tree may be left."""

import json
import pathlib
import shutil
import unittest

from fleet import FleetTest, wait_until

PROPS = pathlib.Path(__file__).resolve().parents[1] / "props/fake_suite"
TIMEOUT_S = 6

PASSED = ("passed", "measured", "report", "none")
# After the console line, without a stack, the scripts do not say where they were.
CRASHED = ("failed", "crash", "compile", "compiler")

# behaviour -> (outcome, status, phase, blame), what its error or one of its notes must say
PERFORMANCE = {
    "ok(2.5, 0.1, 0.01)": (PASSED, ""),
    "slow(1)": (PASSED, ""),
    "exit(3)": (CRASHED, "exited with code 3"),
    "exit0-no-row": (CRASHED, "exited with code 0"),
    "row-then-crash": (PASSED, "killed by SIGSEGV after its result"),
    "dup-row": (PASSED, "2 times; it is counted once"),
    "dup-header": (PASSED, "2 headers"),
    "cut-row": (CRASHED, "a row is cut"),
    "empty-file": (CRASHED, "exited with code 0"),
    "segv": (CRASHED, "SIGSEGV"),
    "abort": (CRASHED, "SIGABRT"),
    "kill9": (CRASHED, "SIGKILL"),
    "hang": (("failed", "timeout", "compile", "compiler"), f"timed out after {TIMEOUT_S} s"),
    "hang-ignore-term": (("failed", "timeout", "compile", "compiler"), "--timeout"),
    "setsid-child": (PASSED, "left behind and killed: 1"),
    "daemon-holds-stdout": (PASSED, "left behind and killed: 1"),
    "print(ff00fe0a0d1b5b)": (PASSED, ""),
    "print-then-exit(ff00fe, 4)": (CRASHED, "exited with code 4"),
    "flood(8)": (PASSED, ""),
    "oom-text(load)": (("failed", "eager_fail_to_run", "load", "model"), "out of memory"),
    "oom-text(eager)": (("failed", "eager_1st_run_OOM", "eager", "eager"), "out of memory"),
    "oom-text(fp64)": (("failed", "eager_1st_run_OOM", "reference", "eager"), "out of memory"),
    "oom-text(compile)": (("failed", "OOM", "compile", "compiler"), "out of memory"),
    "oom-text(measure)": (("failed", "OOM", "measure", "compiler"), "out of memory"),
    "429(2)": (PASSED, ""),
    "429(6)": (("lost", "download_failed", "prepare", "infrastructure"), "429"),
    # The slot is a CPU: it has no device to lose, so this is what the model did.
    "device-lost": (("failed", "fail_to_run", "compile", "compiler"), "GPU is lost"),
    "gpu-hang": (CRASHED, "reason :GPU Hang"),
    "gpu-hang-caught": (("failed", "fail_to_run", "compile", "compiler"), "the launch timed out"),
    "gpu-hang-words": (PASSED, ""),
    "infra-word": (PASSED, ""),
    "infra-word-then-exit(5)": (CRASHED, "exited with code 5"),
    "chdir": (PASSED, ""),
    "fd-list": (PASSED, ""),
    "affinity": (PASSED, ""),
    "env-dump": (PASSED, ""),
    "torch-version(9.9)": (PASSED, ""),
    "key-error": (("failed", "eager_fail_to_run", "load", "model"), "different versions"),
    "warmup-failed": (("failed", "eager_1st_run_fail", "eager", "eager"), "shapes do not fit"),
    "old-header": (PASSED, ""),
    "mixed-header": (("failed", "fail_to_run", "compile", "compiler"), "not of this model: another"),
    "wrong-name": (CRASHED, "not of this model: another"),
}
ACCURACY = {
    "status(pass)": (("passed", "pass", "report", "none"), ""),
    "status(pass_due_to_skip)": (("passed", "pass_due_to_skip", "report", "none"), ""),
    "status(fail_accuracy)": (("failed", "fail_accuracy", "verify", "compiler"), ""),
    "status(eager_two_runs_differ)": (("failed", "eager_two_runs_differ", "eager", "eager"), ""),
    "status(fail_batch_invariance_at_4)": (("failed", "fail_batch_invariance_at_4", "verify", "compiler"), ""),
    "status(word_of_tomorrow)": (("failed", "word_of_tomorrow", "compile", "compiler"), "status words"),
    "oom-text(eager)": (("failed", "eager_1st_run_OOM", "eager", "eager"), "out of memory"),
    "oom-text(compile)": (("failed", "OOM", "compile", "compiler"), "out of memory"),
    "mixed-header": (("failed", "fail_to_run", "compile", "compiler"), "another column"),
    "exit0-no-row": (CRASHED, "exited with code 0"),
    "rule": (("passed", "pass", "report", "none"), ""),
}


def name_of(behaviour: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in behaviour).strip("_")


class ScriptEngine(FleetTest):
    fleet_options = {"workers": 1}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scripts = cls.fleet.folder / "scripts größer"
        shutil.copytree(PROPS, cls.scripts)

    def suite(self, name, behaviours):
        """Writes a suite of one model a behaviour; answers its file."""
        plan = self.scripts / "behaviours.txt"
        text = plan.read_text() if plan.exists() else ""
        models = []
        for behaviour in behaviours:
            text += f"{name_of(behaviour)}: {behaviour}\n"
            models.append(f"  - {{name: {name_of(behaviour)}, batch_size: 8}}\n")
        plan.write_text(text)
        file = self.fleet.folder / f"{name}.yaml"
        file.write_text(f"name: {name}\nloader: timm\nmodels:\n" + "".join(models))
        return str(file)

    def submit(self, suite, *words):
        return self.fleet.submit("--suite", suite, "--engine", "script", "--scripts", str(self.scripts),
                                 "--backend=inductor", *words)

    def check(self, job, expected):
        rows = self.fleet.rows(job)
        self.assertEqual(sorted(rows), sorted(name_of(b) for b in expected), "one row a model")
        for behaviour, (words, says) in expected.items():
            with self.subTest(behaviour=behaviour):
                row = rows[name_of(behaviour)]
                self.assertEqual((row["outcome"], row["status"], row["phase"], row["blame"]), words, row)
                self.assertIn(says, row["error"] + "\n" + "\n".join(row["notes"]))
                if row["outcome"] == "passed":
                    continue
                self.assertEqual(len(row["error"].splitlines()), 1, "the one useful line")
                self.assertNotIn("speedup", row["metrics"], "a failure is no number")
        return rows

    def test_every_behaviour_is_one_row(self):
        job = self.submit(self.suite("behaviours", PERFORMANCE), "--performance", "--inference", "--bfloat16",
                          "--timeout", str(TIMEOUT_S))
        self.fleet.finish(job, code=3, timeout_s=240)  # some are lost, by their own doing
        rows = self.check(job, PERFORMANCE)
        coverage = self.fleet.coverage(job)
        self.assertEqual(coverage["planned"], len(PERFORMANCE))
        for outcome in ("passed", "failed", "lost"):
            self.assertEqual(coverage[outcome], sum(words[0] == outcome for words, _ in PERFORMANCE.values()))
        left = [c for c in self.fleet.processes().values() if str(self.scripts) in c]
        self.assertEqual(left, [], "nothing of a tree is left")

        good = rows[name_of("ok(2.5, 0.1, 0.01)")]
        self.assertAlmostEqual(good["metrics"]["speedup"], 1.5)
        self.assertEqual(good["metrics"]["eager_peak_memory_bytes"], 5e8)
        self.assertEqual(rows["fd_list"]["in_force"]["upstream.fds"], "0 1 2")
        self.assertEqual(rows["torch_version_9_9"]["in_force"]["upstream.torch_version"], "9.9")
        self.assertNotIn("fallbacks_to_eager", rows["old_header"]["metrics"])
        self.check_environment(job, rows["env_dump"])

    def check_environment(self, job, row):
        """The argument vector, folder and variables of a child, as it saw them."""
        log = self.fleet.ctl("logs", job, "env_dump").expect(0).out
        seen = {line.split(" ", 1)[0]: json.loads(line.split(" ", 1)[1])
                for line in log.splitlines() if line.startswith(("ENVIRONMENT ", "ARGV "))}
        work = row["in_force"]["work_dir"]
        self.assertEqual(seen["ARGV"], [
            str(self.scripts / "timm_models.py"), "--performance", "--inference", "--bfloat16",
            "--backend=inductor", f"--timeout={TIMEOUT_S}", f"--output={work}/upstream.csv", "--only=env_dump"])
        self.assertEqual(json.loads(row["in_force"]["argv"])[1:], seen["ARGV"], "stored with the result")
        self.assertEqual(row["in_force"]["upstream.cwd"], work)
        self.assertTrue(work.startswith(str(self.fleet.folder)))
        variables = seen["ENVIRONMENT"]
        self.assertEqual(variables["CUDA_VISIBLE_DEVICES"], "")
        self.assertNotIn("DYNBENCH_TEST_MARK", variables)
        self.assertIn("TORCHINDUCTOR_CACHE_DIR", variables)

    def test_accuracy_words(self):
        job = self.submit(self.suite("words", ACCURACY), "--accuracy", "--inference", "--float32")
        self.fleet.finish(job, code=1)
        rows = self.check(job, ACCURACY)
        self.assertEqual(rows["rule"]["accuracy_rule"], "rmse")  # a further column survives
        self.assertAlmostEqual(rows["rule"]["metrics"]["accuracy_distance"], 0.0005)
        self.assertAlmostEqual(rows["status_pass"]["metrics"]["compilation_latency_s"], 3.25)

    def test_all_legs_run_and_are_counted_alike(self):
        """A failing warm-up leaves rows in both tests and both modes, and one exit code."""
        job = self.submit(self.suite("legs", ["warmup-failed", "status(fail_accuracy)"]),
                          "--mode", "inference,training", "--amp")
        self.fleet.finish(job, code=1)
        rows = [(r["experiment"]["model"], r["experiment"]["mode"], r["experiment"]["test"], r["outcome"])
                for r in self.fleet.results(job)["results"]]
        self.assertEqual(len(rows), 8)
        for mode in ("inference", "training"):
            for test in ("performance", "accuracy"):
                self.assertIn(("warmup_failed", mode, test, "failed"), rows)
            self.assertIn(("status_fail_accuracy", mode, "accuracy", "failed"), rows)
            self.assertIn(("status_fail_accuracy", mode, "performance", "passed"), rows)

    def test_a_flickering_model_is_kept_run_by_run(self):
        suite = self.suite("flicker", ["flip(0.5)"])
        seen = []
        for _ in range(10):
            job = self.submit(suite, "--accuracy", "--inference", "--float32")
            self.fleet.ctl("wait", job)
            seen.append(self.fleet.rows(job)["flip_0_5"]["status"])
        self.assertEqual(seen, ["pass", "eager_two_runs_differ"] * 5)

    def test_cancelling_ends_the_tree(self):
        job = self.submit(self.suite("cancelled", ["hang-ignore-term", "exit(0)"]), "--performance", "--inference",
                          "--bfloat16")
        wait_until(lambda: self.fleet.phase(job, "hang_ignore_term") == "compile", "the model to hang")
        self.fleet.ctl("cancel", job, "--reason", "enough").expect(0)
        wait_until(lambda: self.fleet.coverage(job)["cancelled"] > 0, "the end of the attempt")
        wait_until(lambda: not [c for c in self.fleet.processes().values() if str(self.scripts) in c], "its tree's end")
        self.assertEqual(self.fleet.rows(job)["hang_ignore_term"]["error"], "enough")

    def test_a_killed_worker_leaves_nothing_running(self):
        job = self.submit(self.suite("killed", ["setsid-child", "hang-ignore-term"]), "--performance", "--inference",
                          "--bfloat16", "--only", "hang_ignore_term")
        wait_until(lambda: self.fleet.phase(job, "hang_ignore_term") == "compile", "the model to hang")
        self.fleet.workers[0].kill9()
        wait_until(lambda: not [c for c in self.fleet.processes().values()
                                if str(self.scripts) in c or "program-lane" in c], "the end of all that it owned")
        self.fleet.start_worker(0)
        self.fleet.ctl("cancel", job, "--reason", "done").expect(0)

    def test_scripts_that_a_worker_lacks_are_named(self):
        job = self.fleet.submit("--suite", self.suite("missing", ["ok"]), "--engine", "script", "--scripts",
                                "/no/such/folder", "--backend=inductor", "--performance", "--inference", "--bfloat16")
        self.fleet.finish(job, code=3)
        row = self.fleet.rows(job)["ok"]
        self.assertEqual(row["outcome"], "lost")
        self.assertIn("/no/such/folder/timm_models.py", row["error"])

    def test_a_relative_folder_is_refused(self):
        ran = self.fleet.ctl("submit", "--suite", self.suite("relative", ["ok"]), "--engine", "script", "--scripts",
                             "scripts", "--performance", "--inference")
        self.assertEqual(ran.code, 2, ran)
        self.assertIn("absolute", ran.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
