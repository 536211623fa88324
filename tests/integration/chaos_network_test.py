"""Method: put a TCP relay that can go silent, cut or slow (tests/props/relay.py) between worker and
coordinator, then a real network namespace whose link goes down, then move the coordinator to another
address behind the same name. Workers measure on, spool, and deliver when the network is whole again:
every experiment has exactly one result in the coordinator's SQLite file, and none was run twice for it."""

import os
import socket
import struct
import unittest

from chaos import LEASE_S, ChaosFleet, ChaosTest, let_pass, may, relayed
from fleet import wait_until


class Relayed(ChaosTest):
    def silent(self, **ways: bool) -> None:
        """The network is silent for longer than a lease while an experiment ends."""
        with relayed() as (fleet, relay):
            job = fleet.run_models({"m1": ["gate a"], "m2": []})
            fleet.wait_noted("gate")
            relay.silence(**ways)
            let_pass(1.5 * LEASE_S)
            fleet.open("a")
            fleet.wait_noted("end", 1)
            spool = fleet.worker_state(0) / "spool"
            if ways.get("to_server"):
                wait_until(lambda: list(spool.glob("*.result")), "the result to be spooled")
                self.assertEqual(fleet.done(job), 0)
            relay.heal()
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)
            self.assertEqual([len(fleet.started(m)) for m in ("m1", "m2")], [1, 1], "run again")
            wait_until(lambda: not list(spool.glob("*.result")), "the acknowledgements")

    def test_silent_both_ways(self):
        self.silent(to_server=True, to_client=True)

    def test_silent_towards_the_coordinator(self):
        self.silent(to_server=True)

    def test_silent_towards_the_worker(self):
        self.silent(to_client=True)

    def test_acknowledgement_lost(self):
        """The result is committed, its acknowledgement never arrives: sent again, counted once."""
        with relayed() as (fleet, relay):
            job = fleet.run_models({"m1": ["gate a"]})
            fleet.wait_noted("gate")
            relay.silence(to_client=True)
            fleet.open("a")
            wait_until(lambda: fleet.done(job) == 1, "the commit")
            self.assertTrue(list((fleet.worker_state(0) / "spool").glob("*.result")), "not acknowledged yet")
            relay.cut()  # what waited is lost
            relay.heal()
            wait_until(lambda: not list((fleet.worker_state(0) / "spool").glob("*.result")), "the second try")
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=1)
            self.assertEqual(fleet.attempts(job)["m1"], [(fleet.attempts(job)["m1"][0][0], "done")])

    def test_cut_again_and_again(self):
        """A reset after every few results, in the middle of whatever is being said."""
        with relayed(workers=2) as (fleet, relay):
            names = [f"m{i:02}" for i in range(30)]
            job = fleet.run_models({name: [] for name in names})
            for seen in range(2, 28, 3):
                wait_until(lambda: len(fleet.noted("end")) >= seen, f"{seen} experiments")
                relay.cut()
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=len(names))
            self.assertEqual([n for n in names if len(fleet.started(n)) != 1], [], "run again")
            self.assertGreater(relay.connections, 5, "the cuts were felt")

    def test_slow(self):
        """A third of a second in each direction costs time and nothing else."""
        with relayed() as (fleet, relay):
            relay.delay(0.15)
            job = fleet.run_models({f"m{i}": [] for i in range(5)})
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=5)
            self.assertEqual(relay.connections, 1, "nobody took the other for dead")


def namespaces() -> bool:
    return may("unshare", "-n", "ip", "link", "add", "dbtest0", "type", "veth", "peer", "name", "dbtest1")


