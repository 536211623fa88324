"""The eager and the compiled callable. What is compiled is the whole step, as upstream does."""

import contextlib
import copy

import torch
import torch._dynamo

from . import reporting
from .compiling import compile_step
from .loading import SEED, tensors_of


def autocast_for(experiment):
    if experiment["precision"] != "amp":
        return contextlib.nullcontext
    device = experiment["device"]
    return lambda: torch.autocast(device_type=device)


def make_step(experiment):
    """step(model, inputs) -> output: one forward, under autocast for amp. Gradient mode is the
    process's (off for inference)."""
    if experiment["mode"] == "training":
        raise NotImplementedError("training comes with a later release of dynbench")
    autocast = autocast_for(experiment)

    def step(model, inputs):
        with autocast():
            if isinstance(inputs, dict):
                return model(**inputs)
            return model(*inputs)

    return step


class Callables:
    """The two sides of a performance test.

    `loaded` keeps the model that was loaded, as upstream's caller does: the eager warm-up sees
    three sets of weights (loaded, working copy, its own copy), the compiled one two.
    """

    warm_up_calls = 5  # a side

    def __init__(self, experiment, loaded):
        self.experiment = experiment
        self.loaded = loaded
        self.model = copy.deepcopy(loaded.model)
        self.inputs = loaded.inputs
        self.step = make_step(experiment)
        self.generator = None

    def randomize(self):
        """New floating-point inputs, in place, from a generator that reseeding does not touch."""
        for tensor in tensors_of(self.inputs):
            if self.generator is None:
                self.generator = torch.Generator(device=tensor.device).manual_seed(SEED)
            if tensor.is_floating_point():
                tensor.uniform_(generator=self.generator)
            elif tensor.dtype != torch.int64:
                raise ValueError("inputs of type %s cannot be randomized" % tensor.dtype)

    def eager_on_a_copy(self):
        return self.step, (copy.deepcopy(self.model), self.inputs)

    def eager(self):
        return self.step, (self.model, self.inputs)

    def metrics(self, eager_latency_ms, abs_latency_ms):
        """Further columns that follow from the two medians; a subclass may have some."""
        return {}

    def forget(self):
        """To be called before `compiled`, outside of what is timed."""
        reporting.reset()
        set_stance("default")

    def compiled(self):
        """A fresh compiled callable; compiles here or at its first call (see compiling.py)."""
        compiled = compile_step(self.experiment, self.step, self.model, self.inputs)
        return compiled, (self.model, self.inputs)


def compile_seconds():
    """Dynamo's own clock, forward and backward: what upstream's accuracy rows call compilation
    latency (in performance rows the word means something else). Of what was compiled ahead of time,
    which that clock does not see, the time to build it."""
    from . import ahead_of_time

    if ahead_of_time.last is not None:
        return ahead_of_time.last.build_s()
    spent = getattr(torch._dynamo.utils, "calculate_time_spent", dict)()
    return spent.get("total_wall_time")


def return_inputs(_model, inputs):
    """A step that does nothing: what it takes is the harness."""
    return inputs


def set_stance(stance):
    torch.compiler.set_stance(stance)


def counters():
    """Upstream's columns, and the cache's hits and misses, since the last reset."""
    table = torch._dynamo.utils.counters
    stats, frames = table["stats"], table["frames"]
    return {
        "metrics": {
            "calls_captured": stats["calls_captured"],
            "unique_graphs": stats["unique_graphs"],
            # Frames that dynamo looked at and left to the interpreter.
            "fallbacks_to_eager": frames["total"] - frames["ok"],
            "graph_breaks": sum(table["graph_break"].values()),
            "unique_graph_breaks": len(table["graph_break"]),
            "autograd_captures": table["compiled_autograd"]["captures"],
            "autograd_compiles": table["compiled_autograd"]["compiles"],
            "cudagraph_skips": table["inductor"]["cudagraph_skips"],
        },
        "cache_hits": table["inductor"]["fxgraph_cache_hit"],
        "cache_misses": table["inductor"]["fxgraph_cache_miss"],
        "cache_bypasses": table["inductor"]["fxgraph_cache_bypass"],
    }
