"""Answers out of a store with many results: `status`, and all results of one job, each over HTTP (what
the coordinator needs) and as a whole process of dynbenchctl."""
import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import big_store
import report
from coordinator_side import Coordinator


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(action, coordinator: Coordinator, rounds: int) -> dict:
    """Wall time of each round, CPU per round of the coordinator and of the processes started."""
    action()  # fills caches
    spans = []
    cpu_s = coordinator.cpu_s(), children_cpu_s()
    for _ in range(rounds):
        begun = time.monotonic()
        action()
        spans.append(1e3 * (time.monotonic() - begun))
    return {"ms": spans, "coordinator_cpu_ms": 1e3 * (coordinator.cpu_s() - cpu_s[0]) / rounds,
            "client_cpu_ms": 1e3 * (children_cpu_s() - cpu_s[1]) / rounds}


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
            asked = {
                "status": lambda: get("status"),
                "results": lambda: get(f"jobs/{job}/results"),
                "status_cli": lambda: coordinator.control("status"),
                "results_cli": lambda: coordinator.control("results", str(job)),
            }
            told = {name: measure(action, coordinator, args.rounds)
                    for name, action in asked.items()}
        finally:
            coordinator.close()
    figures = {f"{name}_ms": statistics.median(m["ms"]) for name, m in told.items()}
    figures |= {f"{name}_ms_max": max(m["ms"]) for name, m in told.items()}
    figures |= {f"{name}_coordinator_cpu_ms": m["coordinator_cpu_ms"] for name, m in told.items()}
    figures |= {f"{name}_client_cpu_ms": m["client_cpu_ms"] for name, m in told.items()
                if name.endswith("_cli")}
    figures["results_stored"] = stored
    report.print_report(report.report("query", figures, {"rounds": told}), args.json)


if __name__ == "__main__":
    main()
