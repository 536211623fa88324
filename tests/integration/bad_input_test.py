"""Method: a table of wrong command lines against a real coordinator. Each must exit 2 (usage), name
the argument and help on (the nearest valid one, a line number), and leave no job behind. Then the
coordinator that is not there: exit 3 within three seconds, naming the address."""

import pathlib
import socket
import subprocess
import tempfile
import unittest

from fleet import BIN, FleetTest, base_environment, run

# words of `submit` -> what stderr must name
BAD = [
    (["--suite", "timm", "--models", "mobilenetv2_10"], ["mobilenetv2_10", "did you mean", "mobilenetv2_100"]),
    (["--suite", "timm", "--only", "mobilenetv2_10"], ["mobilenetv2_10", "did you mean", "mobilenetv2_100"]),
    (["--suite", "timm", "--models", "BERT_pytorch"], ["BERT_pytorch"]),  # of another suite
    (["--suite", "tim"], ["tim", "did you mean", "timm"]),
    (["--suite", "timm", "--perfomance"], ["--perfomance", "--performance"]),
    (["--suite", "timm", "--bfloat16", "--amp"], ["--bfloat16", "--amp"]),
    (["--suite", "timm", "--precision", "bf17"], ["bf17"]),
    (["--suite", "timm", "--mode", "interference"], ["interference", "inference"]),
    (["--suite", "timm", "--configuration", "defualt"], ["defualt", "default"]),
    (["--suite", "timm", "--batch-size", "zero"], ["batch-size", "zero"]),
    (["--suite", "timm", "--batch-size", "0"], ["batch-size"]),
    (["--suite", "timm", "--repeat", "-3"], ["repeat"]),
    (["--suite", "timm", "--filter", "("], ["filter", "("]),
    (["--suite", "timm", "--partition-id", "1"], ["partition-id", "total-partitions"]),  # without effect
    (["--suite", "timm", "--backend", "eager", "--freezing"], ["freezing"]),  # without effect
    (["--suite", "timm", "--training", "--freezing"], ["freezing"]),  # inference only
    (["--suite", "timm", "--output", "a.csv"], ["--output", "--wait"]),  # without effect
    (["--suite", "timm", "--wait-timeout", "3"], ["--wait-timeout", "--wait"]),  # without effect
    (["--suite", "timm", "--accuracy", "--repeat", "5"], ["--repeat"]),  # without effect
    (["--suite", "timm", "--set-env", "NOVALUE"], ["NOVALUE"]),
    (["--suite", "timm", "--configuration", "default", "--backend", "inductor"], ["--configuration", "--backend"]),
    (["--only", "path:relative.py,class:Net"], ["relative.py", "absolute"]),
    (["--only", "path:/nonexistent/model.py,class:a b"], ["'a b'", "class"]),
    (["--only", "path:/nonexistent/model.py,class:Net"], ["/nonexistent/model.py"]),
    (["--suite", "/nonexistent/suite.yaml"], ["/nonexistent/suite.yaml"]),
    ([], ["--suite"]),
]

BAD_SUITES = [
    # text, line that must be named, words
    ("schema: dynbench.suite/1\nname: mine\nloader: timm\nmodels:\n  - name: a\n    batch_size: many\n", 6, ["batch_size"]),
    ("schema: dynbench.suite/1\nname: mine\nloader: timm\nmodells:\n  - name: a\n", 4, ["modells", "models"]),
    ("schema: dynbench.suite/1\nname: mine\nloader: timm\nname: again\nmodels: []\n", 4, ["name"]),
    ("schema: dynbench.suite/1\nname: mine\n\tloader: timm\n", 3, []),
    ("schema: dynbench.suite/1\nname: [unclosed\n", 0, []),
]


