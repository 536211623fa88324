"""Method: recipes with a wheel that this test makes (a package of its own, and a link to the torch of
the default environment) go through a real coordinator, two real workers and dynbenchctl: built, sent,
measured in, derived from, paired, dropped. Worker and coordinator are killed in the middle; nothing
half made may ever be registered."""

import json
import os
import unittest

from fleet import Fleet, FleetTest, wait_until
from recipes import PATCH, file_states, folder_size, interpreter, write_wheel

class Recipes(FleetTest):
    fleet_options = {"workers": 1, "own_environments": True}

    def recipe(self, name: str, wheel: str) -> str:
        path = self.fleet.folder / f"{name}.yaml"
        path.write_text(f"name: {name}\npython: {interpreter()}\nwheels: [{wheel}]\n", encoding="utf-8")
        return str(path)

    def test_a_bad_recipe_is_refused_with_its_line(self):
        path = self.fleet.folder / "bad.yaml"
        path.write_text("name: bad\npython: 3.11\nrequirement: [torch]\n", encoding="utf-8")
        ran = self.fleet.ctl("env", "build", path).expect(2)
        self.assertIn("bad.yaml:3:1", ran.err)
        self.assertIn("requirements", ran.err)
        self.fleet.ctl("env", "build", self.recipe("nowhere", "no-1-py3-none-any.whl")).expect(2)

    def test_a_build_that_fails_says_why_and_registers_nothing(self):
        (self.fleet.folder / "broken-1.0-py3-none-any.whl").write_bytes(b"no zip")
        ran = self.fleet.ctl("env", "build", self.recipe("broken", "broken-1.0-py3-none-any.whl"), "--wait", "--json",
                             timeout_s=120)
        self.assertEqual(ran.code, 3, ran)
        made = ran.json()["environment"]
        self.assertEqual(made["state"], "failed")
        self.assertIn("installing packages failed", made["reason"])
        self.assertIn("== installing packages", ran.err)
        folder = self.fleet.environments(0)
        self.assertFalse((folder / "broken.json").exists())
        self.assertEqual([path.name for path in folder.iterdir() if path.name.startswith(".making")], [])
        # The worker takes work again.
        job = self.fleet.submit(*self.fleet.only("Good"), "--performance", "--backend", "eager")
        self.fleet.finish(job)

    def test_a_name_that_was_given_by_hand_stays(self):
        wheel = write_wheel(self.fleet.folder, "9.0", 0, 9)
        ran = self.fleet.ctl("env", "build", self.recipe("default", wheel)).expect(5)
        self.assertIn("registered by hand", ran.err)

    def test_a_patch_that_does_not_apply_names_file_and_hunk(self):
        patch = self.fleet.folder / "no.patch"
        patch.write_text("--- a/torch/version.py\n+++ b/torch/version.py\n@@ -1,2 +1,2 @@\n-nothing like this\n"
                         "+x\n nor this\n", encoding="utf-8")
        ran = self.fleet.ctl("env", "derive", "default", "--patch", patch, "--wait", timeout_s=180).expect(3)
        self.assertIn("torch/version.py", ran.err)
        self.assertRegex(ran.err, r"Hunk #1 FAILED")
        patch.write_text(PATCH, encoding="utf-8")
        ran = self.fleet.ctl("env", "derive", "default", "--patch", patch, "--wait", timeout_s=180).expect(3)
        self.assertIn("hosttorch_extra/__init__.py, which is not in the base", ran.err)
        ran = self.fleet.ctl("env", "derive", "nowhere", "--patch", patch).expect(5)
        self.assertIn("has an environment nowhere", ran.err)


