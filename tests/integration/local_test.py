"""Method: `dynbenchctl local up`, `status`, a job, `up` again, `down`, as a person without root does,
in a state folder of the test. Up twice must change nothing; down must stop exactly what up started."""

import unittest

from fleet import ENVIRONMENTS, PYTHON, Fleet, wait_until


class Local(unittest.TestCase):
    def test_up_job_down(self):
        with Fleet(workers=0, start=False) as fleet:
            state = str(fleet.folder / "local")
            (fleet.folder / "local").mkdir()
            # The runner that the other tests compiled: not a second minute of compiling.
            (fleet.folder / "local" / "environments").symlink_to(ENVIRONMENTS)
            up = ["local", "up", "--state-dir", state, "--workers", "2", "--port", "0", "--env", f"default={PYTHON}"]
            fleet.ctl(*up, timeout_s=200).expect(0)
            status = fleet.ctl("local", "status", "--state-dir", state, "--json").expect(0).json()
            self.assertEqual(status["schema"], "dynbench.local/1")
            self.assertEqual(len(status["workers"]), 2)
            for url in (status["http_url"], status["metrics_url"]):
                self.assertTrue(url.startswith("http://127.0.0.1:"), url)
            fleet.env["DYNBENCH_COORDINATOR"] = status["coordinator"]
            before = set(fleet.processes())

            fleet.ctl(*up, timeout_s=200).expect(0)
            again = fleet.ctl("local", "status", "--state-dir", state, "--json").expect(0).json()
            self.assertEqual(again["coordinator"], status["coordinator"], "up twice changes nothing")
            self.assertTrue(before <= set(fleet.processes()))

            job = fleet.submit(*fleet.only("Good"), "--backend", "eager", "--performance", "--repeat", "3")
            fleet.finish(job, timeout_s=120)
            fleet.ctl("local", "down", "--state-dir", state, timeout_s=60).expect(0)
            wait_until(lambda: not fleet.processes(), "down to stop everything", 20)
            self.assertNotEqual(fleet.ctl("local", "status", "--state-dir", state).code, 0)
            # The database outlives them.
            database = fleet.folder / "local/coordinator/dynbench.db"
            self.assertEqual(fleet.ctl("status", "--json", "--db", str(database)).expect(0).json()["jobs"][0]["passed"], 1)
            fleet.ctl("local", "down", "--state-dir", state).expect(0)  # nothing to stop is no error


if __name__ == "__main__":
    unittest.main(verbosity=2)
