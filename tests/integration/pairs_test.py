"""Method: a tiny compiled model in one environment against the same environment (A/A), really: warm
starts, rounds of fresh processes on one slot. The rows, the comparison and its gate are read as a
user reads them; what the children noted says who was forked from whom."""

import os
import signal
import unittest

from chaos import let_pass
from fleet import Fleet, FleetTest, wait_until
from lanes_test import ticks


class Pairs(FleetTest):
    fleet_options = {"workers": 1}

    def test_the_same_build_against_itself(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--performance", "--repeat", "10", "--start", "warm",
                                "--base", "default", "--new", "default", "--rounds", "3..5", "--seed", "7")
        self.fleet.finish(job, timeout_s=400)
        results = self.fleet.results(job)["results"]
        self.assertEqual(len(results), 2 * (5 + 2), "five rounds and two spares")
        rounds = {}
        for row in results:
            if row["outcome"] == "passed":
                rounds.setdefault(row["experiment"]["round"], []).append(row)
        self.assertGreaterEqual(len(rounds), 3)
        self.assertEqual(sorted(rounds), list(range(1, len(rounds) + 1)))
        for number, sides in rounds.items():
            self.assertEqual({row["experiment"]["side"] for row in sides}, {"base", "new"}, number)
            self.assertEqual(len({row["lease"] for row in sides}), 1, "a round is one lease")
            facts = [row["in_force"] for row in sides]
            self.assertEqual({fact["pair.window_blocks"] for fact in facts}, {"2"}, "two blocks of five pairs")
            self.assertEqual(len({fact["pair.block_order"] for fact in facts}), 1, "they alternated")
            self.assertEqual(len(facts[0]["pair.compiled_block_ns"].split(",")), 2)
        firsts = [sides[0]["experiment"]["side"] for _, sides in sorted(rounds.items())]
        self.assertNotEqual(firsts[0], firsts[1], "of two rounds one begins with base")
        zygotes = {row["experiment"]["zygote"] for sides in rounds.values() for row in sides}
        self.assertEqual(zygotes, {0, 1})
        skipped = [row for row in results if row["outcome"] == "skipped"]
        self.assertEqual(len(skipped) + 2 * len(rounds), len(results))
        for row in skipped:
            self.assertRegex(row["error"], r"^pair decided after \d rounds: ")

        comparison = self.fleet.ctl("compare", job, "--json")
        self.assertIn(comparison.code, (0, 4), comparison)
        for result in comparison.json()["results"]:
            self.assertIn(result["verdict"], ("same", "unknown", "improved"), result)
            if result["metric"] == "compiled_latency":
                self.assertEqual(result["base_processes"], len(rounds))
        floors = self.fleet.ctl("calibrate", "--show", "--json").expect().json()["floors"]
        learned = {floor["metric"]: floor for floor in floors}
        self.assertEqual(learned["compiled_latency"]["processes"], 2 * len(rounds), "an A/A run is remembered")
        self.assertGreater(learned["speedup"]["between"], 0)
        self.assertNotIn("round", learned["speedup"]["experiment"], "a floor is of the series")
        self.assertIn("Good", self.fleet.ctl("calibrate", "--show").expect().out)
        why = self.fleet.ctl("compare", job, "--why", "Good")
        self.assertIn("rounds", why.out)
        table = self.fleet.ctl("results", job).expect().out
        self.assertIn("pair decided after", table)

    def test_two_names_that_are_not_there_together(self):
        job = self.fleet.submit(*self.fleet.only("Good"), "--performance", "--base", "default", "--new", "nightly",
                                "--fail-unplaceable")
        self.fleet.finish(job, code=3)
        row = self.fleet.results(job)["results"][0]
        self.assertEqual(row["status"], "unplaceable")
        self.assertIn("does not have environment nightly", row["error"])


class OneOfTwo(unittest.TestCase):
    """One lane; base is ready and stands still while new loads, for ever."""

    def check(self, act) -> None:
        fleet = Fleet(workers=1)
        fleet.__enter__()
        problem = AssertionError
        try:
            job = fleet.submit(*fleet.only("SecondIsBusy"), "--performance", "--backend", "eager", "--repeat", "10",
                               "--base", "default", "--new", "default", "--seed", "7")
            first = fleet.wait_noted("first", timeout_s=120)[0]
            second = fleet.wait_noted("second", timeout_s=120)[0]

            def still() -> bool:
                before = ticks(first["pid"])
                let_pass(0.3)
                return before is not None and before == ticks(first["pid"])

            wait_until(still, "the first side to stand still", 20)
            act(fleet, job, first, second)
            problem = None
        finally:
            fleet.__exit__(problem, None, None)

    def test_worker_killed(self):
        def act(fleet, job, *_):
            fleet.workers[0].kill9()
            wait_until(lambda: set(fleet.processes()) <= {fleet.coordinator.pid}, "everything below it to end", 20)
            fleet.ctl("cancel", job, "--reason", "the test is over").expect(0)

        self.check(act)

    def test_lane_of_the_second_killed(self):
        def act(fleet, job, first, second):
            os.kill(second["lane"], signal.SIGKILL)

            def passed() -> bool:
                return any(row["outcome"] == "passed" for row in fleet.results(job)["results"])

            wait_until(passed, "the first side to go on and to measure", 60)
            fleet.ctl("cancel", job, "--reason", "the test is over").expect(0)

        self.check(act)


if __name__ == "__main__":
    unittest.main(verbosity=2)
