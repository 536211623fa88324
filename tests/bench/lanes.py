"""Lanes and windows: one lane, several, several without freezing, and upstream's script, on the same
models, cold. Shows the makespan of each, whether speedups and chosen kernels are those of one lane, and
what happens to them when nobody is frozen.

Sides take turns, `--rounds` times, each with new processes; whatever is done when `--limit` is reached is
reported. With --bundle it runs from a tarball of tools/bundle, as on a host without sources.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import peer
import report

MODELS = [
    "mobilenetv2_100", "mobilenetv3_large_100", "ghostnet_100", "tf_efficientnet_b0", "repvgg_a2",
    "deit_tiny_patch16_224.fb_in1k", "mobilevit_s", "visformer_small",
]
# name: what --lanes takes, whether windows freeze
SIDES = {"lanes1": ("1", True), "auto": ("auto", True), "unfrozen": ("auto", False)}


def parse():
    parser = argparse.ArgumentParser(prog="tools/bench lanes", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--batch-size", type=int, default=0, help="0: 64 on cuda, 2 on a CPU")
    parser.add_argument("--sides", default="auto,lanes1,unfrozen,upstream",
                        help="of lanes1, auto, unfrozen, upstream, lanesN (auto,lanes1,unfrozen,upstream)")
    parser.add_argument("--test", choices=["performance", "accuracy"], default="performance")
    parser.add_argument("--upstream-models", default="",
                        help="those that upstream's script runs (default: all); seconds a model are compared")
    parser.add_argument("--rounds", type=int, default=1, help="processes a side (1)")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which no side begins")
    parser.add_argument("--bundle", help="a tarball of tools/bundle to run from")
    parser.add_argument("--bin", help="a folder with the programs (default: the release build)")
    parser.add_argument("--environments", help="where the runner is kept (default: build/bench-environments)")
    parser.add_argument("--output", help="the report also goes to this file, after each side")
    parser.add_argument("--python", default=os.path.join(
        os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")),
        "dynbench/environments/default/bin/python"))
    args = parser.parse_args()
    args.models = args.models.split(",")
    args.upstream_models = args.upstream_models.split(",") if args.upstream_models else args.models
    args.batch_size = args.batch_size or (64 if args.device == "cuda" else 2)
    return args


def use_programs(args, folder: str) -> None:
    """Before lib's modules look for binaries."""
    if args.bundle:
        subprocess.run(["tar", "-C", folder, "-xzf", args.bundle], check=True)
        (root,) = [e.path for e in os.scandir(folder) if e.name.startswith("dynbench-")]
        args.bin = os.path.join(root, "bin")
    if args.bin:
        os.environ["DYNBENCH_BIN"] = os.path.abspath(args.bin)


def lanes_of(side: str):
    if side in SIDES:
        return SIDES[side]
    if side.startswith("lanes") and side[5:].isdigit():
        return side[5:], True
    raise SystemExit(f"bench: no side {side!r}")


def digest(row) -> str:
    text = row.get("compiler_report") or "{}"
    told = json.loads(text) if isinstance(text, str) else text
    return (told.get("autotune") or {}).get("hash", "")


def kernels_of(fleet) -> dict:
    """{model: hash over everything that was chosen}; the store has the compiler's report."""
    import sqlite3

    database = os.path.join(fleet.coordinator.state, "dynbench.db")
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT e.model, r.compiler_report FROM result r"
                          " JOIN experiment e ON e.id = r.experiment").fetchall()
    return {model: digest({"compiler_report": text}) for model, text in rows}


def run_ours(args, side: str, environments: str) -> dict:
    from lane_fleet import LaneFleet

    lanes, freeze = lanes_of(side)
    fleet = LaneFleet(args.python, environments, lanes, freeze, args.device)
    try:
        wall_s, rows = fleet.submit(
            "timm", f"--{args.test}", "--inference", "--bfloat16", "--backend=inductor",
            "--disable-cudagraphs", "--batch-size", str(args.batch_size), "--models",
            ",".join(args.models), "--start", "cold", "--device", args.device)
        return {"side": side, "wall_s": wall_s, "s_per_model": wall_s / len(args.models),
                "rows": {r["experiment"]["model"]: {
                    "status": r["status"], "notes": r.get("notes", []), **r.get("metrics", {})}
                    for r in rows},
                "kernels": kernels_of(fleet), "idle": fleet.idle()}
    finally:
        fleet.close()


