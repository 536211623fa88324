"""Does a window beside frozen lanes measure what a window alone does? In each process blocks of both kinds
alternate: before a block three other lanes are started and stopped in the middle of compiling, or there are
none. Two blocks that follow one another, one of each kind in a drawn order, are a pair: a host changes its
pace by tens of per cent within a minute, so a ratio of medians (frozen / alone) is taken within each pair. A
process's ratio is the median of those of its pairs; the process is the unit.
"""
import argparse
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "integration", "runner"))

import report
import runner_driver

PAIRS = 15  # of a block; the first is dropped


def parse():
    parser = argparse.ArgumentParser(prog="tools/bench windows", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=8, help="of each kind in a process")
    parser.add_argument("--lanes", type=int, default=3, help="frozen beside the measuring one")
    parser.add_argument("--seed", type=int, default=1337)
    parser.add_argument("--runner", default=os.environ.get("DYNBENCH_RUNNER"),
                        help="a dynbench-runner (default: $DYNBENCH_RUNNER, else it is built)")
    parser.add_argument("--python", default=os.path.join(
        os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")),
        "dynbench/environments/default/bin/python"))
    return parser.parse_args()


def built(python: str) -> str:
    folder = os.path.join(HERE, "../../build/release/runner")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "dynbench-runner")
    subprocess.run([os.path.join(HERE, "../../worker/runner/build_runner"), python, program], check=True)
    return program


def wait_for(condition, what: str, timeout_s: float = 300):
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"bench: waited in vain for {what}")
        threading.Event().wait(0.01)


def parents() -> dict:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                found[int(name)] = (int(fields[1]), fields[0])
            except OSError:
                pass
    return found


def below(root: int) -> dict:
    """State letters of everything below a process."""
    table, inside, grew = parents(), {root}, True
    while grew:
        more = {pid for pid, (parent, _) in table.items() if parent in inside} - inside
        inside |= more
        grew = bool(more)
    return {pid: table[pid][1] for pid in inside - {root}}


def stop(lane_pid: int) -> None:
    """Until a walk finds nobody that runs, as the worker does where it has no cgroup."""
    while running := [pid for pid, state in below(lane_pid).items() if state not in "TtZ"]:
        for pid in running:
            try:
                os.kill(pid, signal.SIGSTOP)
            except ProcessLookupError:
                pass


class Others:
    """Lanes that compile and are stopped, or are gone."""

    def __init__(self, runner, count: int, model_file: str):
        self.lanes = [runner.lane() for _ in range(count)]
        self.model_file, self.attempts = model_file, []

    def freeze(self) -> None:
        whole = runner_driver.experiment(
            "Compiles", loader="path", precision="float32", repeat=3,
            source=dict(loader="path", name="Compiles", file_sha256="", file_name="", parameters={}))
        self.attempts = [lane.start(whole, model_file=self.model_file) for lane in self.lanes]
        for attempt in self.attempts:
            attempt.until_phase("compile")
        threading.Event().wait(0.5)  # into the middle of it
        for lane in self.lanes:
            stop(lane.pid)

    def end(self) -> None:
        for attempt in self.attempts:
            attempt.kill(0)
        for attempt in self.attempts:
            attempt.finish()
        self.attempts = []


def one_process(args, number: int, rng) -> dict:
    """{side: ratio}, and what each block measured."""
    order = [kind for _ in range(args.blocks) for kind in rng.sample(["frozen", "alone"], 2)]
    with tempfile.TemporaryDirectory(prefix="bench-windows-") as folder:
        model_file = os.path.join(folder, "blocks_model.py")
        with open(os.path.join(HERE, "lib/blocks_model.py"), encoding="utf-8") as file:
            text = file.read().replace("@FOLDER@", folder)
            text = text.replace("@CALLS@", str(2 * PAIRS)).replace("@BLOCKS@", str(len(order)))
        with open(model_file, "w", encoding="utf-8") as file:
            file.write(text)
        runner = runner_driver.Runner(args.runner, args.python)
        try:
            others = Others(runner, args.lanes, model_file)
            whole = runner_driver.experiment(
                "Blocks", loader="path", precision="float32", repeat=PAIRS * len(order),
                timeout_ms=3_600_000,
                source=dict(loader="path", name="Blocks", file_sha256="", file_name="", parameters={}))
            measuring = runner.lane().start(whole, model_file=model_file)
            reader = threading.Thread(target=measuring.finish, kwargs={"timeout_s": 3600})
            reader.start()
            for block, kind in enumerate(order):
                wait_for(lambda b=block: os.path.exists(os.path.join(folder, f"asked-{b}"))
                         or not reader.is_alive(), f"block {block}")
                if kind == "frozen":
                    others.freeze()
                open(os.path.join(folder, f"go-{block}"), "w", encoding="utf-8").close()
                wait_for(lambda b=block: os.path.exists(os.path.join(folder, f"asked-{b + 1}"))
                         or b + 1 == len(order) or not reader.is_alive(), f"the end of block {block}")
                if block + 1 == len(order):
                    reader.join()
                others.end()
            result = measuring.result
        finally:
            runner.close()
    if not result or result.get("status") != "measured":
        raise SystemExit(f"bench: process {number} was not measured: {result}\n{measuring.stderr[-2000:]}")
    blocks, ratios = {}, {}
    for side in ("eager", "compiled"):
        medians = [statistics.median(result[f"{side}_ns"][b * PAIRS + 1:(b + 1) * PAIRS])
                   for b in range(len(order))]
        blocks[side] = [[kind, round(ns / 1e6, 4)] for kind, ns in zip(order, medians)]
        ratios[side] = statistics.median(
            medians[b + order[b:b + 2].index("frozen")] / medians[b + order[b:b + 2].index("alone")]
            for b in range(0, len(order), 2))
    return {"ratios": ratios, "blocks_ms": blocks}


def interval(ratios, rng, rounds: int = 10000):
    """95 % bootstrap interval of the geometric mean; processes are resampled."""
    means = sorted(statistics.fmean(rng.choices([math.log(r) for r in ratios], k=len(ratios)))
                   for _ in range(rounds))
    return math.exp(means[int(0.025 * rounds)]), math.exp(means[int(0.975 * rounds)])


def main():
    args = parse()
    args.runner = args.runner or built(args.python)
    rng = random.Random(args.seed)
    processes = []
    for number in range(args.processes):
        processes.append(one_process(args, number, rng))
        print(f"bench: process {number + 1}: " + ", ".join(
            f"{side} {ratio:.4f}" for side, ratio in processes[-1]["ratios"].items()), file=sys.stderr, flush=True)
    figures = {"processes": len(processes)}
    for side in ("eager", "compiled"):
        ratios = [p["ratios"][side] for p in processes]
        figures[f"{side}_ratio"] = report.geomean(ratios)
        figures[f"{side}_ratio_low"], figures[f"{side}_ratio_high"] = interval(ratios, rng)
    result = report.report("windows", figures, {"by_process": processes, "seed": args.seed,
                                                "blocks": args.blocks, "frozen_lanes": args.lanes})
    report.print_report(result, args.json)


if __name__ == "__main__":
    main()
