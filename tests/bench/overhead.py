"""What dynbench itself costs: from `submit` accepted to the first experiment's child, `status`, and
what the harness adds to a sample.

Uses a `path:` model that does next to nothing, with a zygote that is already warm.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import report
from dynbench_side import Fleet

MODEL = '''
import torch

class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x)

    def get_example_inputs(self):
        return (torch.randn(2, 8),)


class Null(torch.nn.Module):
    def forward(self, x):
        return x

    def get_example_inputs(self):
        return (torch.randn(1, 1),)
'''


def main():
    parser = argparse.ArgumentParser(prog="tools/bench overhead", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python", default=os.path.join(
        os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")),
        "dynbench/environments/default/bin/python"))
    args = parser.parse_args()
    fleet = Fleet(args.python)
    to_start_s, status_ms, wall_s, harness_us, null_us = [], [], [], [], []
    try:
        with tempfile.TemporaryDirectory(prefix="bench-model-") as folder:
            path = os.path.join(folder, "tiny.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(MODEL)
            for _ in range(args.rounds + 1):
                begun = time.monotonic()
                text = fleet.control("submit", f"--only=path:{path},class:Tiny", "--performance",
                                     "--backend=eager", "--repeat=3", "--wait", "--json",
                                     accept=(0, 1))
                wall_s.append(time.monotonic() - begun)
                results = json.loads(text)
                row = results["results"][0]
                to_start_s.append(
                    (row["started_unix_ms"] - results["job"]["submitted_unix_ms"]) / 1e3)
            for _ in range(args.rounds):
                text = fleet.control("submit", f"--only=path:{path},class:Null", "--performance",
                                     "--backend=nothing", "--repeat=30", "--wait", "--json")
                metrics = json.loads(text)["results"][0]["metrics"]
                harness_us.append(metrics["harness_overhead_us"])
                null_us.append(1e3 * metrics["abs_latency_ms"])
            for _ in range(20):
                begun = time.monotonic()
                fleet.control("status", "--json")
                status_ms.append(1e3 * (time.monotonic() - begun))
    finally:
        fleet.close()
    figures = {
        "submit_to_start_s": statistics.median(to_start_s[1:]),
        "submit_to_start_s_max": max(to_start_s[1:]),
        "status_ms": statistics.median(status_ms),
        "status_ms_max": max(status_ms),
        "empty_experiment_wall_s": statistics.median(wall_s[1:]),
        "harness_overhead_us": statistics.median(harness_us),
        "null_model_us": statistics.median(null_us),
    }
    report.print_report(report.report("overhead", figures, {
        "to_start_s": to_start_s, "status_ms": status_ms, "harness_us": harness_us,
        "null_us": null_us}), args.json)


if __name__ == "__main__":
    main()
