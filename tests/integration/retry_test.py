"""Method: a job with one failure among good models; `retry --failed` must make a job of that one
alone, linked to the first, whose own results stay as they were. Waiting jobs must say why they wait."""

import unittest

from fleet import FleetTest


class Retry(FleetTest):
    fleet_options = {"workers": 1}

    def test_retry_repeats_the_failed(self):
        job = self.fleet.submit(*self.fleet.only("Good", "RaisesInLoad"), "--backend", "eager", "--performance",
                                "--repeat", "3")
        self.fleet.finish(job, 1, timeout_s=60)
        before = self.fleet.results(job)["results"]
        answer = self.fleet.ctl("retry", job, "--failed", "--json").expect(0).json()
        again = str(answer["job"]["id"] if isinstance(answer["job"], dict) else answer["job"])
        self.assertNotEqual(again, job)
        self.fleet.finish(again, 1, timeout_s=60)
        self.assertEqual(list(self.fleet.rows(again)), ["RaisesInLoad"])
        self.assertEqual(self.fleet.results(job)["results"], before)

    def test_nothing_to_retry(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=60)
        ran = self.fleet.ctl("retry", job, "--failed")
        self.assertIn(ran.code, (2, 4, 5), ran)
        self.assertTrue(ran.err)

    def test_wait_that_gives_up(self):
        job = self.fleet.submit(*self.fleet.only("Hangs"), "--backend", "eager", "--performance")
        ran = self.fleet.ctl("wait", job, "--wait-timeout", "1")
        self.assertEqual(ran.code, 6, ran)
        self.fleet.ctl("cancel", job, "--reason", "end of test").expect(0)
        self.fleet.ctl("wait", job, timeout_s=60)

    def test_a_job_that_cannot_run_says_why(self):
        ran = self.fleet.ctl("submit", *self.fleet.only("Good"), "--backend", "eager", "--environment", "nightly", "--json")
        if ran.code == 0:  # accepted: fleets change; but it is said at once, and the wait has a reason
            self.assertIn("nightly", " ".join(ran.json()["warnings"]))
            job = ran.json()["job"]
            job = str(job["id"] if isinstance(job, dict) else job)
            self.assertIn("nightly", self.fleet.ctl("status", job).expect(0).out)
            self.fleet.ctl("cancel", job, "--reason", "end of test").expect(0)
        else:
            self.assertEqual(ran.code, 2, ran)
            self.assertIn("nightly", ran.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
