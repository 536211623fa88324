"""Paths that compile before the first call: export, package, load; each timed by itself.

What torch.export and torch.jit.trace see is `FlatStep`: tensors in, tensors out, everything else of
inputs and outputs remembered here. So a packaged artefact is run from C++ with nothing but tensors
(worker/runner/artifact.h), and neither the structure of a model's inputs nor a library's output
classes have to be serialised.
"""

import os
import time

import torch
import torch._dynamo
from torch.utils import _pytree as pytree

from .failures import CapabilityMissing, OptionRefused

WAYS = ("export", "aot_inductor", "nativert", "torchscript", "aot_precompile")

last = None  # the Artifact that was built last in this process, for the report


class FlatStep(torch.nn.Module):
    """The step on its model, from the input's tensors to the output's; what is no tensor is a
    constant. `skeleton` is filled at each call with what `unflatten` needs."""

    def __init__(self, step, model, inputs):
        super().__init__()
        self.model = model
        self._step = step
        leaves, self._spec = pytree.tree_flatten(inputs)
        self._constants = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self._is_tensor = [isinstance(leaf, torch.Tensor) for leaf in leaves]
        self.skeleton = _Skeleton()

    def forward(self, *tensors):
        rest = iter(tensors)
        leaves = [next(rest) if is_tensor else constant
                  for is_tensor, constant in zip(self._is_tensor, self._constants)]
        output = self._step(self.model, pytree.tree_unflatten(leaves, self._spec))
        leaves, spec = pytree.tree_flatten(output)
        self.skeleton.fill(leaves, spec)
        return tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


class _Skeleton:
    """An output less its tensors."""

    def __init__(self):
        self.spec, self.constants = None, []

    def fill(self, leaves, spec):
        self.spec = spec
        self.constants = [(isinstance(leaf, torch.Tensor),
                           None if isinstance(leaf, torch.Tensor) else leaf) for leaf in leaves]

    def unflatten(self, tensors):
        rest = iter(tensors)
        return pytree.tree_unflatten(
            [next(rest) if is_tensor else constant for is_tensor, constant in self.constants],
            self.spec)


def tensors_of(inputs):
    return [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]


def dynamic_dimensions(tensor):
    """{dimension: torch.export.Dim.…} from dynamo's marks on a tensor; export knows no maybe beside
    AUTO, which lets it specialise."""
    dim = torch.export.Dim
    found = {}
    for mark, hint in (("_dynamo_weak_dynamic_indices", dim.AUTO),
                       ("_dynamo_dynamic_indices", dim.AUTO),
                       ("_dynamo_unbacked_indices", dim.DYNAMIC)):
        for index in getattr(tensor, mark, ()):
            found[index] = hint
    return found or None


def all_dynamic(options):
    """Every dimension, rather than those that are marked."""
    marked_only = options["dynamic_batch_only"] or options.get("unbacked_batch_only", False)
    return options["dynamic_shapes"] and not marked_only


def dynamic_shapes(experiment, tensors):
    """For torch.export, one of each tensor: every dimension with --dynamic-shapes, else what was
    marked. None: all static."""
    if all_dynamic(experiment["options"]):
        return [{i: torch.export.Dim.AUTO for i in range(tensor.dim())} or None
                for tensor in tensors]
    marks = [dynamic_dimensions(tensor) for tensor in tensors]
    return marks if any(marks) else None


