"""From a free slot to its next lease on the way, the lease's commit included, while results come in
at a rate. Measured by the load generator: from the acknowledgement of a lease's last result to the
next lease, both as received, so that the figure holds what the coordinator needs and no more than
the wobble of one stream."""
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
        # So many that leases do not shrink towards the end of the work.
        wanted = int(arguments.rate * arguments.seconds)
        coordinator.submit(wanted + 20 * arguments.workers, wide=True)
        return Load(coordinator, workers=arguments.workers, connections=arguments.connections,
                    rate=arguments.rate, results=wanted).summary()
    finally:
        coordinator.close()


def main():
    parser = argparse.ArgumentParser(prog="tools/bench assign", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rate", type=float, default=2000, help="results per second")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rounds = [measure(args) for _ in range(args.rounds)]
    figures = {
        "assign_p50_ms": statistics.median(r["assign_p50_ms"] for r in rounds),
        "assign_p99_ms": statistics.median(r["assign_p99_ms"] for r in rounds),
        "assign_p99_ms_high": max(r["assign_p99_ms"] for r in rounds),
        "assign_max_ms": max(r["assign_max_ms"] for r in rounds),
        "assignments": sum(r["assignments"] for r in rounds),
        "completions_per_s": statistics.median(r["per_s"] for r in rounds),
    }
    report.print_report(report.report("assign", figures, {"rounds": rounds}), args.json)


if __name__ == "__main__":
    main()