class Namespace(ChaosTest):
    @unittest.skipUnless(namespaces(), "may not make network namespaces (root or CAP_NET_ADMIN)")
    def test_partition(self):
        """The worker's link goes down for longer than a lease, and comes back."""
        name = f"dynbench-{os.getpid()}"
        here, there = f"dbh{os.getpid() % 100000}", f"dbw{os.getpid() % 100000}"
        net = f"10.231.{os.getpid() % 250}"
        for command in (["ip", "netns", "add", name],
                        ["ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", name],
                        ["ip", "addr", "add", f"{net}.1/24", "dev", here], ["ip", "link", "set", here, "up"],
                        ["ip", "-n", name, "addr", "add", f"{net}.2/24", "dev", there],
                        ["ip", "-n", name, "link", "set", there, "up"], ["ip", "-n", name, "link", "set", "lo", "up"]):
            if command[1:3] == ["netns", "add"]:
                if not may(*command):
                    self.skipTest("may not name network namespaces here")
                self.addCleanup(may, "ip", "netns", "del", name)
                continue
            self.assertTrue(may(*command), command)
        with ChaosFleet(workers=0, start=False) as fleet:
            fleet.address = f"{net}.1:0"
            fleet.coordinator_flags = (*fleet.coordinator_flags, "--insecure")
            fleet.start_coordinator()
            fleet.wanted_workers = 1
            fleet.start_worker(0, prefix=("ip", "netns", "exec", name))
            job = fleet.run_models({"m1": ["gate a"], "m2": []})
            fleet.wait_noted("gate")
            self.assertTrue(may("ip", "link", "set", here, "down"))
            let_pass(1.5 * LEASE_S)
            fleet.open("a")
            wait_until(lambda: list((fleet.worker_state(0) / "spool").glob("*.result")), "the result to be spooled")
            text = wait_until(lambda: t if "not connected" in (t := fleet.explain(job)) else None,
                              "explain to name the partition", 20)
            self.assertIn(fleet.sql("SELECT id FROM worker")[0][0], text)
            self.assertTrue(may("ip", "link", "set", here, "up"))
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)
            self.assertEqual(len(fleet.started("m1")), 1, "run again")


class Moved(ChaosTest):
    @unittest.skipUnless(may("unshare", "-m", "true"), "may not make mount namespaces (root or CAP_SYS_ADMIN)")
    def test_coordinator_moves_behind_its_name(self):
        """The name means another address after a restart: reached within 30 s (D16)."""
        with ChaosFleet(workers=0) as fleet:
            hosts = fleet.folder / "hosts"
            hosts.write_text("127.0.0.1 localhost coordinator.fleet.test\n", encoding="utf-8")
            port = fleet.address.rpartition(":")[2]
            fleet.wanted_workers = 1
            fleet.start_worker(0, address=f"coordinator.fleet.test:{port}", prefix=(
                "unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(hosts)))
            job = fleet.run_models({"m1": ["gate a"], "m2": []})
            fleet.wait_noted("gate")
            fleet.coordinator.kill9()
            fleet.address = f"127.0.0.2:{port}"
            fleet.start_coordinator()
            # In place: the worker's namespace has this very file.
            hosts.write_text("127.0.0.1 localhost\n127.0.0.2 coordinator.fleet.test\n", encoding="utf-8")
            fleet.open("a")
            fleet.wait_connected(0, timeout_s=30)
            fleet.finish(job)
            fleet.expect_exactly_once(job, passed=2)
            self.assertEqual(len(fleet.started("m1")), 1)


FRAME_PING, FRAME_GOAWAY = 6, 7


class Http2:
    """As much of HTTP/2 as a client needs that only pings."""

    def __init__(self, address: str):
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(4, b""))

    @staticmethod
    def frame(kind: int, payload: bytes, flags: int = 0) -> bytes:
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + b"\0\0\0\0" + payload

    def ping(self) -> None:
        self.socket.sendall(self.frame(FRAME_PING, b"dynbench"))

    def read(self) -> tuple[int, bytes]:
        head = self._exactly(9)
        return head[3], self._exactly(int.from_bytes(head[:3], "big"))

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data


class Pings(ChaosTest):
    def test_a_client_that_pings_too_often_is_cut_off_and_nobody_else(self):
        """D11: pings in quick succession end with GOAWAY too_many_pings; the worker's session, whose pings
        are set as a pair with the coordinator's, lives on."""
        with ChaosFleet(workers=1) as fleet:
            client = Http2(fleet.address)
            self.addCleanup(client.socket.close)
            seen = b""
            with self.assertRaises((ConnectionError, OSError)):
                for _ in range(50):
                    client.ping()
                    while True:
                        kind, payload = client.read()
                        if kind == FRAME_GOAWAY:
                            seen = payload
                        if kind == FRAME_PING:
                            break
            self.assertIn(b"too_many_pings", seen)
            job = fleet.run_models({"m1": []})
            fleet.finish(job)
            self.assertIn("joined", fleet.coordinator.tail())
            self.assertEqual(fleet.coordinator.tail().count("joined"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
