"""Method: register the default Python environment in the folder that all integration tests share,
as a person would (`dynbench-worker env add`), which compiles the runner; then again, which must find
it done. Then a Python without torch, which must be refused and leave no record."""

import os
import shutil
import sys
import tempfile
import unittest

from fleet import BIN, ENVIRONMENTS, PYTHON, base_environment, read_json, run

WORKER = str(BIN / "dynbench-worker")


def env_add(name: str, python: str, folder: str = str(ENVIRONMENTS), timeout_s: float = 550):
    return run(WORKER, "env", "add", name, "--python", python, "--environments-dir", folder,
               env=base_environment(), timeout_s=timeout_s)


class Environment(unittest.TestCase):
    def test_add_compiles_the_runner_once(self):
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        env_add("default", PYTHON).expect(0)
        record = read_json(ENVIRONMENTS / "default.json")
        self.assertTrue(record, "no record was written")
        runners = {path: path.stat().st_mtime_ns for path in ENVIRONMENTS.glob("runners/*/dynbench-runner")}
        self.assertTrue(runners, "no runner was compiled")
        env_add("default", PYTHON).expect(0)
        again = {path: path.stat().st_mtime_ns for path in ENVIRONMENTS.glob("runners/*/dynbench-runner")}
        self.assertEqual(runners, again, "the runner was compiled again")
        listing = run(WORKER, "env", "list", "--environments-dir", str(ENVIRONMENTS), env=base_environment())
        self.assertIn("default", listing.expect(0).out)

    def test_python_without_torch_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="größer ") as folder:
            bare = shutil.which("python3", path="/usr/bin") or sys.executable
            ran = env_add("bare", bare, folder, timeout_s=60)
            self.assertIn(ran.code, (2, 5), ran)
            self.assertIn("torch", ran.err)
            self.assertIn(bare, ran.err, "the message names the python")
            self.assertFalse([name for name in os.listdir(folder) if name.endswith(".json")])

    def test_missing_python_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = env_add("gone", "/nonexistent/python", folder, timeout_s=30)
            self.assertIn(ran.code, (2, 5), ran)
            self.assertIn("/nonexistent/python", ran.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
