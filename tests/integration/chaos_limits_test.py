"""Method: take file descriptors, log bytes, rows and request sizes to where servers break: 256
descriptors with more clients than that, a child that floods 100 MB while one follower does not read, a
job of 5,000 rows, a suite file of 10 MB. What cannot be served is refused in words, memory stays
bounded, and every experiment has exactly one result."""

import contextlib
import pathlib
import re
import resource
import socket
import unittest
import urllib.request

from chaos import ChaosFleet, ChaosTest
from fleet import SLOW, wait_until

DESCRIPTORS = 256


def limit_descriptors(pid: int, count: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (count, count))


def descriptors_of(pid: int) -> int:
    return len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))


def peak_memory_mib(pid: int) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


class Descriptors(ChaosTest):
    def test_coordinator_with_256_and_more_clients_than_that(self):
        """Followers and idle connections use up all descriptors; afterwards everybody is served again."""
        with ChaosFleet(workers=1) as fleet, contextlib.ExitStack() as clients:
            limit_descriptors(fleet.coordinator.pid, DESCRIPTORS)
            names = [f"m{i}" for i in range(6)]
            job = fleet.run_models({"m0": ["gate a"], **{name: [] for name in names[1:]}})
            fleet.wait_noted("gate")
            clients.enter_context(fleet.commands(*[["logs", job, "m0", "-f"]] * 24))
            host, _, port = fleet.address.rpartition(":")
            for _ in range(DESCRIPTORS + 50):
                clients.enter_context(socket.create_connection((host, int(port)), timeout=10))
            wait_until(lambda: "refuses connections" in fleet.coordinator.tail(), "the coordinator to say that it is full")
            self.assertLess(descriptors_of(fleet.coordinator.pid), DESCRIPTORS - 32, "some are kept for the store")
            refused = fleet.ctl("status", "--json", timeout_s=60)
            self.assertIn(refused.code, (0, 3), refused)
            fleet.open("a")  # results are committed meanwhile
            wait_until(lambda: fleet.done(job) == len(names), "the results")
            clients.close()
            wait_until(lambda: fleet.ctl("status", "--json").code == 0, "clients to be served again")
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=len(names))
            fleet.coordinator.check_alive()
            with urllib.request.urlopen(fleet.record["http_url"] + "/healthz", timeout=20) as answer:
                self.assertEqual(answer.status, 200)
            self.assertLess(descriptors_of(fleet.coordinator.pid), 100, "descriptors leak")
            self.assertTrue(all(len(fleet.started(n)) == 1 for n in names))

    def test_worker_with_few_does_not_leak(self):
        """More experiments than it has descriptors left: one leaked by each would end it."""
        with ChaosFleet(workers=1) as fleet:
            limit_descriptors(fleet.workers[0].pid, 64)
            count = 40
            job = fleet.run_models({f"m{i:02}": ["daemon"] if i % 4 == 0 else [] for i in range(count)})
            wait_until(lambda: fleet.done(job) >= 5, "the first results")
            early = descriptors_of(fleet.workers[0].pid)
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=count)
            self.assertLessEqual(descriptors_of(fleet.workers[0].pid), early + 3)


class Floods(ChaosTest):
    def test_a_child_writes_100_mb(self):
        """Capped with a note; a follower that does not read costs nobody memory or time."""
        with ChaosFleet(workers=1) as fleet:
            job = fleet.run_models({"flood": ["gate a", "flood 100", "gate b"], "next": []})
            fleet.wait_noted("gate")
            before = peak_memory_mib(fleet.coordinator.pid), peak_memory_mib(fleet.workers[0].pid)
            with fleet.commands(*[["logs", job, "flood", "-f"]] * 2) as (reader, _):  # nobody reads the second
                fleet.open("a")
                wait_until(lambda: len(fleet.noted("gate")) == 2, "the flood to be over", 120)
                fleet.open("b")
                followed = reader.stdout.read()
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)
            log = fleet.ctl("logs", job, "flood").expect(0).out
            self.assertLess(len(log), 1.1 * (1 << 20))
            self.assertGreater(len(log), 0.9 * (1 << 20))
            self.assertRegex(log, r"bytes.*(cut|left out|missing|omitted)")
            self.assertGreater(len(followed), 1000)
            for pid, peak in zip((fleet.coordinator.pid, fleet.workers[0].pid), before):
                self.assertLess(peak_memory_mib(pid) - peak, 64, "memory grows with the flood")


class Sizes(ChaosTest):
    def test_5000_rows(self):
        """Every reading verb serves a job of 5,000 rows over gRPC in time (D12)."""
        with ChaosFleet(workers=0) as fleet:
            count = 5000
            job = fleet.run_models({f"m{i:04}": [] for i in range(count)})
            for words in (["results", job, "--json"], ["results", job, "--csv"], ["results", job], ["status", job],
                          ["explain", job, "--json"], ["explain", job]):
                ran = fleet.ctl(*words).expect(0)
                self.assertLess(ran.seconds, 45, words)
            self.assertEqual(len(fleet.results(job)["results"]), count)
            self.assertEqual(fleet.coverage(job)["waiting"], count)
            self.assertIn("no worker", fleet.explain(job))
            fleet.ctl("cancel", job, "--reason", "enough").expect(0)
            wait_until(lambda: fleet.done(job) == count, "every row to be cancelled")
            fleet.expect_exactly_once(job, passed=0)
            # A sanitized coordinator needs more than twice of it (882 MiB).
            self.assertLess(peak_memory_mib(fleet.coordinator.pid), 400 if SLOW == 1 else 1200)

    def test_a_suite_file_of_10_mb(self):
        """Taken, or refused in words that name the limit: never an error of the transport."""
        with ChaosFleet(workers=0) as fleet:
            suite = fleet.folder / "big.yaml"
            suite.write_text("name: big\nloader: timm\nmodels:\n  - {name: m1, batch_size: 1}\n"
                             + ("# " + "x" * 1020 + "\n") * 10_240, encoding="utf-8")
            ran = fleet.ctl("submit", "--suite", str(suite), "--engine", "command", "--performance", "--", "true")
            self.assertIn(ran.code, (0, 2), ran)
            self.assertNotRegex(ran.err, "RESOURCE_EXHAUSTED|larger than max")
            if ran.code == 2:
                self.assertRegex(ran.err, r"big\.yaml.*Mi?B")
            self.assertEqual(fleet.ctl("status", "--json").code, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
