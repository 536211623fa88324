"""The eager and the compiled callable. What is compiled is the whole step, as upstream does."""

import contextlib
import copy
import functools

import torch
import torch._dynamo

from . import generation, losses, optimizers, reporting
from .compiling import compile_step
from .loading import SEED, tensors_of


def autocast_for(experiment):
    """A context manager's factory. What counts is what a suite's rule made of the precision."""
    if experiment["effective_precision"] != "amp":
        return contextlib.nullcontext
    device, word = experiment["device"], experiment["amp_dtype"]
    dtype = getattr(torch, word) if word else None  # None: the device's own default
    return lambda: torch.autocast(device_type=device, dtype=dtype)


@torch._disable_dynamo(recursive=True)
def _copies(tree):
    """Clones of the tensors; gradients reach the originals. Not compiled, as upstream's are not."""
    if isinstance(tree, torch.Tensor):
        return tree.clone()
    if type(tree) is dict:
        return {key: _copies(part) for key, part in tree.items()}
    if type(tree) in (list, tuple):
        return type(tree)([_copies(part) for part in tree])
    return tree


def collect_results(model, loss, inputs):
    """What a training accuracy test compares, after the last step: [None (predictions are not),
    loss, gradients by name (missing ones are zeros), parameters, buffers, gradient of each input].
    `inputs` are those that the step was given. Nothing is copied."""
    gradients, parameters = {}, {}
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        gradients[name + ".grad"] = (torch.zeros_like(parameter) if gradient is None else gradient)
        parameters[name] = parameter
    results = [None, loss, gradients, parameters, dict(model.named_buffers())]
    for part in inputs if not isinstance(inputs, dict) else ():
        parts = part if isinstance(part, (list, tuple)) else [part]
        results.extend(tensor.grad for tensor in parts if isinstance(tensor, torch.Tensor))
    return results


def make_forward(experiment):
    """forward(model, inputs) -> output, under autocast for amp."""
    autocast, output_of = autocast_for(experiment), generation.output_of(experiment)

    def forward(model, inputs):
        with autocast():
            return output_of(model(**inputs) if isinstance(inputs, dict) else model(*inputs))

    return forward


@torch._disable_dynamo(recursive=True)
def _zero_gradients(owner):
    owner.zero_grad(set_to_none=True)


def _make_training_step(experiment, model):
    forward, loss_of = make_forward(experiment), losses.for_experiment(experiment)
    optimizer = optimizers.make(experiment, model) if model is not None else None
    advance = optimizers.step_of(experiment, optimizer)
    collects = experiment["collect_outputs"] and experiment["test"] == "performance"

    def step(model, inputs):
        copies = _copies(inputs)
        # Outside of the graphs, as upstream: inside, a second call (which finds gradients) would
        # compile the forward again.
        _zero_gradients(model if optimizer is None else optimizer)
        loss = loss_of(forward(model, copies))
        loss.backward()
        advance()
        return collect_results(model, loss, inputs) if collects else loss

    return step


def make_step(experiment, model=None):
    """step(model, inputs) -> output: what is compiled, and timed.

    Inference: one forward. Training: clone the inputs, zero the gradients, forward, loss, backward,
    optimizer; the loss is returned (with collect_outputs, all of collect_results). An optimizer
    belongs to `model`, so each copy that is trained needs a step of its own; without `model` there
    is none. Gradient mode is the process's (off for inference).
    """
    if experiment["mode"] == "training":
        return _make_training_step(experiment, model)
    return make_forward(experiment)


def copy_of(experiment, model):
    """A deep copy to run; wrapped (DDP, FSDP) when the experiment is distributed."""
    copied = copy.deepcopy(model)
    if not experiment["distributed"]:
        return copied
    from . import distributed

    return distributed.wrap(experiment, copied)


class GradientsOfSides:
    """Both sides of a training test call one model in turn. Each finds the gradients that its own
    last call left, as it would in a training loop: those of the other side may have other strides,
    which a compiled step is guarded on (a miss would be an eager call, timed as a compiled one)."""

    def __init__(self, model):
        self.parameters, self.side, self.kept = list(model.parameters()), "compiled", {}

    def turn_to(self, side):
        if side == self.side:
            return
        self.kept[self.side] = [parameter.grad for parameter in self.parameters]
        for parameter, gradient in zip(self.parameters, self.kept.pop(
                side, [None] * len(self.parameters))):
            parameter.grad = gradient
        self.side = side


class PlainStep:
    """The whole step, called as it is. generation.py has the other forms."""

    warm_up_calls = 5

    def __init__(self, experiment, model):
        self.experiment, self.step = experiment, make_step(experiment, model)
        self.model, self.gradients = model, None
        if experiment["mode"] == "training" and not experiment["distributed"]:
            self.gradients = GradientsOfSides(model)

    def _side(self, name, function, model, inputs):
        if self.gradients is None or model is not self.model:
            return function, (model, inputs)
        return function, (model, inputs), functools.partial(self.gradients.turn_to, name)

    def eager(self, model, inputs):
        return self._side("eager", self.step, model, inputs)

    def compiled(self, model, inputs):
        return self._side("compiled", compile_step(self.experiment, self.step, model, inputs),
                          model, inputs)

    def metrics(self, eager_latency_ms, abs_latency_ms):
        return {}


class Callables:
    """The two sides of a performance test. A side is (function, arguments), and a third part where
    something has to be called before each call, outside of what is timed.

    `loaded` keeps the model that was loaded, as upstream's caller does: the eager warm-up sees
    three sets of weights (loaded, working copy, its own copy), the compiled one two.
    """

    def __init__(self, experiment, loaded):
        self.experiment = experiment
        self.loaded = loaded
        self.model = copy_of(experiment, loaded.model)
        self.inputs = loaded.inputs
        self.form = generation.form_of(experiment) or PlainStep(experiment, self.model)
        self.warm_up_calls = self.form.warm_up_calls  # a side
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

    def metrics(self, eager_latency_ms, abs_latency_ms):
        """Further columns that follow from the two medians."""
        return self.form.metrics(eager_latency_ms, abs_latency_ms)

    def eager_on_a_copy(self):
        """As upstream: its optimizer is the working copy's, so nothing is updated here."""
        return self._on_every_rank("copy", lambda: self.form.eager(
            copy_of(self.experiment, self.loaded.model), self.inputs))

    def eager(self):
        return self._on_every_rank("eager", lambda: self.form.eager(self.model, self.inputs))

    def forget(self):
        """To be called before `compiled`, outside of what is timed."""
        reporting.reset()
        set_stance("default")

    def compiled(self):
        """A fresh compiled callable; compiles here or at its first call (see compiling.py)."""
        return self._on_every_rank("compiled", lambda: self.form.compiled(self.model, self.inputs))

    def _on_every_rank(self, side, make):
        if not self.experiment["distributed"]:
            return make()
        from . import distributed

        distributed.announce(side)
        return distributed.told(side, make())


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
