"""Method: put the state folder of the coordinator, then of a worker, on a small tmpfs and fill it while
results come; have another process hold SQLite's write lock for 8 s. What was accepted is delivered when
there is room again, nothing is acknowledged that is not committed, and the one in trouble says so."""

import contextlib
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

from chaos import ChaosFleet, ChaosTest, may
from fleet import wait_until


def can_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return may("unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "dynbench", folder)


@contextlib.contextmanager
def tmpfs(folder: pathlib.Path, mebibytes: int):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "dynbench-test", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: pathlib.Path) -> pathlib.Path:
    """Takes all the room there is; answers the file that holds it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 65536):
            pass
    with ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 64):
            pass
    return ballast


@contextlib.contextmanager
def growing_log(database: pathlib.Path):
    """Within it every commit needs new room: the log is empty at first, and a reader who stays keeps it from
    starting over in the room that it already has."""
    with contextlib.closing(sqlite3.connect(database, timeout=30, isolation_level=None)) as reader:
        wait_until(lambda: reader.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, "an empty log")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        yield


@unittest.skipUnless(can_mount(), "may not mount a tmpfs (root or CAP_SYS_ADMIN)")
class Full(ChaosTest):
    def test_coordinators_disk(self):
        """Results stay with the worker until they can be committed."""
        with ChaosFleet(workers=0, start=False) as fleet, contextlib.ExitStack() as mounted:
            mounted.enter_context(tmpfs(fleet.folder / "coordinator", 48))
            mounted.callback(lambda: fleet.coordinator and fleet.coordinator.stop())
            fleet.start_coordinator()
            fleet.wanted_workers = 1
            fleet.start_worker(0)
            names = [f"m{i}" for i in range(6)]
            job = fleet.run_models({"m0": ["gate a"], **{name: [] for name in names[1:]}})
            fleet.wait_noted("gate")
            log = contextlib.ExitStack()
            mounted.callback(log.close)
            log.enter_context(growing_log(fleet.database))
            ballast = fill(fleet.folder / "coordinator")
            fleet.open("a")
            spool = fleet.worker_state(0) / "spool"
            wait_until(lambda: "could not be stored" in fleet.coordinator.tail(), "the coordinator to say so")
            self.assertIn("full", fleet.coordinator.tail())
            wait_until(lambda: list(spool.glob("*.result")), "the worker to keep its result")
            self.assertEqual(fleet.done(job), 0)
            # Reading goes on meanwhile.
            self.assertEqual(fleet.ctl("status", "--json").code, 0)
            # One that dies now does not start again, and says what to do.
            fleet.coordinator.kill9()
            with self.assertRaises(AssertionError) as refused:
                fleet.start_coordinator()
            self.assertIn("exited with 3", str(refused.exception))
            self.assertIn("free space on its disk", str(refused.exception))
            ballast.unlink()
            log.close()
            fleet.start_coordinator()
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=len(names))
            self.assertEqual([n for n in names if len(fleet.started(n)) != 1], [], "run again")
            fleet.workers[0].stop()

    def test_workers_disk(self):
        """It takes no more work and says why; what it had accepted is delivered."""
        with ChaosFleet(workers=0) as fleet, contextlib.ExitStack() as mounted:
            mounted.enter_context(tmpfs(fleet.worker_state(0), 32))
            mounted.callback(lambda: 0 in fleet.workers and fleet.workers[0].stop())
            fleet.wanted_workers = 1
            fleet.start_worker(0, flags=("--disk-low-mib", "8"))
            job = fleet.run_models({"m0": ["gate a"], "m1": [], "m2": []})
            fleet.wait_noted("gate")
            ballast = fill(fleet.worker_state(0))
            # Its result can only be in memory: the coordinator is away when it comes.
            self.stop(fleet.coordinator.pid)
            fleet.open("a")
            wait_until(lambda: "takes no work, disk_low" in fleet.workers[0].tail(), "the worker to say so", 30)
            self.assertRegex(fleet.workers[0].tail(), "No space left|disk low")
            self.cont(fleet.coordinator.pid)
            wait_until(lambda: fleet.done(job) >= 1, "the result that no disk had")
            later = fleet.run_models({"later": []})
            text = wait_until(lambda: t if "takes no work" in (t := fleet.explain(later)) else None,
                              "explain to say why it waits", 30)
            self.assertRegex(text, "disk low|cannot be written")
            self.assertEqual(fleet.started("later"), [])
            ballast.unlink()
            fleet.finish(later, timeout_s=60)
            fleet.finish(job)
            fleet.expect_exactly_once(job)
            fleet.expect_exactly_once(later, passed=1)
            self.assertEqual(fleet.rows(job)["m0"]["outcome"], "passed")


class Locked(ChaosTest):
    def test_lock_of_another_process_for_8_s(self):
        """Workers report meanwhile; nothing is refused, lost or acknowledged early (D21)."""
        with ChaosFleet(workers=2) as fleet:
            names = [f"m{i:02}" for i in range(20)]
            job = fleet.run_models({name: ["gate a"] for name in names})
            fleet.wait_noted("gate", 2)
            held = self.hold_lock(fleet.database, [(8, 0)])
            fleet.open("a")
            wait_until(lambda: len(fleet.noted("end")) >= 2, "experiments to end under the lock")
            self.assertEqual(fleet.done(job), 0)
            self.assertEqual(fleet.ctl("status", "--json").code, 0, "reading needs no write lock")
            held.join()
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=len(names))
            self.assertEqual([n for n in names if len(fleet.started(n)) != 1], [], "run again")
            self.assertNotIn("database is locked", fleet.coordinator.tail())


if __name__ == "__main__":
    unittest.main(verbosity=2)
