"""Method: small programs as experiments of the command engine, through a real coordinator, worker and
dynbenchctl. What a program reports must be in its row; what it misspells must fail it by name; one that
says nothing has not measured anything."""

import json
import sys
import unittest

from fleet import FleetTest

GOOD = r"""
import json, os, sys
def tell(**what): print("dynbench: " + json.dumps(what), flush=True)
tell(phase="compile")
tell(metric="graph_breaks", value=2)
tell(phase="measure")
tell(sample="eager", ns=[4_000_000] * 5)
tell(sample="compiled", ns=[2_000_000] * 5)
tell(batch_size=int(sys.argv[1]))
tell(fact="arguments", value=" ".join(sys.argv[1:]))
print(os.getcwd())
"""


class CommandEngine(FleetTest):
    fleet_options = {"workers": 1}

    def run_program(self, code, *words, flags=("--performance",), exit_code=0):
        job = self.fleet.submit("--engine", "command", "--label", "mine", *flags, "--", sys.executable, "-c", code, *words)
        self.fleet.finish(job, code=exit_code)
        rows = self.fleet.results(job)["results"]
        self.assertEqual(len(rows), 1)
        return rows[0]

    def test_what_it_reports_is_its_row(self):
        row = self.run_program(GOOD, "8", "{precision}", "{model}")
        self.assertEqual((row["outcome"], row["status"], row["batch_size"]), ("passed", "measured", 8), row)
        self.assertAlmostEqual(row["metrics"]["speedup"], 2)
        self.assertAlmostEqual(row["metrics"]["abs_latency_ms"], 2)
        self.assertEqual(row["metrics"]["graph_breaks"], 2)
        self.assertEqual(row["experiment"]["model"], "mine")
        self.assertEqual(row["in_force"]["command.arguments"], "8 bfloat16 mine")
        self.assertEqual(json.loads(row["in_force"]["argv"])[-3:], ["8", "bfloat16", "mine"])

    def test_once_for_each_model_of_a_suite(self):
        job = self.fleet.submit("--engine", "command", "--performance", "--suite", "timm", "--models",
                                "ghostnet_100,mobilenetv2_100", "--batch-size", "4", "--", sys.executable, "-c", GOOD,
                                "{batch_size}", "{model}")
        self.fleet.finish(job)
        for model, row in self.fleet.rows(job).items():
            self.assertEqual(row["in_force"]["command.arguments"], f"4 {model}")

    def test_a_misspelt_metric_fails_by_name(self):
        row = self.run_program("print('dynbench: {\"metric\": \"abs_latncy_ms\", \"value\": 1}')", exit_code=1)
        self.assertEqual((row["outcome"], row["status"]), ("failed", "report_refused"), row)
        self.assertIn('"abs_latency_ms"', row["error"])
        self.assertEqual(row["metrics"], {})

    def test_silence_is_a_crash_and_a_status_is_believed(self):
        row = self.run_program("pass", exit_code=1)
        self.assertEqual((row["outcome"], row["status"], row["phase"]), ("failed", "crash", "load"), row)
        said = "print('dynbench: {\"status\": \"%s\"}')"
        row = self.run_program(said % "pass", flags=("--accuracy",))
        self.assertEqual((row["outcome"], row["status"]), ("passed", "pass"), row)
        row = self.run_program(said % "fail_accuracy", flags=("--accuracy",), exit_code=1)
        self.assertEqual((row["status"], row["blame"]), ("fail_accuracy", "compiler"), row)

    def test_a_program_is_wanted(self):
        ran = self.fleet.ctl("submit", "--engine", "command", "--performance")
        self.assertEqual(ran.code, 2, ran)


if __name__ == "__main__":
    unittest.main(verbosity=2)
