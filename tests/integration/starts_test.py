"""Method: compile a tiny model with inductor three times, by --start: cold must find no file in its
cache folders; warm must find a prepared cache and prove hits; nothing of an attempt's caches may be
left afterwards but the prepared ones. The row says which start it was and whether that is proven."""

import unittest

from fleet import FleetTest, wait_until


class Starts(FleetTest):
    fleet_options = {"workers": 1}

    def measure(self, start: str) -> tuple[dict, dict]:
        before = len(self.fleet.noted("looked"))
        job = self.fleet.submit(*self.fleet.only("Looks"), "--performance", "--repeat", "3", "--start", start)
        self.fleet.finish(job, timeout_s=400)
        return self.fleet.rows(job)["Looks"], self.fleet.noted("looked")[before:][-1]

    def test_cold_then_warm_then_cold(self):
        for expected in ("cold", "warm", "cold"):
            row, note = self.measure(expected)
            self.assertEqual(row["experiment"]["start"], expected)
            proof = row["start_proof"]
            self.assertTrue(proof["proven"], row)
            if expected == "cold":
                self.assertEqual(note["cache_files"], 0, note)
                self.assertEqual(proof["cache_files_before"], 0)
            else:
                self.assertGreater(note["cache_files"], 0, note)
                self.assertGreater(proof["cache_hits"], 0)
                self.assertEqual(proof["cache_misses"], 0)
        work = self.fleet.worker_state(0) / "work"
        wait_until(lambda: not list(work.iterdir()), "the attempts' folders to be removed", 20)

    def test_shared_is_said(self):
        row, _ = self.measure("shared")
        self.assertEqual(row["experiment"]["start"], "shared")


if __name__ == "__main__":
    unittest.main(verbosity=2)
