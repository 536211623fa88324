"""Method: what takes minutes. Workers and the coordinator are killed or stopped at random moments (the
seed is printed; DYNBENCH_TEST_SEED repeats it) while 260 experiments of both engines run: each ends exactly once, and
only one that took its worker down twice may fail, as a crash. A stream that is idle for nearly two
minutes lives on keepalive pings alone."""

import os
import random
import time
import unittest

from chaos import LEASE_S, ChaosFleet, ChaosTest, let_pass, relayed
from fleet import read_json, wait_until

SEED = int(os.environ.get("DYNBENCH_TEST_SEED") or time.time_ns() % 1_000_000)
COUNT = 200
SCRIPTS = ["ok", "slow(0.2)", "setsid-child", "daemon-holds-stdout", "flood(4)", "row-then-crash"]


class Storm(ChaosTest):
    def test_everything_is_killed_again_and_again(self):
        print(f"seed {SEED}", flush=True)
        draw = random.Random(SEED)
        with ChaosFleet(workers=2) as fleet:
            job = fleet.run_models({f"m{i:03}": [["daemon"], ["flood 1"], ["ignore-term"], []][i % 4] for i in range(COUNT)})
            scripts = fleet.run_scripts({f"s{i:02}": SCRIPTS[i % len(SCRIPTS)] for i in range(60)})

            def done() -> int:
                return fleet.sql("SELECT count(*) FROM result")[0][0]

            while (before := done()) < COUNT + 60:
                wait_until(lambda: done() >= min(COUNT + 60, before + 4), "progress", 120)
                let_pass(draw.uniform(0, 0.3))
                index = draw.randrange(2)
                what = draw.choice(["worker", "coordinator", "both", "stop worker", "stop coordinator"])
                if what in ("coordinator", "both"):
                    fleet.coordinator.kill9()
                if what in ("worker", "both"):
                    fleet.workers[index].kill9()
                if what.startswith("stop"):
                    pid = fleet.coordinator.pid if "coordinator" in what else fleet.workers[index].pid
                    self.stop(pid)
                    let_pass(draw.uniform(0, 1.5 * LEASE_S))
                    self.cont(pid)
                if what in ("coordinator", "both"):
                    fleet.start_coordinator()
                if what in ("worker", "both"):
                    fleet.start_worker(index)
            for each in (job, scripts):
                fleet.ctl("wait", each)
                fleet.expect_exactly_once(each)
                bad = [row for row in fleet.results(each)["results"] if row["outcome"] != "passed"]
                self.assertEqual({(row["outcome"], row["status"]) for row in bad} - {("failed", "crash")}, set(), bad)
                self.assertLess(len(bad), COUNT // 10)


class Slow(ChaosTest):
    def test_slow_database(self):
        """The lock is taken nearly all the time, as by a slow disk: slower, and nothing else."""
        with ChaosFleet(workers=1) as fleet:
            names = [f"m{i}" for i in range(6)]
            job = fleet.run_models({name: ["gate a"] for name in names})
            fleet.wait_noted("gate")
            held = self.hold_lock(fleet.database, [(0.4, 0.05)] * 8)
            fleet.open("a")
            fleet.finish(job)
            held.join()
            fleet.expect_exactly_once(job, passed=len(names))
            self.assertEqual([n for n in names if len(fleet.started(n)) != 1], [], "run again")


class Idle(ChaosTest):
    def test_an_idle_stream_lives_on_pings_alone(self):
        """Beats of a minute: both ends' pings come in between, and nobody is cut off (D11)."""
        with relayed(coordinator_flags=("--beat", "60", "--lease-ttl", "600")) as (fleet, relay):
            let_pass(110)
            self.assertTrue(read_json(fleet.worker_state(0) / "worker.json")["connected"])
            self.assertEqual(relay.connections, 1, "the stream was opened again")
            job = fleet.run_models({"m1": []})
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=1)


class LearnedLimits(ChaosTest):
    def test_what_hangs_is_ended_early_once_and_then_gets_its_whole_timeout(self):
        """The compilation of five earlier nights took a moment, so that a hang is noticed after a minute
        (the least limit); nothing counts before the experiment's own timeout has passed."""
        with ChaosFleet(workers=1) as fleet:
            for _ in range(5):
                fleet.finish(fleet.run_models({"m": []}))
            job = fleet.run_models({"m": ["gate never"]}, "--timeout", "70")
            fleet.wait_started("m", 6)
            fleet.wait_started("m", 7, timeout_s=100)
            detail = fleet.ctl("explain", job, "m").expect(0).out
            self.assertIn("phase compile took longer than 60 s", detail)
            self.assertIn("5 runs of the series", detail)
            fleet.finish(job, code=1, timeout_s=150)
            row = fleet.rows(job)["m"]
            self.assertEqual((row["outcome"], row["status"]), ("failed", "timeout"))
            self.assertIn("70 s in phase compile (the experiment's limit, --timeout)", row["error"])
            self.assertEqual(len(fleet.attempts(job)["m"]), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
