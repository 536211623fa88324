"""What the compiler tells of itself: its phases, graph breaks, recompiles, caches and choices.

The keys of the report are in docs/schema.md ("The compiler's report"). Everything is asked for by
feature, since the private tables that it comes from differ between versions of torch: a key whose
table is missing is left out.
"""

import glob
import hashlib
import json
import os
import re

import torch
import torch._dynamo
import torch._dynamo.utils as utils

from . import device_use

_CACHE_COUNTER = re.compile(r"^(.*?)_?cache_(hit|miss|bypass)$")
_MOST_RECORDS = 4096  # torch keeps 64 compilations otherwise

_chosen = []  # by the template autotuner: (kernel, choice)


def reset():
    """Forgets every compiled graph and every count, so that what follows stands alone."""
    torch._dynamo.reset()
    device_use.listen()
    utils.counters.clear()
    if hasattr(utils, "set_compilation_metrics_limit"):
        utils.set_compilation_metrics_limit(_MOST_RECORDS)
    if hasattr(utils, "clear_compilation_metrics"):
        utils.clear_compilation_metrics()
    _chosen.clear()
    _listen_to_the_autotuner()
    from . import ahead_of_time

    ahead_of_time.last = None


def _listen_to_the_autotuner():
    import torch._inductor.select_algorithm as select

    if not hasattr(select, "add_feedback_saver"):
        return

    def told(timings, name, *_rest):
        if timings:
            best = min(timings, key=timings.get)
            _chosen.append((str(name), getattr(best, "name", None) or str(best)))

    if hasattr(select, "clear_feedback_savers"):
        select.clear_feedback_savers()
    select.add_feedback_saver(told)


def _records():
    return getattr(utils, "get_compilation_metrics", list)()


def recompile_reasons():
    """Of the records of compilations where they say it, else of the guards that failed."""
    records = _records()
    if any(hasattr(record, "recompile_reason") for record in records):
        return [record.recompile_reason for record in records if record.recompile_reason]
    failures = getattr(utils, "guard_failures", {})
    return [str(reason) for reasons in failures.values() for reason in reasons]


def _compile_phases():
    table = getattr(utils, "compilation_time_metrics", {})
    return {phase: round(sum(seconds), 6) for phase, seconds in sorted(table.items())}


def _graph_breaks():
    return [{"reason": str(found.reason),
             "user_stack": ["%s:%s in %s" % (frame.filename, frame.lineno, frame.name)
                            for frame in found.user_stack]}
            for found in getattr(utils, "graph_break_reasons", [])]


def _caches(counters):
    """{"inductor.fxgraph": {"hit": 1, "miss": 0, "bypass": 0}, …}"""
    found = {}
    for room, counts in counters.items():
        for name, count in counts.items():
            match = _CACHE_COUNTER.match(str(name))
            if match:
                kind = found.setdefault("%s.%s" % (room, match.group(1)),
                                        {"hit": 0, "miss": 0, "bypass": 0})
                kind[match.group(2)] += count
    return found


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _kernel_configurations(cache_dir):
    """What inductor chose for its own Triton kernels: a file beside each kernel in the cache."""
    for path in sorted(glob.glob(os.path.join(cache_dir, "**", "*.best_config"), recursive=True)):
        try:
            with open(path, encoding="utf-8") as file:
                chosen = json.load(file)
        except (OSError, ValueError):
            continue
        # Not the time that the search took, nor the key: those differ from run to run.
        chosen = {k: v for k, v in sorted(chosen.items())
                  if k not in ("time_taken_ms", "triton_cache_hash", "found_by_coordesc")}
        yield os.path.basename(path).split(".")[0], json.dumps(chosen, sort_keys=True)


def _autotune(cache_dir):
    """Each choice with its hash, and one hash over all of them; None when nothing was chosen."""
    chosen = sorted(_chosen) + list(_kernel_configurations(cache_dir))
    if not chosen:
        return None
    return {"hash": _digest(json.dumps(chosen)),
            "chosen": [{"kernel": kernel, "choice": choice, "hash": _digest(choice)}
                       for kernel, choice in chosen]}


def _plain(counters):
    return {str(room): {str(name): count for name, count in sorted(counts.items(), key=str)}
            for room, counts in counters.items() if counts}


def report(cache_dir):
    """The report over everything since `reset`, as plain data."""
    from . import ahead_of_time

    told = {"compile_phases_s": _compile_phases(), "graph_breaks": _graph_breaks(),
            "recompile_reasons": recompile_reasons(), "caches": _caches(utils.counters),
            "stats": _plain(utils.counters)}
    skips = [record.cudagraph_skip_reason for record in _records()
             if getattr(record, "cudagraph_skip_reason", None)]
    optional = {"autotune": _autotune(cache_dir), "cudagraph_skip_reasons": skips,
                "artifact": ahead_of_time.describe_last()}
    told.update((key, value) for key, value in optional.items() if value)
    return told


def metrics():
    """Columns beside those of callables.counters(); likewise since the last reset."""
    aot = utils.counters["aot_autograd"]
    return {"recompiles": len(recompile_reasons()), "total_aot_graphs": aot["total"],
            "ok_aot_graphs": aot["ok"]}


def cache_lookup_s(function, arguments):
    """Seconds that dynamo's look-ups of its own compiled code took in one call; None when it made
    none. Upstream's figure: profiled, so longer than in a call that nobody watches."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        function(*arguments)
    spent_us = [event.self_cpu_time_total for event in profiler.key_averages()
                if "TorchDynamo Cache Lookup" in event.key]
    return sum(spent_us) / 1e6 if spent_us else None


def explain(step, model, inputs):
    """{"graphs", "graph_breaks", "ops"}, from a further run: it forgets every compiled graph."""
    from .callables import set_stance

    set_stance("default")
    found = torch._dynamo.explain(step)(model, inputs)
    return {"graphs": found.graph_count, "graph_breaks": found.graph_break_count,
            "ops": found.op_count}
