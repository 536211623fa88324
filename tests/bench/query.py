"""Answers out of a store with many results: `status`, and all results of one job, each over HTTP (what
the coordinator needs) and as a whole process of dynbenchctl."""
import argparse
import os
import statistics
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import big_store
import report
from coordinator_side import Coordinator


def timed_ms(action, rounds: int) -> list:
    spans = []
    for _ in range(rounds + 1):
        begun = time.monotonic()
        action()
        spans.append(1e3 * (time.monotonic() - begun))
    return spans[1:]  # the first one fills caches


def main():
    parser = argparse.ArgumentParser(prog="tools/bench query", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--results", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-query-") as folder:
        stored = big_store.make(folder, args.results)
        coordinator = Coordinator(folder)
        try:
            job = max(1, stored // big_store.MODELS_MAX // 2)
            url = f"http://{coordinator.http}/api/v1"

            def get(path):
                return urllib.request.urlopen(f"{url}/{path}", timeout=60).read()
            spans = {
                "status_ms": timed_ms(lambda: get("status"), args.rounds),
                "results_ms": timed_ms(lambda: get(f"jobs/{job}/results"), args.rounds),
                "status_cli_ms": timed_ms(lambda: coordinator.control("status"), args.rounds),
                "results_cli_ms": timed_ms(lambda: coordinator.control("results", str(job)),
                                           args.rounds),
            }
        finally:
            coordinator.close()
    figures = {name: statistics.median(values) for name, values in spans.items()}
    figures |= {f"{name}_max": max(values) for name, values in spans.items()}
    figures["results_stored"] = stored
    report.print_report(report.report("query", figures, {"spans_ms": spans}), args.json)


if __name__ == "__main__":
    main()
