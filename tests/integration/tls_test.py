"""Method: a real fleet with certificates that openssl makes: an open address, a renewal under a running
job, and everybody who does not belong to it. Whoever is turned away says why and what to do (report
D17), and work that the fleet accepted is done once."""

import pathlib
import subprocess
import unittest

from chaos import QUICK, ChaosFleet, ChaosTest
from fleet import BIN, run, wait_until


def openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, stdin=subprocess.DEVNULL)


EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Authority:
    """Signs certificates; its folders are those that --tls names."""

    def __init__(self, folder: pathlib.Path, name: str):
        self.folder = folder / f"authority {name}"
        self.folder.mkdir()
        self.certificate, self.key = self.folder / "ca.crt", self.folder / "ca.key"
        openssl("req", "-x509", *EC, "-keyout", self.key, "-out", self.certificate, "-subj", f"/CN={name}", "-days", 365)

    def write(self, folder: pathlib.Path, name: str, names: str = "DNS:localhost,IP:127.0.0.1",
              days: int = 365) -> pathlib.Path:
        """Makes the folder, or renews what is there."""
        folder.mkdir(exist_ok=True)
        request, made, key = (self.folder / part for part in ("request", "tls.crt", "tls.key"))
        openssl("req", *EC, "-keyout", key, "-out", request, "-subj", f"/CN={name}", "-addext",
                f"subjectAltName={names}")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", days, "-copy_extensions", "copy", "-out", made)
        (folder / "ca.crt").write_bytes(self.certificate.read_bytes())
        key.chmod(0o600)
        for part in (key, made):
            part.rename(folder / part.name)
        return folder


class Tls(ChaosTest):
    def setUp(self):
        self.fleet = ChaosFleet(workers=0, start=False)
        self.lab = Authority(self.fleet.folder, "Lab")
        self.stranger = Authority(self.fleet.folder, "Stranger")
        self.fleet.wanted_workers = 1

    def folder(self, name: str) -> pathlib.Path:
        return self.fleet.folder / name

    def start(self, listen: str = "") -> None:
        self.fleet.address = listen
        self.fleet.coordinator_flags = (*QUICK, "--tls", str(self.lab.write(self.folder("coordinator tls"), "coordinator")))
        self.fleet.start_coordinator()
        port = self.fleet.address.rpartition(":")[2]
        self.fleet.address = f"127.0.0.1:{port}"
        self.fleet.env |= {"DYNBENCH_COORDINATOR": self.fleet.address,
                           "DYNBENCH_TLS": str(self.lab.write(self.folder("people tls"), "people", "DNS:people"))}
        self.lab.write(self.folder("worker tls"), "worker", "DNS:worker")

    def start_worker(self) -> None:
        self.fleet.start_worker(0, flags=("--tls", str(self.folder("worker tls"))))

    def test_a_fleet_on_an_open_address_and_a_renewal_under_its_job(self):
        with self.fleet as fleet:
            self.start("0.0.0.0:0")
            self.assertIn("(TLS)", fleet.coordinator.tail())
            self.assertTrue(fleet.record["http_url"].startswith("http://127.0.0.1:"), "pages have no TLS")
            self.start_worker()
            job = fleet.run_models({"m0": ["gate a"], "m1": []})
            fleet.wait_noted("gate")
            # Another key, another certificate, the same files; nobody is told.
            before = self.serial()
            self.lab.write(self.folder("coordinator tls"), "coordinator")
            wait_until(lambda: self.serial() != before, "the coordinator to show the renewed certificate")
            self.lab.write(self.folder("worker tls"), "worker", "DNS:worker")
            fleet.open("a")
            fleet.finish(job)
            fleet.coordinator.kill9()
            fleet.address = f"0.0.0.0:{fleet.address.rpartition(':')[2]}"
            fleet.start_coordinator()
            fleet.env["DYNBENCH_COORDINATOR"] = fleet.address = f"127.0.0.1:{fleet.address.rpartition(':')[2]}"
            again = fleet.run_models({"m2": []})
            fleet.finish(again)
            fleet.expect_exactly_once(job, passed=2)
            fleet.expect_exactly_once(again, passed=1)
            self.assertRegex(fleet.ctl("doctor").out, r"ok +TLS .*CN = coordinator")

    def serial(self) -> str:
        shown = run("openssl", "s_client", "-connect", self.fleet.address, "-alpn", "h2", "-showcerts")
        return run("sh", "-c", 'printf %s "$1" | openssl x509 -noout -serial', "sh", shown.out).expect(0).out

    def test_who_does_not_belong_to_it_is_told_why(self):
        with self.fleet as fleet:
            self.start()
            strange = self.stranger.write(self.folder("strange tls"), "stranger")
            for environment, code, words in (
                    ({"DYNBENCH_TLS": ""}, 3, "expects TLS; name the folder"),
                    ({"DYNBENCH_TLS": str(strange)}, 3, "is signed by CN = Lab, which"),
                    ({"DYNBENCH_TLS": str(self.folder("nothing"))}, 2, "nothing/ca.crt: No such file")):
                ran = fleet.ctl("status", env=environment).expect(code)
                self.assertIn(words, ran.err)
            # It trusts the coordinator, which does not trust it.
            (strange / "ca.crt").write_bytes(self.lab.certificate.read_bytes())
            self.assertRegex(fleet.ctl("status", env={"DYNBENCH_TLS": str(strange)}).expect(3).err,
                             "does not accept this host's certificate .*signed by CN = Stranger")
            self.lab.write(self.folder("old tls"), "old", days=-1)
            self.assertIn("tls.crt expired on", fleet.ctl("status", "--tls", self.folder("old tls")).expect(2).err)
            (self.folder("people tls") / "tls.key").chmod(0o644)
            self.assertIn("open to others (mode 0644)", fleet.ctl("status").expect(2).err)

    def test_a_worker_tells_it_in_its_log_and_joins_when_it_is_mended(self):
        with self.fleet as fleet:
            self.start()
            tls = self.folder("worker tls")
            self.stranger.write(tls, "worker")
            worker = fleet.start_worker(0, flags=("--tls", str(tls)), wait=False)
            wait_until(lambda: "is signed by CN = Lab, which" in worker.tail(), "the worker to say why")
            self.lab.write(tls, "worker", "DNS:worker")
            fleet.wait_connected(0)

    def test_a_coordinator_for_another_name_and_one_whose_time_is_short(self):
        with self.fleet as fleet:
            self.start()
            fleet.coordinator.stop()
            tls = self.folder("coordinator tls")
            self.lab.write(tls, "coordinator", "DNS:coordinator.lab", days=5)
            fleet.start_coordinator()
            fleet.env["DYNBENCH_COORDINATOR"] = fleet.address
            wait_until(lambda: "coordinator tls/tls.crt expires on" in fleet.coordinator.tail(), "a warning")
            self.assertIn("is for coordinator.lab and not for 127.0.0.1", fleet.ctl("status").expect(3).err)
            fleet.coordinator.stop()
            self.lab.write(tls, "coordinator", days=-1)
            ran = run(str(BIN / "dynbench-coordinator"), "--listen", "127.0.0.1:0", "--state-dir",
                      str(fleet.folder / "coordinator"), "--tls", str(tls), env=fleet.env).expect(2)
            self.assertIn("tls.crt expired on", ran.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