class TwoHosts(unittest.TestCase):
    def environment(self, fleet: Fleet, name: str) -> dict:
        for made in fleet.ctl("env", "list", "--json").expect().json()["fleet"]:
            if made["name"] == name:
                return made
        return {}

    def wait_state(self, fleet: Fleet, name: str, state: str, timeout_s: float = 120) -> dict:
        return wait_until(lambda: made if (made := self.environment(fleet, name)).get("state") == state else None,
                          f"environment {name} to be {state}", timeout_s)

    def wait_everywhere(self, fleet: Fleet, name: str, workers: int) -> dict:
        def everywhere():
            made = self.environment(fleet, name)
            states = [place["state"] for place in made.get("workers", [])]
            return made if states == ["ready"] * workers else None
        return wait_until(everywhere, f"environment {name} on {workers} workers", 180)

    def test_built_once_sent_measured_derived_and_dropped(self):
        with Fleet(workers=2, own_environments=True, start=False) as fleet:
            fleet.start_coordinator()
            fleet.start_worker(0)
            builder = fleet.ctl("workers", "--json").expect().json()["workers"][0]["id"]
            wheel = write_wheel(fleet.folder, "1.0", 64, 1)
            recipe = fleet.folder / "made.yaml"
            recipe.write_text(f"name: made\npython: {interpreter()}\nwheels: [{wheel}]\n", encoding="utf-8")
            fleet.ctl("env", "build", recipe).expect()

            # The builder dies in the middle, and the coordinator after it: both go on.
            unfinished = fleet.environments(0)
            wait_until(lambda: any(unfinished.glob(".making-*")), "the build to begin")
            fleet.workers[0].kill9()
            self.assertFalse((unfinished / "made.json").exists())
            fleet.start_worker(0)
            wait_until(lambda: self.environment(fleet, "made").get("reason", "").startswith("making"),
                       "the build to begin again")
            fleet.coordinator.kill9()
            self.assertEqual(self.no_half_made(fleet, 0), [])
            fleet.start_coordinator()
            fleet.wait_connected(0)
            made = self.wait_state(fleet, "made", "ready")
            self.assertEqual(made["builder"], builder)
            self.assertEqual(len(made["id"]), 64)

            # One worker: nothing but the wheel, which came from here, and the manifest is with the coordinator.
            objects = fleet.folder / "coordinator" / "objects"
            self.assertEqual(folder_size(objects)[0], 2, list(file_states(objects)))

            # A worker that comes later gets it; killed in the middle of the transfer, it goes on.
            fleet.start_worker(1, wait=False)
            arrived = fleet.environments(1) / "objects"
            wait_until(lambda: file_states(arrived), "objects to arrive")
            fleet.workers[1].kill9()
            self.assertEqual(self.no_half_made(fleet, 1), [])
            fleet.start_worker(1)
            self.wait_everywhere(fleet, "made", 2)
            site = next((fleet.environments(1) / made["id"][:32]).glob("lib/python*/site-packages"))
            self.assertEqual((site / "hosttorch_extra/__init__.py").read_text(), "VALUE = 1\n")
            script = next((fleet.environments(1) / made["id"][:32] / "bin").glob("pip3*"))
            self.assertIn("environments 1", script.read_text())
            self.assertNotIn("environments 0", script.read_text())

            # Something is measured in it, on the worker that did not make it.
            fleet.ctl("workers", "drain", builder, "--deadline", "0").expect()
            job = fleet.submit(*fleet.only("Good"), "--performance", "--backend", "eager", "--environment", "made")
            fleet.finish(job)
            row = fleet.rows(job)["Good"]
            self.assertEqual((row["outcome"], row["experiment"]["environment"]), ("passed", "made"))
            self.assertNotEqual(row["worker"], builder)
            fleet.ctl("workers", "release", builder).expect()

            # Derived: another hash, one inode for what is the same, and a pair of both on one worker.
            patch = fleet.folder / "change.patch"
            patch.write_text(PATCH, encoding="utf-8")
            before = folder_size(objects)
            ran = fleet.ctl("env", "derive", "made", "--patch", patch, "--name", "changed", "--worker", builder,
                            "--wait", "--json", timeout_s=240).expect()
            changed = ran.json()["environment"]
            self.assertEqual([place["state"] for place in changed["workers"]], ["ready", "ready"], ran)
            self.assertNotEqual(changed["hash"], made["hash"])
            # What both have did not travel: the patch, the manifest, the changed file, and what names its own place.
            after = folder_size(objects)
            self.assertLess(after[1] - before[1], 1 << 20, (before, after))
            self.assertLess(after[0] - before[0], 40, (before, after))
            for index, name in ((0, "made"), (1, "changed")):
                hashes = json.loads((fleet.environments(index) / f"{name}.json").read_text())
                self.assertEqual(hashes["hash"], {"made": made, "changed": changed}[name]["hash"])
            for index in range(2):
                base, new = (next((fleet.environments(index) / e["id"][:32]).glob("lib/python*/site-packages"))
                             / "hosttorch_extra" for e in (made, changed))
                self.assertEqual((base / "__init__.py").read_text(), "VALUE = 1\n")
                self.assertEqual((new / "__init__.py").read_text(), "VALUE = 2\n")
                self.assertEqual((base / "data_0.bin").stat().st_ino, (new / "data_0.bin").stat().st_ino)
            job = fleet.submit(*fleet.only("Good"), "--performance", "--backend", "eager", "--repeat", "5",
                               "--base", "made", "--new", "changed", "--rounds", "3..5")
            fleet.finish(job, timeout_s=300)
            rows = fleet.results(job)["results"]
            passed = {row["experiment"]["environment"] for row in rows if row["outcome"] == "passed"}
            self.assertEqual(passed, {"made", "changed"})

            # What a job names stays; the rest goes, also on a worker that is away meanwhile.
            for worker in fleet.ctl("workers", "--json").expect().json()["workers"]:
                fleet.ctl("workers", "drain", worker["id"], "--deadline", "0").expect()
            job = fleet.submit(*fleet.only("Good"), "--performance", "--backend", "eager", "--environment", "made")
            dry = fleet.ctl("env", "gc", "--dry-run", "--json").expect().json()
            self.assertEqual([e["name"] for e in dry["dropped"]], ["changed"])
            kept = fleet.ctl("env", "gc", "--unused-for", "1h", "--json").expect().json()
            self.assertEqual(kept["dropped"], [])
            fleet.workers[1].stop()
            gone = fleet.ctl("env", "gc", "--json").expect().json()
            self.assertEqual([e["name"] for e in gone["dropped"]], ["changed"])
            wait_until(lambda: not (fleet.environments(0) / "changed.json").exists(), "the record to go")
            wait_until(lambda: not (fleet.environments(0) / changed["id"][:32]).exists(), "the folder to go")
            self.assertTrue((fleet.environments(1) / "changed.json").exists())
            fleet.start_worker(1)
            wait_until(lambda: not (fleet.environments(1) / changed["id"][:32]).exists(), "the other folder to go")
            fleet.ctl("cancel", job, "--reason", "done").expect()
            gone = fleet.ctl("env", "gc", "--json").expect().json()
            self.assertEqual([e["name"] for e in gone["dropped"]], ["made"])
            self.assertGreater(gone["object_bytes"], 64 << 20)
            for index in range(2):
                folder = fleet.environments(index)
                wait_until(lambda: not (folder / made["id"][:32]).exists(), "the folders to go")
                # One that was taken from the environment `default` is a link of its file and takes no space.
                wait_until(lambda: not [path for path, state in file_states(folder / "objects").items()
                                        if state.st_nlink == 1], "the objects to go")
                self.assertTrue((folder / "default.json").exists())
            self.assertEqual(fleet.ctl("env", "list", "--json").expect().json()["fleet"], [])

    @staticmethod
    def no_half_made(fleet: Fleet, index: int) -> list[str]:
        """Records whose environment is not whole."""
        folder = fleet.environments(index)
        return [path.name for path in folder.glob("*.json") if path.name != "default.json"
                and not os.path.exists(os.path.join(json.loads(path.read_text())["prefix"], "bin", "python"))]


if __name__ == "__main__":
    unittest.main(verbosity=2)
