"""Method: two workers on this host, six models of one class that note each load, one job. Each model
must have been loaded by exactly one process under one attempt, both workers must have had some, the
coverage must balance, and every way to read the job must tell the same."""

import csv
import io
import json
import unittest

from fleet import FleetTest

MODELS = ["Good", "Good2", "Good3", "Good4", "Good5", "Slow"]


class Share(FleetTest):
    fleet_options = {"workers": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = cls.fleet.submit(*cls.fleet.only(*MODELS), "--backend", "eager", "--performance", "--repeat", "5")
        cls.waited = cls.fleet.ctl("wait", cls.job, timeout_s=180)

    def test_each_experiment_ran_once(self):
        self.assertEqual(self.waited.code, 0, self.waited)
        coverage = self.fleet.coverage(self.job)
        self.assertEqual((coverage["planned"], coverage["passed"]), (len(MODELS), len(MODELS)))
        loads = {}
        for note in self.fleet.noted("built"):
            loads.setdefault(note["model"], set()).add(note["pid"])
        self.assertEqual({model: len(pids) for model, pids in loads.items()}, dict.fromkeys(MODELS, 1))
        for model, row in self.fleet.rows(self.job).items():
            self.assertEqual(row["attempt"], 1, model)

    def test_one_process_each(self):
        pids = [note["pid"] for note in self.fleet.noted("built")]
        self.assertEqual(len(set(pids)), len(MODELS), "two experiments shared a process")

    def test_both_workers_had_some(self):
        self.assertEqual(len({row["worker"] for row in self.fleet.rows(self.job).values()}), 2)

    def test_workers_claim_disjoint_cores(self):
        workers = self.fleet.ctl("workers", "--json").expect(0).json()["workers"]
        self.assertEqual(len(workers), 2)
        cores = [slot["cores"] for worker in workers for slot in worker["slots"]]
        self.assertEqual(len(cores), len(set(cores)), cores)

    def test_csv_is_upstreams(self):
        text = self.fleet.ctl("results", self.job, "--csv").expect(0).out
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0][:5], ["dev", "name", "batch_size", "speedup", "abs_latency"])
        self.assertEqual(rows[0][5:9], ["compilation_latency", "compression_ratio", "eager_peak_mem", "dynamo_peak_mem"])
        self.assertEqual([row[1] for row in rows[1:]], MODELS)
        self.assertTrue(all(row[0] == "cpu" and float(row[3]) > 0 for row in rows[1:]))

    def test_json_has_what_the_table_has(self):
        answer = self.fleet.results(self.job)
        self.assertEqual(answer["schema"], "dynbench.results/1")
        table = self.fleet.ctl("results", self.job).expect(0).out
        text = json.dumps(answer)
        for model, row in self.fleet.rows(self.job).items():
            self.assertIn(model, table)
            self.assertIn(row["outcome"], text)
            self.assertGreater(row["metrics"]["speedup"], 0)
            self.assertGreater(row["metrics"]["abs_latency_ms"], 0)
            self.assertGreater(row["metrics"]["eager_latency_ms"], 0)

    def test_offline_reading(self):
        """--db answers the same without a server."""
        online = self.fleet.results(self.job)
        offline = self.fleet.ctl("results", self.job, "--json", "--db", self.fleet.record["database"],
                                 env={"DYNBENCH_COORDINATOR": "127.0.0.1:1"}).expect(0).json()
        self.assertEqual(online["results"], offline["results"])

    def test_status_line(self):
        jobs = self.fleet.ctl("status", "--json").expect(0).json()
        self.assertEqual(jobs["schema"], "dynbench.status/1")
        self.assertEqual(jobs["jobs"][0]["passed"], len(MODELS))
        self.assertEqual(jobs["jobs"][0]["state"], "finished")

    def test_watch_of_a_finished_job_ends(self):
        ran = self.fleet.ctl("watch", self.job, timeout_s=20).expect(0)
        self.assertNotIn("\x1b", ran.out + ran.err, "no terminal codes into a pipe")

    def test_repro_is_one_block(self):
        row = self.fleet.rows(self.job)["Good"]
        text = self.fleet.ctl("repro", str(row["experiment"]["id"])).expect(0).out
        self.assertIn("Good", text)
        self.assertIn("dynbenchctl submit", text)

    def test_names_from_the_plan_never_become_paths(self):
        for row in self.fleet.rows(self.job).values():
            self.assertNotIn("/", row["experiment"]["model"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
