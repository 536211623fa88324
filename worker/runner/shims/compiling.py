"""From a step to what is measured against it: the one dispatch over every way to compile.

`compile_step(experiment, step, model, inputs)` gives `callable(model, inputs)`, which returns what
`step(model, inputs)` returns. A fresh one each time; who wants earlier graphs gone resets dynamo.

| way | compiles | its model argument |
|---|---|---|
| backend "nothing" | never: it is the step itself | used |
| a backend of torch.compile | at its first call | used |
| quantization | at its first call, a quantized copy of `model` | ignored |
| export, aot_inductor, nativert, torchscript | here | ignored: weights are in the artefact |
| aot_precompile | here | used |
"""

import copy
import difflib

import torch
import torch._dynamo

from .failures import OptionRefused


def check_backend(name):
    known = torch._dynamo.list_backends(exclude_tags=())
    if name not in known:
        near = difflib.get_close_matches(name, known, 1, 0.4)
        raise OptionRefused("PyTorch %s has no backend %r%s" % (
            torch.__version__, name, "; nearest: %s" % near[0] if near else ""))


def torch_compile(options, step):
    check_backend(options["backend"])
    return torch.compile(step, backend=options["backend"], fullgraph=options["fullgraph"],
                         mode=options["compile_mode"] or None)


def _on_model(compiled, model):
    def on_its_own_model(_model, inputs):
        return compiled(model, inputs)

    return on_its_own_model


def way_ahead_of_time(experiment):
    """The way to compile ahead of time; empty: none."""
    return experiment["options"].get("ahead_of_time", "")


def check(experiment):
    """Before anything is loaded, what can be known by then: OptionRefused, CapabilityMissing. (A
    backend may be registered by the model's own file.)"""
    way, scheme = way_ahead_of_time(experiment), experiment["options"].get("quantization", "")
    if way and scheme:
        raise OptionRefused("quantization is compiled by inductor; it cannot be combined with %s"
                            % way)
    if way:
        from . import ahead_of_time

        ahead_of_time.check(experiment)
    if scheme:
        from . import quantization

        quantization.check(scheme)


def compile_step(experiment, step, model, inputs):
    options = experiment["options"]
    quantization = options.get("quantization", "")
    if way_ahead_of_time(experiment):
        from .ahead_of_time import build

        return build(experiment, step, model, inputs)
    if options["backend"] == "nothing":
        return step
    if quantization:
        from .quantization import quantize

        compiled = torch_compile(options, step)
        return _on_model(compiled, quantize(quantization, copy.deepcopy(model)))
    return torch_compile(options, step)
