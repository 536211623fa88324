"""Durable completions per second: results of 30 + 30 samples from many worker streams, each
acknowledged after its commit with FULL synchronisation, leases and their commits included. The
load generator runs on the same cores."""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import report
from coordinator_side import Coordinator, Load


def measure(arguments) -> dict:
    coordinator = Coordinator()
    try:
        results = coordinator.submit(arguments.results, wide=True)
        cpu_s = coordinator.cpu_s()
        flags = {"starts": True} if arguments.starts else {}
        done = Load(coordinator, workers=arguments.workers, connections=arguments.connections,
                    results=results, **flags).summary()
        done["coordinator_cpu_us"] = (coordinator.cpu_s() - cpu_s) / results * 1e6
        metrics = coordinator.metrics()
        done["changes_per_commit"] = (metrics["dynbench_ingest_changes_total"]
                                      / metrics["dynbench_ingest_batches_total"])
        return done
    finally:
        coordinator.close()


def main():
    parser = argparse.ArgumentParser(prog="tools/bench ingest", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--results", type=int, default=120000)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--starts", action="store_true",
                        help="tell and commit the start of every attempt, too")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rounds = [measure(args) for _ in range(args.rounds)]
    figures = {
        "completions_per_s": statistics.median(r["per_s"] for r in rounds),
        "completions_per_s_low": min(r["per_s"] for r in rounds),
        "completions_per_s_high": max(r["per_s"] for r in rounds),
        "coordinator_cpu_us_per_completion":
            statistics.median(r["coordinator_cpu_us"] for r in rounds),
        "changes_per_commit": statistics.median(r["changes_per_commit"] for r in rounds),
    }
    report.print_report(report.report("ingest", figures, {"rounds": rounds}), args.json)


if __name__ == "__main__":
    main()
