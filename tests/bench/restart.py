"""From the start of a coordinator's process to the first lease that it gives to a waiting worker, with
many results and an unfinished job in its store, after kill -9."""
import argparse
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import big_store
import report
from coordinator_side import Coordinator, Load, wait_until


def main():
    parser = argparse.ArgumentParser(prog="tools/bench restart", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--results", type=int, default=1000000)
    parser.add_argument("--waiting", type=int, default=2000, help="experiments of the open job")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    ready_s, dispatching_s = [], []
    with tempfile.TemporaryDirectory(prefix="bench-restart-") as folder:
        stored = big_store.make(folder, args.results)
        coordinator = Coordinator(folder)
        try:
            coordinator.submit(args.waiting)
            for _ in range(args.rounds):
                coordinator.kill()
                # Its workers wait for it, as a fleet's do; they hold what they get.
                load = Load(coordinator, workers=10, connections=10, rate=-1)
                begun = time.monotonic()
                ready_s.append(coordinator.start())
                wait_until(lambda: coordinator.metrics()["dynbench_assignment_seconds_count"] > 0,
                           "the first lease")
                dispatching_s.append(time.monotonic() - begun)
                load.close()
        finally:
            coordinator.close()
    figures = {
        "dispatching_s": statistics.median(dispatching_s),
        "dispatching_s_max": max(dispatching_s),
        "ready_s": statistics.median(ready_s),
        "results_stored": stored,
    }
    details = {"dispatching_s": dispatching_s, "ready_s": ready_s}
    report.print_report(report.report("restart", figures, details), args.json)


if __name__ == "__main__":
    main()