class Artifact:
    """callable(model, inputs), the model ignored. `spans` are {"export", "package", "load"} ->
    [begin, end], CLOCK_MONOTONIC nanoseconds. `loaded` is the C++ object, where there is one;
    `symbols` how many dimensions torch.export left open."""

    def __init__(self, way):
        self.way, self.spans = way, {}
        self.path, self.loaded, self.skeleton, self.symbols = None, None, None, None

    def timed(self, name, function, *args, **kwargs):
        begin_ns = time.monotonic_ns()
        result = function(*args, **kwargs)
        self.spans[name] = [begin_ns, time.monotonic_ns()]
        return result

    def build_s(self):
        return sum(end - begin for begin, end in self.spans.values()) / 1e9

    def bind(self, inputs):
        """The C++ call on these tensors, as they are whenever it is made."""
        return self.loaded.bind(tensors_of(inputs))

    def __call__(self, _model, inputs):
        return self.skeleton.unflatten(self.loaded.run(tensors_of(inputs)))

    def describe(self):
        told = {"way": self.way, "run_from": "C++" if self.loaded is not None else "Python"}
        if self.loaded is not None:
            told["runs"] = self.loaded.runs
        if self.symbols is not None:
            told["symbols"] = self.symbols
        if self.path is not None:
            told["bytes"] = os.path.getsize(self.path)
        return told


class InPython(Artifact):
    """Its callable is a Python one: an exported module, a function that was loaded again."""

    def __init__(self, way):
        super().__init__(way)
        self.function = None

    def __call__(self, model, inputs):
        return self.function(model, inputs)


def describe_last():
    return last.describe() if last is not None else None


def _export(artifact, experiment, module, inputs, strict, lower=lambda program: program):
    """The exported program. `inputs` are what the module's forward takes one by one: tensors, or
    one structure of them."""
    shapes = dynamic_shapes(experiment, tensors_of(inputs))
    if shapes:
        leaves, spec = pytree.tree_flatten(inputs)
        rest = iter(shapes)
        shapes = pytree.tree_unflatten(
            [next(rest) if isinstance(leaf, torch.Tensor) else None for leaf in leaves], spec)
        if isinstance(module, FlatStep):
            shapes = {"tensors": shapes}
    program = artifact.timed("export", lambda: lower(torch.export.export(
        module, inputs, strict=strict, dynamic_shapes=shapes)))
    artifact.symbols = len(program.range_constraints)
    return program


def _path(name):
    """In the attempt's work folder, which is the current one; a further build gets its own."""
    number = 0
    while os.path.exists("%d-%s" % (number, name)):
        number += 1
    return os.path.abspath("%d-%s" % (number, name))


class _Exported(torch.nn.Module):
    """For a strict export, which traces Python: the output keeps its structure."""

    def __init__(self, step, model):
        super().__init__()
        self.model = model
        self._step = step

    def forward(self, inputs):
        return self._step(self.model, inputs)


def build_export(experiment, step, model, inputs):
    artifact = InPython("export")
    program = _export(artifact, experiment, _Exported(step, model), (inputs,), strict=True)
    module = artifact.timed("load", program.module)
    artifact.function = lambda _model, inputs: module(inputs)
    return artifact


def _in_cpp():
    """The runner's own module; it exists in the runner alone."""
    import dynbench_artifacts

    return dynbench_artifacts


def _device_index(experiment):
    return -1 if experiment["device"] == "cpu" else torch.accelerator.current_device_index()


def _mode_options(options):
    mode = options["compile_mode"]
    return dict(torch._inductor.list_mode_options(mode)) if mode else {}


def _flat_artifact(way, step, model, inputs):
    module = FlatStep(step, model, inputs)
    artifact = Artifact(way)
    artifact.skeleton = module.skeleton
    return artifact, module


def build_aot_inductor(experiment, step, model, inputs):
    artifact, module = _flat_artifact("aot_inductor", step, model, inputs)
    program = _export(artifact, experiment, module, tuple(tensors_of(inputs)), strict=False)
    artifact.path = _path("aot_inductor.pt2")
    artifact.timed("package", torch._inductor.aoti_compile_and_package, program,
                   package_path=artifact.path, inductor_configs=_mode_options(
                       experiment["options"]))
    artifact.loaded = artifact.timed("load", _in_cpp().load_aot_inductor, artifact.path,
                                     _device_index(experiment))
    return artifact