class BadInput(FleetTest):
    fleet_options = {"workers": 0}

    def assert_nothing_dispatched(self):
        jobs = self.fleet.ctl("status", "--json").expect(0).json()["jobs"]
        self.assertEqual([job for job in jobs if job["planned"]], [])

    def test_wrong_words(self):
        for words, names in BAD:
            for verb in ("submit", "plan"):
                if verb == "plan" and any(word.startswith("--wait") for word in [*words, *names]):
                    continue
                with self.subTest(verb=verb, words=words):
                    ran = self.fleet.ctl(verb, *words)
                    self.assertEqual(ran.code, 2, ran)
                    self.assertEqual(ran.out, "", "nothing on stdout")
                    for name in names:
                        self.assertIn(name, ran.err)
                    self.assertNotIn("terminate called", ran.err)
                    self.assertLess(len(ran.err.splitlines()), 12, "short enough to read")
        self.assert_nothing_dispatched()

    def test_wrong_suite_files(self):
        with tempfile.TemporaryDirectory(prefix="größer ") as folder:
            for text, line, names in BAD_SUITES:
                with self.subTest(text=text):
                    file = pathlib.Path(folder) / "mine.yaml"
                    file.write_text(text, encoding="utf-8")
                    ran = self.fleet.ctl("submit", "--suite", str(file))
                    self.assertEqual(ran.code, 2, ran)
                    self.assertRegex(ran.err, rf"mine\.yaml:{line or '[0-9]+'}\b")
                    for name in names:
                        self.assertIn(name, ran.err)
                    validate = self.fleet.ctl("suite", "validate", str(file))
                    self.assertEqual(validate.code, 2, validate)
        self.assert_nothing_dispatched()

    def test_unknown_verb_and_job(self):
        ran = self.fleet.ctl("sbumit", "--suite", "timm")
        self.assertEqual(ran.code, 2, ran)
        self.assertIn("submit", ran.err)
        for words in (["results", "4711"], ["wait", "4711"], ["cancel", "4711", "--reason", "x"], ["status", "4711"],
                      ["logs", "4711", "resnet50"], ["retry", "4711", "--failed"], ["repro", "4711"]):
            with self.subTest(words=words):
                ran = self.fleet.ctl(*words)
                self.assertEqual(ran.code, 2, ran)
                self.assertIn("4711", ran.err)

    def test_empty_selection(self):
        ran = self.fleet.ctl("submit", "--suite", "timm", "--filter", "matches_nothing")
        self.assertEqual(ran.code, 2, ran)
        self.assertIn("matches_nothing", ran.err)
        self.assert_nothing_dispatched()

    def test_cancel_without_reason(self):
        ran = self.fleet.ctl("cancel", "1")
        self.assertEqual(ran.code, 2, ran)
        self.assertIn("--reason", ran.err)


class NoCoordinator(unittest.TestCase):
    def free_port(self) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{probe.getsockname()[1]}"

    def test_coordinator_down(self):
        address = self.free_port()
        env = base_environment() | {"DYNBENCH_COORDINATOR": address}
        for words in (["status"], ["submit", "--suite", "timm"], ["results", "1"], ["workers"]):
            with self.subTest(words=words):
                ran = run(str(BIN / "dynbenchctl"), *words, env=env, timeout_s=20)
                self.assertEqual(ran.code, 3, ran)
                self.assertLess(ran.seconds, 3, "within three seconds")
                self.assertIn(address, ran.err)
                self.assertIn("local up", ran.err, "says what to do")

    def test_silent_coordinator(self):
        """Accepts connections and never answers."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            env = base_environment() | {"DYNBENCH_COORDINATOR": f"127.0.0.1:{silent.getsockname()[1]}"}
            ran = run(str(BIN / "dynbenchctl"), "status", env=env, timeout_s=60)
            self.assertEqual(ran.code, 3, ran)

    def test_a_worker_takes_the_flag_before_the_variable(self):
        """Both spellings of `run`; a usage error shows at once which of the two was taken."""
        with tempfile.TemporaryDirectory() as state:
            env = base_environment() | {"DYNBENCH_COORDINATOR": "127.0.0.1:1", "DYNBENCH_STATE_DIR": "/nonexistent"}
            for words in ([], ["run"]):
                with self.subTest(words=words):
                    ran = run(str(BIN / "dynbench-worker"), "--coordinator", "no-port", *words, "--state-dir", state,
                              env=env, timeout_s=20)
                    self.assertEqual(ran.code, 2, ran)
                    self.assertIn("no-port", ran.err)

    def test_wrong_listen_address(self):
        with tempfile.TemporaryDirectory() as state:
            for address in ("0.0.0.0:0", "[::]:0"):  # not loopback, and no --insecure
                done = subprocess.run([BIN / "dynbench-coordinator", "--listen", address, "--state-dir", state],
                                      capture_output=True, text=True, timeout=20, env=base_environment())
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("--insecure", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
