"""What the runs of `tools/bench lanes` come to. A run is a dict: `side`, `wall_s`, `rows` (by model) and,
of ours, `kernels`; each of the script's rows has `wall_s`, since it runs one model after the other."""
import statistics

import report

UPSTREAM = "upstream"
NO_ROW = "no row"


def script_seconds(runs) -> dict:
    """{model: median seconds of the script's processes}."""
    walls = {}
    for run in runs:
        if run["side"] == UPSTREAM:
            for model, row in run["rows"].items():
                if row["status"] != NO_ROW:
                    walls.setdefault(model, []).append(row["wall_s"])
    return {model: statistics.median(told) for model, told in walls.items()}


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


def words_equal(runs, side: str):
    """(models whose statuses are the script's in all runs, models that both ran); accuracy only."""
    words = {}
    for run in runs:
        for model, row in run["rows"].items():
            words.setdefault(model, {}).setdefault(run["side"], set()).add(row["status"])
    both = [w for w in words.values() if side in w and UPSTREAM in w]
    return sum(1 for w in both if w[side] == w[UPSTREAM]), len(both)


def compared(runs, side: str, base: str) -> dict:
    ours, theirs = speedups(runs, side), speedups(runs, base)
    both = sorted(set(ours) & set(theirs))
    if not both:
        return {}
    ratios = [statistics.median(ours[m]) / statistics.median(theirs[m]) for m in both]
    low, high = report.geomean_ratio_interval(ours, theirs)
    return {f"{side}_speedup_over_{base}": report.geomean(ratios),
            f"{side}_speedup_over_{base}_low": low, f"{side}_speedup_over_{base}_high": high,
            f"{side}_median_model_over_{base}": statistics.median(ratios),
            f"{side}_worst_model_over_{base}": max(ratios, key=lambda r: abs(r - 1)),
            f"{side}_models_compared_with_{base}": len(both)}


def figures_of(runs, test: str = "performance") -> dict:
    figures = {}
    sides = sorted({run["side"] for run in runs})
    script = script_seconds(runs)
    if script:
        figures["upstream_s_per_model"] = statistics.fmean(script.values())
        figures["upstream_models"] = len(script)
    for side in sides:
        if side == UPSTREAM:
            continue
        mine = [run for run in runs if run["side"] == side]
        figures[f"{side}_s_per_model"] = statistics.median(r["wall_s"] / len(r["rows"]) for r in mine)
        figures[f"{side}_rounds"] = len(mine)
        if all(set(run["rows"]) <= set(script) for run in mine):
            figures[f"{side}_times_shorter_than_upstream"] = statistics.median(
                sum(script[m] for m in run["rows"]) / run["wall_s"] for run in mine)
        for base in ("lanes1", UPSTREAM):
            if base != side:
                figures.update(compared(runs, side, base))
        if side != "lanes1" and "lanes1" in sides:
            equal, of = kernels_equal(runs, side)
            figures[f"{side}_models_with_equal_kernels"], figures[f"{side}_models_with_kernels"] = equal, of
        if test == "accuracy":
            equal, of = words_equal(runs, side)
            figures[f"{side}_models_with_equal_words"], figures[f"{side}_models_with_words"] = equal, of
    return figures
