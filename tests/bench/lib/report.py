"""What every bench shares: the machine, the report's shape, statistics of small groups.

The JSON is `{"schema": "dynbench.bench/1", "bench": NAME, "machine": {...}, "figures": {name: number}}`
(units in the names) plus `"details"` for whatever explains the figures.
"""
import json
import math
import os
import platform
import random
import statistics


def machine() -> dict:
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory_bytes,
        "kernel": platform.release(),
        "load_1m": os.getloadavg()[0],
    }


def report(bench: str, figures: dict, details: dict) -> dict:
    return {
        "schema": "dynbench.bench/1",
        "bench": bench,
        "machine": machine(),
        "figures": figures,
        "details": details,
    }


def geomean(values) -> float:
    return math.exp(statistics.fmean(math.log(v) for v in values))


def median_and_range(values) -> dict:
    return {"median": statistics.median(values), "low": min(values), "high": max(values),
            "n": len(values)}


def geomean_ratio_interval(ours: dict, theirs: dict, seed: int = 1337, rounds: int = 10000):
    """95 % bootstrap interval of geomean(ours)/geomean(theirs) over models.

    `ours` and `theirs` map a model to its per-process speedups. Processes are resampled within each
    model and side, the unit of inference being the process; models are fixed.
    """
    rng = random.Random(seed)
    models = sorted(set(ours) & set(theirs))
    ratios = []
    for _ in range(rounds):
        total = 0.0
        for model in models:
            a = statistics.median(rng.choices(ours[model], k=len(ours[model])))
            b = statistics.median(rng.choices(theirs[model], k=len(theirs[model])))
            total += math.log(a / b)
        ratios.append(math.exp(total / len(models)))
    ratios.sort()
    return ratios[int(0.025 * rounds)], ratios[int(0.975 * rounds)]


def print_report(result: dict, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, indent=2, sort_keys=True))
        return
    m = result["machine"]
    print(f"{result['bench']}: {m['cpu']}, {m['cores']} cores, load {m['load_1m']:.2f}")
    for name, value in sorted(result["figures"].items()):
        print(f"  {name:40} {value:.4g}")
