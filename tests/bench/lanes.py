"""Lanes and windows: one lane, several, several without freezing, and upstream's script, on the same
models, cold. Shows the makespan of each, whether speedups and chosen kernels are those of one lane, and
what happens to them when nobody is frozen.

Sides take turns, `--rounds` times, each with new processes; whatever is done when `--limit` is reached is
reported. Where a visit to a machine is several calls, `--earlier` takes the reports of those before: their
runs count, and the script is not run again for a model that it has run. With --bundle it runs from a tarball of
tools/bundle, as on a host without sources.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import lane_figures
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
    parser.add_argument("--suite", default="timm", help="an installed suite or a file of your own (timm)")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--batch-size", type=int, default=0, help="0: 64 on cuda, 2 on a CPU")
    parser.add_argument("--sides", default="auto,lanes1,unfrozen,upstream",
                        help="of lanes1, auto, unfrozen, upstream, lanesN (auto,lanes1,unfrozen,upstream)")
    parser.add_argument("--test", choices=["performance", "accuracy"], default="performance")
    parser.add_argument("--upstream-models", default="",
                        help="those that upstream's script runs (default: all)")
    parser.add_argument("--rounds", type=int, default=1, help="processes a side (1)")
    parser.add_argument("--limit", type=float, default=3600,
                        help="seconds after which no side begins, nor a model of upstream's script (3600)")
    parser.add_argument("--earlier", default="", help="reports of earlier calls, with commas; their runs count")
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
    args.suite = os.path.abspath(args.suite) if args.suite.endswith(".yaml") else args.suite
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


PHASES = ("prepare", "load", "eager", "reference", "compile", "ready", "measure", "verify", "report")


def phases_of(blob) -> dict:
    """{phase: [seconds without frozen spans, frozen seconds]} of the store's numbers (docs/schema.md)."""
    numbers = struct.unpack(f"<{len(blob or b'') // 8}q", blob or b"")
    return {PHASES[phase]: [ns / 1e9, frozen_ns / 1e9]
            for phase, ns, frozen_ns in zip(numbers[::3], numbers[1::3], numbers[2::3])}


def told_by_store(fleet) -> dict:
    """{model: what `results` does not print}: when it ran, where, its phases and what was chosen."""
    import sqlite3

    database = os.path.join(fleet.coordinator.state, "dynbench.db")
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT e.model, r.started_unix_ms, r.finished_unix_ms, r.cores, r.phases,"
                          " r.compiler_report FROM result r JOIN experiment e ON e.id = r.experiment").fetchall()
    first = min((row[1] for row in rows if row[1]), default=0)
    return {model: {"from_s": (begun - first) / 1000 if begun else None,
                    "to_s": (ended - first) / 1000 if begun else None, "cores": cores,
                    "phases": phases_of(phases), "kernels": digest({"compiler_report": report_text})}
            for model, begun, ended, cores, phases, report_text in rows}


def run_ours(args, side: str, environments: str) -> dict:
    from lane_fleet import LaneFleet

    lanes, freeze = lanes_of(side)
    fleet = LaneFleet(args.python, environments, lanes, freeze, args.device)
    try:
        wall_s, rows = fleet.submit(
            args.suite, f"--{args.test}", "--inference", "--bfloat16", "--backend=inductor",
            "--disable-cudagraphs", "--batch-size", str(args.batch_size), "--models",
            ",".join(args.models), "--start", "cold", "--device", args.device)
        told = told_by_store(fleet)
        return {"side": side, "wall_s": wall_s, "fleet_start_s": fleet.start_s,
                "rows": {r["experiment"]["model"]: {
                    "status": r["status"], "notes": r.get("notes", []),
                    **told.get(r["experiment"]["model"], {}), **r.get("metrics", {})} for r in rows},
                "kernels": {model: t["kernels"] for model, t in told.items()}, "idle": fleet.idle()}
    finally:
        fleet.close()


def run_upstream(args, run, has_time, keep) -> None:
    """Fills in `run`: the models that lack, one after the other, as long as `has_time`; `keep` after each."""
    script = peer.Upstream(args.python, len(os.sched_getaffinity(0)), args.device, args.batch_size)
    run["command"] = script.arguments(args.test, ["--only=MODEL", "--output=FILE"])
    try:
        while run["left"] and has_time():
            model = run["left"].pop(0)
            wall_s, row, told = script.cold(args.test, model)
            if args.test == "performance" and "compilation_latency" not in (row or {}):
                row = None  # of one that failed the script writes a shorter row
            run["wall_s"] += wall_s
            run["rows"][model] = {"wall_s": wall_s, "status": lane_figures.NO_ROW if row is None
                                  else row.get("accuracy", "measured")}
            if row is None:
                print(f"bench: upstream's script left no whole row for {model}:\n{told}", file=sys.stderr)
            elif "speedup" in row:
                run["rows"][model]["speedup"] = float(row["speedup"])
                run["rows"][model]["abs_latency_ms"] = float(row["abs_latency"])
                run["rows"][model]["eager_latency_ms"] = float(row["speedup"]) * float(row["abs_latency"])
                run["rows"][model]["compilation_latency_s"] = float(row["compilation_latency"])
            print(f"bench: upstream: {model}: {wall_s:.1f} s", file=sys.stderr, flush=True)
            keep()
    finally:
        script.close()


def earlier_runs(args) -> list:
    runs = []
    for path in filter(None, args.earlier.split(",")):
        with open(path, encoding="utf-8") as file:
            runs += json.load(file)["details"]["runs"]
    return runs


def write_report(args, runs, left_out) -> dict:
    result = report.report("lanes", lane_figures.figures_of(runs, args.test), {
        "runs": runs, "left_out": left_out, "device": args.device, "batch_size": args.batch_size,
        "models": args.models, "test": args.test})
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return result


def table(runs, models) -> None:
    shown = ("from_s", "to_s", "speedup", "eager_latency_ms", "abs_latency_ms", "eager_device_busy_ms",
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
    has_time = lambda: time.monotonic() - begun <= args.limit
    runs, left_out = earlier_runs(args), []
    before = {model for run in runs if run["side"] == "upstream" for model in run["rows"]}
    with tempfile.TemporaryDirectory(prefix="bench-lanes-") as folder:
        use_programs(args, folder)
        environments = os.path.abspath(args.environments or os.path.join(
            os.path.dirname(os.path.abspath(__file__)), "../../build/bench-environments"))
        for number in range(args.rounds):
            # The other way round every second time: hosts drift.
            for side in sides if number % 2 == 0 else sides[::-1]:
                if not has_time():
                    left_out.append(f"{side} of round {number + 1}")
                    continue
                if side == "upstream":
                    runs.append({"side": side, "wall_s": 0, "rows": {}, "left": [
                        model for model in args.upstream_models if model not in before]})
                    run_upstream(args, runs[-1], has_time, lambda: write_report(args, runs, left_out))
                    left_out += [f"upstream's script on {model}" for model in runs[-1].pop("left")]
                else:
                    runs.append(run_ours(args, side, environments))
                print(f"bench: {side}: {runs[-1]['wall_s']:.1f} s for {len(runs[-1]['rows'])} models",
                      file=sys.stderr, flush=True)
                write_report(args, runs, left_out)
    result = write_report(args, runs, left_out)
    report.print_report(result, args.json)
    if not args.json:
        table(runs, args.models)
        for line in left_out:
            print(f"  not run for want of time: {line}")


if __name__ == "__main__":
    main()