def build_nativert(experiment, step, model, inputs):
    from torch.export.pt2_archive._package import package_pt2

    artifact, module = _flat_artifact("nativert", step, model, inputs)
    program = _export(artifact, experiment, module, tuple(tensors_of(inputs)), strict=False,
                      lower=lambda exported: exported.run_decompositions())
    artifact.path = _path("nativert.pt2")
    artifact.timed("package", package_pt2, artifact.path, exported_programs={"forward": program})
    artifact.loaded = artifact.timed("load", _in_cpp().load_nativert, artifact.path,
                                     "forward")
    return artifact


def build_torchscript(experiment, step, model, inputs):
    artifact, module = _flat_artifact("torchscript", step, model, inputs)
    traced = artifact.timed("export", torch.jit.trace, module, tuple(tensors_of(inputs)),
                            strict=False, check_trace=False)
    artifact.path = _path("torchscript.pt")
    artifact.timed("package", traced.save, artifact.path)
    artifact.loaded = artifact.timed("load", _in_cpp().load_torchscript, artifact.path)
    return artifact


_step = None  # of _run_step


def _run_step(model, inputs):
    """The step without free variables: torch 2.9 cannot save a function that has some."""
    return _step(model, inputs)


def build_aot_precompile(experiment, step, model, inputs):
    global _step
    _step = step
    options = experiment["options"]
    artifact = InPython("aot_precompile")
    settings = dict(_mode_options(options), guard_filter_fn=lambda guards: [False] * len(guards))
    if hasattr(torch._dynamo.config, "enable_aot_compile"):
        torch._dynamo.config.enable_aot_compile = True  # off by default in older versions
    compiled = torch.compile(_run_step, fullgraph=True, backend=options["backend"],
                             options=settings, dynamic=all_dynamic(options) or None)
    if not hasattr(compiled, "aot_compile"):
        raise CapabilityMissing("aot_precompile", "PyTorch %s has no torch.compile(…).aot_compile"
                                % torch.__version__)
    function = artifact.timed("export", compiled.aot_compile, ((model, inputs), {}))
    artifact.path = _path("aot_precompile")
    artifact.timed("package", function.save_compiled_function, artifact.path)
    del function, compiled
    _forget_but_count()

    def load():
        with open(artifact.path, "rb") as file:
            return torch.compiler.load_compiled_function(file)

    artifact.function = artifact.timed("load", load)
    return artifact


def _forget_but_count():
    """dynamo's reset, less what it does to the figures that the report is made of."""
    import torch._dynamo.utils as utils

    kept = {name: list(getattr(utils, name)) if name == "graph_break_reasons" else dict(
        getattr(utils, name)) for name in ("compilation_time_metrics", "cumulative_time_spent_ns",
                                           "graph_break_reasons") if hasattr(utils, name)}
    torch._dynamo.reset()
    for name, value in kept.items():
        table = getattr(utils, name)
        table.extend(value) if isinstance(value, list) else table.update(value)


_LACKS = {
    "aot_inductor": (lambda: hasattr(torch._inductor, "aoti_compile_and_package"),
                     "PyTorch %s has no AOTInductor packages"),
    "aot_precompile": (lambda: hasattr(torch.compiler, "load_compiled_function"),
                       "PyTorch %s cannot save a compiled function"),
    "nativert": (lambda: _in_cpp().has_nativert(), "the libraries of PyTorch %s hold no NativeRT"),
}


def check(experiment):
    """Before anything is loaded: OptionRefused, or CapabilityMissing where this build cannot."""
    way = experiment["options"]["ahead_of_time"]
    if way not in WAYS:
        raise OptionRefused("no way %r to compile ahead of time; there are: %s" % (
            way, ", ".join(WAYS)))
    if experiment["mode"] == "training":
        raise OptionRefused("%s is for inference only" % way)
    possible, text = _LACKS.get(way, (lambda: True, ""))
    if not possible():
        raise CapabilityMissing(way, text % torch.__version__)


def build(experiment, step, model, inputs):
    global last
    check(experiment)
    way = experiment["options"]["ahead_of_time"]
    last = globals()["build_" + way](experiment, step, model, inputs)
    return last
