"""How long a night takes against the shortest that any schedule could: the real scheduler with the
real predictions, in virtual time.

Night N+1 is predicted only from the nights before it, on 8 and on 16 slots; durations vary by a
tenth (standard deviation) and three of a hundred models are new each night. Shapes: uniform (40 to
80 s), giant (the same and one of 1,200 s), heavy_tail (Pareto). The lower bound is the longer of the
longest experiment and all work divided by the slots. Beside it, on the same nights: upstream's
shards, slices of the sorted list, one a slot. Needs no fleet and no torch.
"""
import argparse
import json
import os
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "tests", "bench", "lib"))

import report

SHAPES = ("uniform", "giant", "heavy_tail")


def main():
    parser = argparse.ArgumentParser(prog="tools/bench makespan", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--preset", default="release")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--seeds", type=int, default=5, help="suites of each shape")
    parser.add_argument("--models", type=int, default=120)
    parser.add_argument("--slots", default="8,16")
    args = parser.parse_args()
    program = os.path.join(root, "build", args.preset, "bin", "dynbench-makespan")
    if not os.path.exists(program):
        sys.exit(f"makespan: {program} is not there; build it with "
                 f"ninja -C build/{args.preset} dynbench-makespan")
    run = subprocess.run([program, f"--seed={args.seed}", f"--seeds={args.seeds}",
                          f"--models={args.models}", f"--slots={args.slots}"],
                         check=True, stdout=subprocess.PIPE, text=True)
    answer = json.loads(run.stdout)
    whole = report.report("makespan", answer["figures"], answer["details"])
    if args.json:
        print(json.dumps(whole, indent=1))
        return
    figures = answer["figures"]
    print(f"makespan / lower bound, mean of the nights (seed {args.seed})")
    print(f"{'shape':12} {'dynbench':>9} {'its worst':>9} {'static':>9}")
    for shape in SHAPES:
        print(f"{shape:12} {figures['dynbench_ratio_' + shape]:9.3f} "
              f"{figures['dynbench_ratio_max_' + shape]:9.3f} "
              f"{figures['static_ratio_' + shape]:9.3f}")


if __name__ == "__main__":
    main()
