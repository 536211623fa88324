"""Method: each bench of the fleet through tools/bench, so small that it ends in seconds. Its figures must
be there and its results all acknowledged; how large they are is no test's business."""

import json
import os
import pathlib
import subprocess
import unittest

from fleet import BIN, ENVIRONMENTS, SLOW

ROOT = pathlib.Path(os.environ["DYNBENCH_SOURCE"])


def bench(name: str, *flags: str) -> dict:
    done = subprocess.run([str(ROOT / "tools/bench"), name, "--json", *flags], check=False, text=True,
                          capture_output=True, timeout=120 * SLOW, env={**os.environ, "DYNBENCH_BIN": str(BIN)})
    if done.returncode != 0:
        raise AssertionError(f"bench {name} exited {done.returncode}:\n{done.stderr[-4000:]}")
    report = json.loads(done.stdout)
    assert (report["schema"], report["bench"]) == ("dynbench.bench/1", name), report
    return report


class BenchSmoke(unittest.TestCase):
    def test_ingest(self):
        report = bench("ingest", "--results", "400", "--workers", "20", "--rounds", "1", "--starts")
        self.assertEqual(report["details"]["rounds"][0]["acknowledged"], 400)
        self.assertGreater(report["figures"]["completions_per_s"], 0)

    def test_assign(self):
        report = bench("assign", "--rate", "400", "--seconds", "1", "--workers", "10", "--rounds", "1")
        self.assertGreaterEqual(report["details"]["rounds"][0]["acknowledged"], 400)
        self.assertGreater(report["figures"]["assign_p99_ms"], 0)

    def test_connections(self):
        report = bench("connections", "--workers", "30", "--idle-s", "0.2", "--rounds", "1")
        self.assertEqual(report["figures"]["leases_lost"], 0)
        self.assertGreater(report["figures"]["reconnected_s"], 0)

    def test_query_and_restart(self):
        report = bench("query", "--results", "200", "--rounds", "1")
        self.assertEqual(report["figures"]["results_stored"], 200)
        report = bench("restart", "--results", "200", "--waiting", "20", "--rounds", "1")
        self.assertGreater(report["figures"]["dispatching_s"], 0)

    def test_hyperqueue_without_its_peer(self):
        report = bench("hyperqueue", "--ours-only", "--tasks", "20", "--rounds", "1", "--environments", str(ENVIRONMENTS))
        self.assertGreater(report["figures"]["dynbench_tasks_per_s"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
