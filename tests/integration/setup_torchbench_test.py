"""tools/setup-torchbench on a Python environment of its own: registration, installers, cloning.

The environment is a bare venv and the checkout the small package of tests/props, copied into a git
repository, so nothing needs torch or a network; each test reads what the script said, what it exits
with, and whether the package can be imported from another folder.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from slow_index import SlowIndex

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(SOURCE, "tools", "setup-torchbench")


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
                   check=True, capture_output=True)


class SetupTorchbench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="setup torchbench ")
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = os.path.join(self.folder, "environments", "bare")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.environment], check=True)
        self.checkout = os.path.join(self.folder, "a checkout")
        shutil.copytree(os.path.join(SOURCE, "tests", "props", "torchbenchmark"), self.checkout)
        git(self.checkout, "init", "--quiet", "--initial-branch=main")
        git(self.checkout, "add", ".")
        git(self.checkout, "commit", "--quiet", "-m", "models")
        self.log = os.path.join(self.folder, "installed")

    def run_script(self, *arguments, status=0, **variables):
        done = subprocess.run(
            [SCRIPT, "--environment", self.environment, *arguments], text=True, cwd="/",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
            env=dict(os.environ, XDG_DATA_HOME=os.path.join(self.folder, "data"),
                     INSTALL_LOG=self.log, **variables))
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def imported_from(self):
        done = subprocess.run(
            [os.path.join(self.environment, "bin", "python"), "-I", "-c",
             "import torchbenchmark; print(torchbenchmark.HERE)"],
            cwd="/", capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def test_registers_a_checkout_once_and_takes_it_out_again(self):
        said = self.run_script("--checkout", self.checkout)
        self.assertIn("registered: " + self.checkout, said)
        self.assertEqual(self.imported_from(), os.path.join(self.checkout, "torchbenchmark"))
        self.assertIn("registered already", self.run_script("--checkout", self.checkout))
        self.run_script("--remove")
        self.assertEqual(self.imported_from(), "")
        self.assertIn("has no TorchBench", self.run_script("--remove"))

    def test_installs_what_a_model_needs_once(self):
        said = self.run_script("--checkout", self.checkout, "positional", "canary")
        self.assertIn("canary: has no install.py", said)
        with open(self.log, encoding="utf-8") as file:
            self.assertEqual(file.read(), "positional in positional\n")
        self.assertIn("positional: installed already",
                      self.run_script("--checkout", self.checkout, "positional"))
        with open(self.log, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1)
        with open(os.path.join(self.checkout, "torchbenchmark", "models", "positional",
                               "install.py"), "a", encoding="utf-8") as file:
            file.write("# another version\n")
        self.assertIn("running its install.py",
                      self.run_script("--checkout", self.checkout, "positional"))

    def test_an_installer_that_fails_does_not_stop_the_others(self):
        said = self.run_script("--checkout", self.checkout, "--all", status=1)
        self.assertIn("a_library_that_nobody_has cannot be had", said)
        self.assertIn("1 of 10 models could not be installed: needs_library", said)
        self.assertTrue(os.path.exists(self.log))

    def test_clones_once(self):
        where = dict(DYNBENCH_TORCHBENCH_URL=self.checkout)
        self.assertIn("cloning", self.run_script("--commit", "main", **where))
        cloned = os.path.join(self.folder, "data", "dynbench", "torchbench")
        self.assertEqual(self.imported_from(), os.path.join(cloned, "torchbenchmark"))
        self.assertNotIn("cloning", self.run_script(DYNBENCH_TORCHBENCH_URL="/nowhere"))

    def test_names_what_the_models_share_and_the_environment_lacks(self):
        util = os.path.join(self.checkout, "torchbenchmark", "util")
        os.mkdir(util)
        with open(os.path.join(util, "model.py"), "w", encoding="utf-8") as file:
            file.write("import something_shared\n")
        said = self.run_script("--checkout", self.checkout, status=1)
        self.assertIn("No module named 'something_shared'", said)
        self.assertIn("--requirements", said)

    def test_an_index_that_answers_late_is_not_taken_for_absent(self):
        """Two seconds an answer; nothing of ours probes the network with a limit of its own."""
        subprocess.run([sys.executable, "-m", "venv", "--clear", self.environment], check=True)
        with open(os.path.join(self.checkout, "requirements.txt"), "w", encoding="utf-8") as file:
            file.write("slow-thing\n")
        index = SlowIndex(late_s=2)
        self.addCleanup(index.close)
        # This machine's own settings of pip stay out, so that every answer is the late one's.
        pip = dict(PIP_CONFIG_FILE=os.devnull, PIP_FIND_LINKS="", PIP_EXTRA_INDEX_URL="",
                   PIP_CONSTRAINT="", PIP_NO_CACHE_DIR="1", PIP_INDEX_URL=index.url,
                   no_proxy="127.0.0.1")
        said = self.run_script("--checkout", self.checkout, "--requirements", **pip)
        self.assertIn("installing 1 of the checkout's requirements", said)
        self.assertEqual(index.asked, ["/simple/slow-thing/", "/slow_thing-1.0-py3-none-any.whl"])
        with open(os.path.join(self.checkout, "requirements.txt"), "a", encoding="utf-8") as file:
            file.write("never-made\n")
        said = self.run_script("--checkout", self.checkout, "--requirements", status=1, **pip)
        self.assertIn("never-made", said)
        self.assertIn("set PIP_INDEX_URL", said)

    def test_what_it_refuses(self):
        for arguments, words, status in (
                (["--checkout", self.folder], "is no checkout of pytorch/benchmark", 1),
                (["--checkout", self.checkout, "--commit", "v9"], "not at v9", 1),
                (["--checkout", self.checkout, "no_such"], "has no model no_such", 1),
                (["--checkout", self.checkout, "--requirements"], "has no requirements.txt", 1),
                (["--nonsense"], "unknown argument", 2)):
            self.assertIn(words, self.run_script(*arguments, status=status))
        said = self.run_script("--environment", os.path.join(self.folder, "none"), status=1)
        self.assertIn("make it with tools/setup-python", said)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