def run_upstream(args) -> dict:
    script = peer.Upstream(args.python, len(os.sched_getaffinity(0)), args.device, args.batch_size)
    try:
        wall_s, rows = script.run(args.test, args.upstream_models, None)
        told = {}
        for model, row in rows.items():
            told[model] = {"status": row.get("accuracy", "measured")}
            if "speedup" in row:
                told[model]["speedup"] = float(row["speedup"])
                told[model]["compilation_latency_s"] = float(row["compilation_latency"])
        return {"side": "upstream", "wall_s": wall_s,
                "s_per_model": wall_s / len(args.upstream_models), "rows": told,
                "command": script.arguments(args.test, ["--only=MODEL", "--output=FILE"])}
    finally:
        script.close()


def speedups(runs, side: str) -> dict:
    found = {}
    for run in runs:
        if run["side"] != side:
            continue
        for model, row in run["rows"].items():
            if row.get("speedup"):
                found.setdefault(model, []).append(row["speedup"])
    return found


def kernels_equal(runs, side: str):
    """(models whose choices were those of one lane in some process, models with any choice)."""
    chosen = {}
    for run in runs:
        for model, value in run.get("kernels", {}).items():
            if value:
                chosen.setdefault(model, {}).setdefault(run["side"], set()).add(value)
    both = [c for c in chosen.values() if side in c and "lanes1" in c]
    return sum(1 for c in both if c[side] & c["lanes1"]), len(both)


def figures_of(runs) -> dict:
    figures = {}
    sides = sorted({run["side"] for run in runs})
    for side in sides:
        mine = [run for run in runs if run["side"] == side]
        figures[f"{side}_s_per_model"] = statistics.median(run["s_per_model"] for run in mine)
        figures[f"{side}_rounds"] = len(mine)
    if "upstream" in sides:
        for side in sides:
            if side != "upstream":
                figures[f"{side}_times_shorter_than_upstream"] = (
                    figures["upstream_s_per_model"] / figures[f"{side}_s_per_model"])
    base = "lanes1" if "lanes1" in sides else "upstream"
    for side in sides:
        ours, theirs = speedups(runs, side), speedups(runs, base)
        if side == base or not set(ours) & set(theirs):
            continue
        low, high = report.geomean_ratio_interval(ours, theirs)
        figures[f"{side}_speedup_over_{base}_low"], figures[f"{side}_speedup_over_{base}_high"] = low, high
        ratios = [statistics.median(ours[m]) / statistics.median(theirs[m])
                  for m in set(ours) & set(theirs)]
        figures[f"{side}_worst_model_over_{base}"] = max(ratios, key=lambda r: abs(r - 1))
        if side != "upstream" and base == "lanes1":
            equal, of = kernels_equal(runs, side)
            figures[f"{side}_models_with_equal_kernels"], figures[f"{side}_models_with_kernels"] = equal, of
    return figures


def table(runs, models) -> None:
    shown = ("speedup", "eager_latency_ms", "abs_latency_ms", "eager_device_busy_ms",
             "compiled_device_busy_ms", "launch_canary_us", "compile_synchronized_s", "autotune_s",
             "window_wait_s", "window_repeats")
    for model in models:
        print(f"  {model}")
        for run in runs:
            row = run["rows"].get(model)
            if not row:
                continue
            numbers = "  ".join(f"{name} {row[name]:.3g}"
                                for name in shown if row.get(name) is not None)
            print(f"    {run['side']:9} {row['status']:10} {numbers}"
                  f"  kernels {run.get('kernels', {}).get(model, '') or '-'}")


def main():
    args = parse()
    begun = time.monotonic()
    sides = args.sides.split(",")
    for side in sides:
        if side != "upstream":
            lanes_of(side)
    runs, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="bench-lanes-") as folder:
        use_programs(args, folder)
        environments = os.path.abspath(args.environments or os.path.join(
            os.path.dirname(os.path.abspath(__file__)), "../../build/bench-environments"))
        for number in range(args.rounds):
            # The other way round every second time: hosts drift.
            for side in sides if number % 2 == 0 else sides[::-1]:
                if time.monotonic() - begun > args.limit:
                    left_out.append(f"{side} of round {number + 1}")
                    continue
                runs.append(run_upstream(args) if side == "upstream"
                            else run_ours(args, side, environments))
                print(f"bench: {side}: {runs[-1]['wall_s']:.1f} s, {runs[-1]['s_per_model']:.2f} s a model",
                      file=sys.stderr, flush=True)
                result = report.report("lanes", figures_of(runs), {
                    "runs": runs, "left_out": left_out, "device": args.device,
                    "batch_size": args.batch_size, "models": args.models, "test": args.test})
                if args.output:
                    with open(args.output, "w", encoding="utf-8") as file:
                        json.dump(result, file, indent=1)
    report.print_report(result, args.json)
    if not args.json:
        table(runs, args.models)
        for line in left_out:
            print(f"  not run for want of time: {line}")


if __name__ == "__main__":
    main()
