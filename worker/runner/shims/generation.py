"""Language models: generating text from a prompt, and the prefill of a prompt into a static cache.

What is compiled is the model's forward. Generating runs on a model object that owns that compiled
forward, and transformers' own compilation is off, so the timed call runs the backend that was asked
for and nothing else.
"""

import copy
import inspect

PROMPT_LENGTH, NEW_TOKENS = 1000, 2000


def parameter(experiment, name, default=""):
    return experiment["source"]["parameters"].get(name, default)


def is_language_model(experiment):
    """Whether the model is one that upstream measures by what it generates."""
    return bool(experiment["generation"]) or parameter(experiment, "kind") in ("generate",
                                                                              "llm_generate")


def output_of(experiment):
    """What of an output counts: of a language model in inference the logits alone."""
    if experiment["mode"] == "inference" and is_language_model(experiment):
        return lambda output: output.logits
    return lambda output: output


def prompt_length(experiment):
    return (experiment["prompt_length"] or int(parameter(experiment, "prompt_length", 0))
            or PROMPT_LENGTH)


def new_tokens(experiment):
    return int(parameter(experiment, "new_tokens", 0)) or NEW_TOKENS


def cache_keyword(model):
    """The parameter of forward that takes the cache: transformers renamed it."""
    known = inspect.signature(model.forward).parameters
    return "cache" if "cache" in known and "past_key_values" not in known else "past_key_values"


def with_compiled_forward(experiment, model):
    """A model that shares everything with `model` but its forward, which is compiled."""
    from . import compiling
    from .failures import OptionRefused

    options = experiment["options"]
    for option in ("ahead_of_time", "quantization"):
        if options[option]:
            raise OptionRefused("generation runs what torch.compile made of the model's forward; it "
                                "cannot be combined with %s=%s" % (option, options[option]))
    twin = copy.copy(model)
    if options["backend"] != "nothing":
        twin.forward = compiling.torch_compile(options, model.forward)
    return twin


class Generate:
    """Greedy generation with a static cache: the same number of tokens in every call."""

    # A call takes a forward per token: upstream, too, warms eager up with one.
    warm_up_calls = 1

    def __init__(self, experiment):
        self.experiment = experiment
        fixed = dict(do_sample=False, num_beams=1, disable_compile=True, use_cache=True)
        if parameter(experiment, "class") != "WhisperForConditionalGeneration":
            fixed.update(cache_implementation="static", max_new_tokens=new_tokens(experiment),
                         min_new_tokens=new_tokens(experiment))
        self.fixed = fixed

    def eager(self, model, inputs):
        from .callables import autocast_for

        autocast, fixed = autocast_for(self.experiment), self.fixed
        if "input_ids" in inputs:  # a padding token among random ones is a token like any other
            inputs = dict(inputs, attention_mask=inputs["input_ids"].new_ones(
                inputs["input_ids"].shape))

        def generate(model, inputs):
            with autocast():
                return model.generate(**inputs, **fixed)

        return generate, (model, inputs)

    def compiled(self, model, inputs):
        return self.eager(with_compiled_forward(self.experiment, model), inputs)

    def metrics(self, eager_latency_ms, abs_latency_ms):
        return {}


class Prefill:
    """One forward over the prompt that fills a preallocated static cache; emptying it again is no
    part of the timed call."""

    warm_up_calls = 5

    def __init__(self, experiment):
        self.experiment, self.tokens = experiment, 0

    def _with_cache(self, model, inputs):
        """(inputs with a cache of their own, what empties it)"""
        import torch
        from transformers import StaticCache

        from .callables import set_stance

        ids = inputs["input_ids"]
        self.tokens = ids.numel()
        cache = StaticCache(config=model.config, max_cache_len=ids.shape[1])
        whole = dict(inputs, use_cache=True, **{cache_keyword(model): cache})
        # It allocates itself at its first use, which must not be a compiled one.
        set_stance("force_eager")
        with torch.no_grad():
            model(**whole)
        set_stance("default")
        return whole, cache.reset

    def eager(self, model, inputs):
        from .callables import make_forward

        whole, empty = self._with_cache(model, inputs)
        return make_forward(self.experiment), (model, whole), empty

    def compiled(self, model, inputs):
        from . import compiling
        from .callables import make_forward

        whole, empty = self._with_cache(model, inputs)
        step = compiling.compile_step(self.experiment, make_forward(self.experiment), model, whole)
        return step, (model, whole), empty

    def metrics(self, eager_latency_ms, abs_latency_ms):
        """Upstream's columns; the latencies are of all calls of a sample."""
        tokens = self.tokens * self.experiment["iterations_per_run"]
        return {"eager_prefill_latency_ms": eager_latency_ms,
                "input_tokens_per_second": tokens / (abs_latency_ms / 1e3)}


def form_of(experiment):
    """How a performance test calls the model, or None: by the plain step."""
    if experiment["generation"] == "generate":
        return Generate(experiment)
    if experiment["generation"] == "prefill":
        return Prefill(experiment)
    return None
