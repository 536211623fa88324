"""dynbench against upstream's script: same models, batch, precision, weights, threads, machine.

Warm (the default): both sides with prepared caches, `--processes` rounds a side, sides alternating.
Cold (`--start cold`): every process compiles from an empty cache; also compares compile seconds, which
says what forking from a zygote changes, and (with --accuracy) the accuracy words.
"""
import argparse
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import peer
import report
from dynbench_side import Fleet


def parse():
    parser = argparse.ArgumentParser(prog="tools/bench upstream", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--start", choices=["warm", "cold"], default="warm")
    parser.add_argument("--processes", type=int, default=3, help="fresh processes a side (3)")
    parser.add_argument("--accuracy", action="store_true", help="also compare accuracy words")
    parser.add_argument("--models", default=",".join(peer.MODELS))
    parser.add_argument("--python", default=os.path.join(
        os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")),
        "dynbench/environments/default/bin/python"))
    return parser.parse_args()


def ours(fleet, models, start, test):
    flags = [f"--{test}", *[f for f in peer.FLAGS], *peer.BATCH, "--models", ",".join(models),
             "--start", start]
    wall_s, results = fleet.submit(*flags)
    return wall_s, {r["experiment"]["model"]: r for r in results["results"]}


def main():
    args = parse()
    models = args.models.split(",")
    threads = len(os.sched_getaffinity(0))
    theirs_side = peer.Upstream(args.python, threads)
    fleet = Fleet(args.python)
    walls = {"dynbench": [], "upstream": []}
    speedups = {"dynbench": {m: [] for m in models}, "upstream": {m: [] for m in models}}
    compile_s = {"dynbench": {m: [] for m in models}, "upstream": {m: [] for m in models}}
    eager_ms = {"dynbench": {m: [] for m in models}, "upstream": {m: [] for m in models}}
    accuracy = {}
    try:
        with tempfile.TemporaryDirectory(prefix="bench-cache-") as cache:
            if args.start == "warm":  # prepare both sides, not measured
                theirs_side.run("performance", models, cache)
                ours(fleet, models, "warm", "performance")
            for round_number in range(args.processes):
                wall_s, rows = theirs_side.run("performance", models,
                                               cache if args.start == "warm" else None)
                walls["upstream"].append(wall_s)
                for model, row in rows.items():
                    speedups["upstream"][model].append(float(row["speedup"]))
                    compile_s["upstream"][model].append(float(row["compilation_latency"]))
                    eager_ms["upstream"][model].append(
                        float(row["speedup"]) * float(row["abs_latency"]))
                if round_number:
                    fleet.restart()
                wall_s, rows = ours(fleet, models, args.start, "performance")
                walls["dynbench"].append(wall_s)
                for model, row in rows.items():
                    metrics = row["metrics"]
                    if "speedup" not in metrics:
                        raise SystemExit(f"bench: {model} has no speedup: {row}")
                    speedups["dynbench"][model].append(metrics["speedup"])
                    compile_s["dynbench"][model].append(metrics["compilation_latency_s"])
                    eager_ms["dynbench"][model].append(metrics["eager_latency_ms"])
        if args.accuracy:
            _, theirs = theirs_side.run("accuracy", models, None)
            _, mine = ours(fleet, models, "cold", "accuracy")
            accuracy = {m: {"upstream": theirs[m]["accuracy"], "dynbench": mine[m]["status"]}
                        for m in models}
    finally:
        fleet.close()
        theirs_side.close()

    low, high = report.geomean_ratio_interval(speedups["dynbench"], speedups["upstream"])
    bias = [statistics.median(compile_s["dynbench"][m]) / statistics.median(compile_s["upstream"][m])
            for m in models]
    figures = {
        "makespan_ratio": statistics.median(walls["dynbench"]) / statistics.median(walls["upstream"]),
        "dynbench_makespan_s": statistics.median(walls["dynbench"]),
        "upstream_makespan_s": statistics.median(walls["upstream"]),
        "speedup_geomean_ratio_low": low,
        "speedup_geomean_ratio_high": high,
        "compile_ratio_geomean": report.geomean(bias),
    }
    if accuracy:
        figures["accuracy_words_equal"] = sum(
            1 for words in accuracy.values() if words["upstream"] == words["dynbench"])
        figures["accuracy_words"] = len(accuracy)
    details = {
        "upstream_command": theirs_side.arguments("performance", ["--output=FILE"]),
        "start": args.start,
        "walls_s": walls,
        "speedup": speedups,
        "compilation_latency_s": compile_s,
        "eager_latency_ms": eager_ms,
        "accuracy": accuracy,
    }
    result = report.report("upstream", figures, details)
    report.print_report(result, args.json)
    if not args.json:
        print(f"  {'model':32} {'upstream (range)':>24} {'dynbench (range)':>24} compile s up/dyn")
        for m in models:
            u, d = (report.median_and_range(speedups[s][m]) for s in ("upstream", "dynbench"))
            print(f"  {m:32} {u['median']:8.3f} {u['low']:6.3f}–{u['high']:.3f} "
                  f"{d['median']:12.3f} {d['low']:6.3f}–{d['high']:.3f} "
                  f"{statistics.median(compile_s['upstream'][m]):8.2f} "
                  f"{statistics.median(compile_s['dynbench'][m]):.2f} "
                  + (f"{accuracy[m]['upstream']}/{accuracy[m]['dynbench']}" if accuracy else ""))


if __name__ == "__main__":
    main()
