"""What a diagnostic rerun leaves for people: traces, logs, the compiler's debug folder, a profile.

Everything goes below `artifacts` in the attempt's work folder; the worker keeps that folder. Such a run
is never timed: what is recorded here costs time.
"""

import collections
import json
import logging
import os

import torch

from . import callables, compiling, failures
from .loading import clone_inputs, seed

# "cache" (the compiler's cache of a failed experiment) is the worker's: it has the folder.
KINDS = ("trace", "logs", "compile_debug", "profiler", "memory_snapshot", "operator_inputs", "cache")
# Names that torch._logging may know; those of another version are passed over.
_LOGS = ("dynamo", "aot", "inductor", "graph_breaks", "recompiles", "guards", "graph_code",
         "aot_graphs", "output_code", "schedule", "fusion", "perf_hints", "autotuning", "cudagraphs")
_PROFILED_CALLS = 3


def folder_of(work_dir):
    return os.path.join(work_dir, "artifacts")


def instrumented(experiment):
    """Whether anything is recorded while the model runs, so that no time of it may count."""
    return any(kind != "cache" for kind in experiment["diagnostics"])


def begin(experiment, work_dir):
    """Switches on what must be on before the model is loaded; returns notes."""
    unknown = sorted(set(experiment["diagnostics"]) - set(KINDS))
    if unknown:
        raise failures.OptionRefused("there is no diagnostics kind %s; there are: %s" % (
            ", ".join(unknown), ", ".join(KINDS)))
    starts, notes = {"trace": _trace, "logs": _logs, "compile_debug": _compile_debug}, []
    for kind in experiment["diagnostics"]:
        if kind in starts:
            os.makedirs(os.path.join(folder_of(work_dir), kind), exist_ok=True)
            starts[kind](os.path.join(folder_of(work_dir), kind))
    if {"trace", "logs"} & set(experiment["diagnostics"]):
        _set_up_logging()
    if "memory_snapshot" in experiment["diagnostics"]:
        if experiment["device"] == "cuda":
            torch.cuda.memory._record_memory_history()
        else:
            notes.append("memory_snapshot: only CUDA's allocator records one; skipped")
    return notes


def _trace(folder):
    os.environ["TORCH_TRACE"] = folder
    internal = torch._logging._internal
    if internal.LOG_TRACE_HANDLER is None:
        internal.LOG_TRACE_HANDLER = internal.LazyTraceHandler(folder)
    internal.LOG_TRACE_HANDLER.root_dir = folder


def _logs(folder):
    registry = torch._logging._internal.log_registry
    known = [n for n in _LOGS if registry.is_log(n) or registry.is_artifact(n)]
    os.environ["TORCH_LOGS"] = ",".join(known)
    os.environ["TORCH_LOGS_OUT"] = os.path.join(folder, "torch.log")


def _set_up_logging():
    """Reads both variables again: torch did so at its import. The file alone gets the lines; on
    stderr they would push the model's own words out of the capped log."""
    internal = torch._logging._internal
    internal._init_logs()
    if "TORCH_LOGS" not in os.environ:
        return
    registry = internal.log_registry
    for name in [*registry.get_log_qnames(), *registry.get_artifact_log_qnames()]:
        log = logging.getLogger(name)
        for handler in list(log.handlers):
            if isinstance(handler, logging.StreamHandler) and not isinstance(
                    handler, (logging.FileHandler, internal.LazyTraceHandler)):
                log.removeHandler(handler)


def _compile_debug(folder):
    os.environ["TORCH_COMPILE_DEBUG"] = "1"
    torch._inductor.config.trace.enabled = True
    torch._dynamo.config.debug_dir_root = folder


def further_runs(experiment, loaded, work_dir):
    """Runs of their own for what wraps a call; returns notes. What fails in one leaves the others."""
    runs = {"profiler": _profiler, "operator_inputs": _operator_inputs}
    wanted, notes = [kind for kind in experiment["diagnostics"] if kind in runs], []
    if wanted and experiment["distributed"]:
        # The other ranks have made their last call.
        return ["%s: not recorded with several processes" % ", ".join(wanted)]
    for kind in wanted:
        folder = os.path.join(folder_of(work_dir), kind)
        os.makedirs(folder, exist_ok=True)
        seed()
        try:
            runs[kind](experiment, loaded, folder)
        except Exception as error:
            notes.append("%s: %s" % (kind, failures.useful_line(error)))
        finally:
            callables.set_stance("default")
    return notes


def _sides(experiment, loaded):
    """(name, a function of no arguments that makes one step) for eager and for compiled."""
    for name in ("eager", "compiled"):
        model = callables.copy_of(experiment, loaded.model)
        inputs = clone_inputs(loaded.inputs)
        step = callables.make_step(experiment, model)
        if name == "compiled":
            step = compiling.compile_step(experiment, step, model, inputs)
        callables.set_stance("force_eager" if name == "eager" else "default")
        yield name, lambda step=step, model=model, inputs=inputs: step(model, inputs)


def _profiler(experiment, loaded, folder):
    for name, call in _sides(experiment, loaded):
        call()  # the compiler, and whatever a first call does
        with torch.profiler.profile(record_shapes=True) as profile:
            for _ in range(_PROFILED_CALLS):
                call()
        profile.export_chrome_trace(os.path.join(folder, name + ".trace.json.gz"))
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
            file.write(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=50))


class _Recorder(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = collections.defaultdict(collections.Counter)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.calls[str(function)][_describe((*args, kwargs) if kwargs else args)] += 1
        return function(*args, **kwargs)


def _describe(value):
    """Tensors as dtype[sizes], everything else as Python writes it."""
    if isinstance(value, torch.Tensor):
        return "%s%s" % (str(value.dtype).replace("torch.", ""), list(value.shape))
    if isinstance(value, (list, tuple)):
        return "(%s)" % ", ".join(map(_describe, value))
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s=%s" % (k, _describe(v)) for k, v in value.items())
    return repr(value)


def _operator_inputs(experiment, loaded, folder):
    """Every operator of one eager step with its inputs and how often they came."""
    _, call = next(_sides(experiment, loaded))
    with _Recorder() as recorder:
        call()
    told = {operator: [{"inputs": inputs, "count": count} for inputs, count in calls.most_common()]
            for operator, calls in sorted(recorder.calls.items())}
    with open(os.path.join(folder, "operator_inputs.json"), "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1)


def end(experiment, work_dir):
    """Writes what is still in memory. Returns the files there are."""
    folder = folder_of(work_dir)
    if "memory_snapshot" in experiment["diagnostics"] and experiment["device"] == "cuda":
        os.makedirs(folder, exist_ok=True)
        torch.cuda.memory._dump_snapshot(os.path.join(folder, "memory_snapshot.pickle"))
    if {"trace", "logs"} & set(experiment["diagnostics"]):
        logging.shutdown()
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder)
                  for name in names)
