"""Many idle workers, a TCP connection each: what they cost the coordinator, and how long it takes until
all of them are back with their leases after kill -9 of the coordinator."""
import argparse
import os
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import report
from coordinator_side import Coordinator, Load


def main():
    parser = argparse.ArgumentParser(prog="tools/bench connections", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--workers", type=int, default=10000)
    parser.add_argument("--idle-s", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=2, help="kills")
    args = parser.parse_args()
    coordinator = Coordinator()
    again_s = []
    try:
        # Every worker holds one experiment, which never ends: idle but for its beats.
        coordinator.submit(args.workers)
        load = Load(coordinator, workers=args.workers, connections=0, rate=-1)
        first = load.wait_connected(timeout_s=300)
        threading.Event().wait(min(5.0, args.idle_s))  # the first leases are on their way
        cpu_s, begun = coordinator.cpu_s(), time.monotonic()
        threading.Event().wait(args.idle_s)
        cores = (coordinator.cpu_s() - cpu_s) / (time.monotonic() - begun)
        rss = coordinator.rss_bytes()
        for round_number in range(args.rounds):
            coordinator.kill()
            begun = time.monotonic()
            coordinator.start()
            load.wait_connected(times=round_number + 2, timeout_s=300)
            again_s.append(time.monotonic() - begun)
        threading.Event().wait(min(5.0, args.idle_s))  # a lease that was lost is revoked by then
        end = load.close()
    finally:
        coordinator.close()
    figures = {
        "idle_cores": cores,
        "idle_rss_bytes": rss,
        "first_connected_s": first["seconds"],
        "reconnected_s": statistics.median(again_s),
        "reconnected_s_max": max(again_s),
        "leases_lost": end["revoked"] + max(0, end["leased"] - args.workers),
    }
    report.print_report(report.report("connections", figures, {"load": end}),
                        args.json)


if __name__ == "__main__":
    main()
