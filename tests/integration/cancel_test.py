"""Method: cancel a job whose child has a helper in a session of its own and a double-forked daemon
that holds stdout open. The cancel must end all three, the row must be cancelled with the reason, and
the slot must be free for the next job. Then a model that works but leaves such a daemon: it passes,
and the daemon is gone."""

import unittest

from fleet import FleetTest, wait_until


class Cancel(FleetTest):
    fleet_options = {"workers": 1}

    def test_whole_tree_ends(self):
        job = self.fleet.submit(*self.fleet.only("Daemons", "Good"), "--backend", "eager", "--performance", "--repeat", "3")
        note = self.fleet.wait_noted("daemons", timeout_s=120)[-1]
        daemon = self.fleet.wait_noted("held daemon")[-1]["pid"]
        tree = {note["pid"], note["sleeper"], daemon}
        self.assertTrue(tree <= set(self.fleet.processes()), "all three run before the cancel")
        self.fleet.ctl("cancel", job, "--reason", "wrong branch").expect(0)
        wait_until(lambda: not tree & set(self.fleet.processes()), "the tree to end", 20)
        ran = self.fleet.ctl("wait", job, timeout_s=30)
        coverage = self.fleet.coverage(job)
        self.assertEqual(coverage["cancelled"], 2 - coverage["passed"], ran)
        row = self.fleet.rows(job)["Daemons"]
        self.assertEqual(row["outcome"], "cancelled", row)
        self.assertIn("wrong branch", str(self.fleet.results(job)))
        self.expect_slot_works()

    def test_second_cancel_and_cancel_of_a_finished_job(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=120)
        ran = self.fleet.ctl("cancel", job, "--reason", "too late")
        self.assertIn(ran.code, (0, 2, 5), ran)
        self.assertEqual(self.fleet.coverage(job)["passed"], 1, "a result is never taken back")

    def test_daemon_of_a_good_model_does_not_hold_the_slot(self):
        job = self.fleet.submit(*self.fleet.only("LeavesDaemon"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=120)
        daemon = self.fleet.noted("daemon")[-1]["pid"]
        wait_until(lambda: daemon not in self.fleet.processes(), "the daemon to end", 20)
        self.expect_slot_works()

    def test_time_limit_ends_a_child_that_ignores_term(self):
        job = self.fleet.submit(*self.fleet.only("Hangs"), "--backend", "eager", "--performance", "--timeout", "5")
        self.fleet.finish(job, 1, timeout_s=120)
        row = self.fleet.rows(job)["Hangs"]
        self.assertEqual((row["outcome"], row["status"]), ("failed", "timeout"), row)
        pid = self.fleet.noted("hangs")[-1]["pid"]
        self.assertNotIn(pid, self.fleet.processes())
        log = self.fleet.ctl("logs", job, "Hangs").expect(0).out
        self.assertIn("hang", log, "the stacks were dumped before the kill")

    def expect_slot_works(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--backend", "eager", "--performance", "--repeat", "3")
        self.fleet.finish(job, timeout_s=60)


if __name__ == "__main__":
    unittest.main(verbosity=2)
