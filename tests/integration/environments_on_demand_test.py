"""Method: three real workers with environments folders of their own come and go around a coordinator whose
objects are deleted, as after a start from a backup. Holders and coordinator are killed in the middle of sending. In
the end everybody has the same files, byte for byte, and what nobody needed was not sent."""

import json
import random
import shutil
import unittest

from fleet import Fleet, run, wait_until
from recipes import folder_size, interpreter, write_wheel


class OnDemand(unittest.TestCase):
    def place(self, fleet: Fleet, index: int, name: str = "made") -> dict:
        """Of worker `index`, as `env show` has it."""
        identity = json.loads((fleet.worker_state(index) / "identity.json").read_text())["worker_id"]
        for made in fleet.ctl("env", "list", "--json").expect().json()["fleet"]:
            for place in made["workers"]:
                if made["name"] == name and place["worker"] == identity:
                    return place
        return {"state": "", "reason": ""}

    def wait_place(self, fleet: Fleet, index: int, state: str, reason: str = "", name: str = "made") -> dict:
        def reached():
            place = self.place(fleet, index, name)
            return place if place["state"] == state and reason in place["reason"] else None
        return wait_until(reached, f"{name} on worker {index} to be {state}: {reason}", 120)

    def restart_without_objects(self, fleet: Fleet) -> None:
        """From a real backup, which has none."""
        state = fleet.folder / "coordinator"
        copy = fleet.folder / f"copy-{random.randrange(1 << 30)}.db"
        fleet.ctl("backup", copy).expect()
        fleet.coordinator.kill9()
        for path in state.glob("dynbench.db*"):
            path.unlink()
        shutil.rmtree(state / "objects")
        copy.rename(state / "dynbench.db")
        fleet.start_coordinator()

    def recipe(self, fleet: Fleet, name: str, wheel: str):
        path = fleet.folder / f"{name}.yaml"
        path.write_text(f"name: {name}\npython: {interpreter()}\nwheels: [{wheel}]\n", encoding="utf-8")
        return path

    def test_files_come_from_whoever_has_them(self):
        with Fleet(workers=2, own_environments=True, start=False) as fleet:  # at a time
            fleet.start_coordinator()
            fleet.start_worker(0)
            objects = fleet.folder / "coordinator" / "objects"
            made = self.recipe(fleet, "made", write_wheel(fleet.folder, "1.0", 96, 1))
            fleet.ctl("env", "build", made, "--wait", timeout_s=180).expect()
            self.assertEqual(folder_size(objects)[0], 2)  # the wheel, the manifest

            # Who has it is away: said, and work goes on meanwhile.
            fleet.workers[0].stop()
            self.restart_without_objects(fleet)
            self.assertFalse(objects.exists())
            fleet.start_worker(1)
            self.wait_place(fleet, 1, "lacking", "which has it and is away")
            self.assertIn("which has it and is away", fleet.ctl("env", "show", "made").expect().out)
            self.assertIn("1 lacking", fleet.ctl("env", "list").expect().out)
            job = fleet.submit(*fleet.only("Good"), "--performance", "--backend", "eager")
            fleet.finish(job)

            # It comes, is killed in the middle, and so is the coordinator.
            fleet.start_worker(0, wait=False)
            wait_until(lambda: folder_size(objects)[1] > 8 << 20, "files to be sent")
            fleet.workers[0].kill9()
            self.wait_place(fleet, 1, "lacking", "which has it and is away")
            sent = folder_size(objects)
            fleet.start_worker(0, wait=False)
            wait_until(lambda: folder_size(objects)[1] > sent[1], "more to be sent")
            fleet.coordinator.kill9()
            self.assertGreaterEqual(folder_size(objects)[1], sent[1], "what was sent has to stay")
            fleet.start_coordinator()
            self.wait_place(fleet, 1, "ready")
            self.wait_place(fleet, 0, "ready")

            # Another holder serves, once the first has vanished and nothing is left of what it sent.
            fleet.workers[0].kill9()
            self.restart_without_objects(fleet)
            fleet.start_worker(2)
            self.wait_place(fleet, 2, "ready")
            self.assert_same(fleet, "made")

            # Nobody has it but one that does not come: made again by another one.
            again = self.recipe(fleet, "again", write_wheel(fleet.folder, "2.0", 1, 2))
            fleet.workers[1].stop()
            first = fleet.ctl("env", "build", again, "--wait", "--json", timeout_s=180).expect().json()["environment"]
            fleet.workers[2].kill9()
            fleet.start_worker(1)
            self.wait_place(fleet, 1, "lacking", "which has it and is away", "again")
            second = fleet.ctl("env", "build", again, "--wait", "--json", timeout_s=180).expect().json()["environment"]
            self.assertEqual((first["id"], second["state"]), (second["id"], "ready"))
            self.assertNotEqual(first["builder"], second["builder"])
            self.wait_place(fleet, 1, "ready", "", "again")

    def assert_same(self, fleet: Fleet, name: str) -> None:
        """On each worker: the manifest, and what is in the files."""
        made = next(e for e in fleet.ctl("env", "list", "--json").expect().json()["fleet"] if e["name"] == name)
        manifests = {(fleet.environments(i) / "manifests" / f"{made['id']}.json").read_bytes() for i in range(3)}
        self.assertEqual(len(manifests), 1)
        data = set()
        for index in range(3):
            folder = fleet.environments(index) / made["id"][:32]
            site = next(folder.glob("lib/python*/site-packages")) / "hosttorch_extra"
            data.add(b"".join((site / f"data_{n}.bin").read_bytes() for n in range(96)))
            ran = run(str(folder / "bin/python"), "-c", "import hosttorch_extra; print(hosttorch_extra.VALUE)")
            self.assertEqual(ran.expect().out, "1\n")
        self.assertEqual(len(data), 1)

    def test_a_repository_is_built_on_a_worker(self):
        with Fleet(workers=1, own_environments=True) as fleet:
            source = fleet.folder / "the source"
            source.mkdir()

            def git(*words: str) -> str:
                return run("git", "-C", str(source), "-c", "user.name=test", "-c", "user.email=test@example.org",
                           *words).expect().out.strip()
            run("git", "init", "--quiet", str(source)).expect()
            (source / "install.py").write_text(
                "import sysconfig\n"
                "with open(sysconfig.get_paths()['purelib'] + '/tiny.py', 'w') as out:\n"
                "    out.write('VALUE = 42\\n')\n", encoding="utf-8")
            git("add", ".")
            git("commit", "--quiet", "-m", "one")
            commit = git("rev-parse", "HEAD")
            wheel = write_wheel(fleet.folder, "3.0", 0, 3)

            def build(name: str, of: str, url: str = f"file://{source}"):
                path = self.recipe(fleet, name, wheel)
                with path.open("a", encoding="utf-8") as out:
                    out.write(f"git:\n  url: {url}\n  commit: {of}\n  build: python install.py\n")
                return fleet.ctl("env", "build", path, "--wait", "--json", timeout_s=180)

            made = build("tiny", commit).expect().json()["environment"]
            python = fleet.environments(0) / made["id"][:32] / "bin/python"
            self.assertEqual(run(str(python), "-c", "import tiny; print(tiny.VALUE)").expect().out, "42\n")
            ran = build("absent", "9" * 40).expect(3)
            self.assertIn(f"has no commit {'9' * 40}", ran.json()["environment"]["reason"])
            ran = build("nowhere", commit, f"{source}/nowhere").expect(3)
            self.assertIn('("url" of the recipe) cannot be fetched', ran.json()["environment"]["reason"])
            ran = build("branch", "master").expect(2)
            self.assertIn("branch.yaml:5", ran.err)
            self.assertIn("all 40 digits", ran.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
