"""Method: one real TIMM model, performance and accuracy, cold, through a real worker, with upstream's
spelling of the command; the CSV files must be upstream's, the numbers real, the accuracy a pass."""

import csv
import unittest

from fleet import FleetTest

MODEL = "mobilenetv2_100"


class Timm(FleetTest):
    fleet_options = {"workers": 1}

    def test_real_model(self):
        output = self.fleet.folder / "timm_models.csv"
        ran = self.fleet.ctl("submit", "--suite", "timm", "--inference", "--bfloat16", "--backend=inductor",
                             "--disable-cudagraphs", f"--only={MODEL}", "--batch-size", "2", "--repeat", "5",
                             "--output", str(output), "--wait", timeout_s=800)
        self.assertEqual(ran.code, 0, ran)
        performance = self.rows(output, "performance")
        self.assertEqual((performance["dev"], performance["name"], performance["batch_size"]), ("cpu", MODEL, "2"))
        self.assertGreater(float(performance["speedup"]), 0.1)
        self.assertGreater(float(performance["abs_latency"]), 0)
        self.assertGreater(float(performance["compilation_latency"]), 1, "a cold compilation takes seconds")
        self.assertGreater(int(performance["calls_captured"]), 50)
        self.assertEqual(performance["graph_breaks"], "0")
        self.assertEqual(self.rows(output, "accuracy")["accuracy"], "pass")

        job = str(self.fleet.ctl("status", "--json").expect(0).json()["jobs"][0]["id"])
        row = self.fleet.rows(job)[f"{MODEL}/performance"]
        self.assertTrue(row["start_proof"]["proven"])
        self.assertEqual(row["metrics"]["graph_breaks"], 0)
        self.assertIn(MODEL, ran.out, "the table is printed at the end")

    def rows(self, output, test: str) -> dict[str, str]:
        file = output.with_name(f"{output.stem}_{test}.csv")
        with file.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual(len(rows), 1)
        return rows[0]


if __name__ == "__main__":
    unittest.main(verbosity=2)
