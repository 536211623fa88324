"""Models of TorchBench, from an installed `torchbenchmark` package or a checkout of its repository.

The checkout is found wherever the process runs: through the environment (tools/setup-torchbench
writes a .pth file), or the variable DYNBENCH_TORCHBENCH of the launch profile.
"""

import collections
import importlib
import importlib.util
import json
import os
import sys
import tempfile

import torch

from .failures import CapabilityMissing, OptionRefused
from .loading import Loaded, seed

_FOLDERS = ("models", "canary_models")
_KNOWN = {"package", "use_cache", "input_shape", "inputs", "training_arguments", "keeps_grad"}


def find_package():
    """Makes `torchbenchmark` importable; CapabilityMissing with what to do when it is nowhere."""
    folder = os.environ.get("DYNBENCH_TORCHBENCH", "")
    if folder and folder not in sys.path:
        if not os.path.isdir(os.path.join(folder, "torchbenchmark")):
            raise CapabilityMissing("torchbenchmark", "DYNBENCH_TORCHBENCH=%s holds no folder "
                                    "torchbenchmark" % folder)
        sys.path.insert(0, folder)
    if importlib.util.find_spec("torchbenchmark") is None:
        raise CapabilityMissing("torchbenchmark", "this environment has no torchbenchmark; run "
                                "tools/setup-torchbench for it")


def model_module(name, package):
    """The module of a model: the one that the suite names, else of the usual folders."""
    if package:
        candidates = [package]
    else:
        candidates = ["torchbenchmark.%s.%s" % (folder, name) for folder in _FOLDERS]
    for candidate in candidates:
        try:
            return importlib.import_module(candidate)
        except ModuleNotFoundError as error:
            # A library that the model needs is another matter than a model that is not there.
            if error.name is None or not candidate.startswith(error.name):
                raise
    raise ModuleNotFoundError("torchbenchmark has no model %s (looked for %s)" % (
        name, " and ".join(candidates)), name=candidates[0])


def _parameters(experiment):
    parameters = experiment["source"]["parameters"]
    unknown = sorted(set(parameters) - _KNOWN)
    if unknown:
        raise OptionRefused("the loader torchbench knows no parameter %s" % ", ".join(unknown))
    return parameters


def _extra_arguments(experiment):
    arguments = ["--part", experiment["part"]] if experiment["part"] else []
    if experiment["distributed"]:
        from . import distributed

        arguments += ["--rank", str(distributed.rank()), "--world_size",
                      str(experiment["world_size"])]
    return arguments


def instantiate(experiment, parameters):
    module = model_module(experiment["source"]["name"], parameters.get("package", ""))
    kind = getattr(module, "Model", None)
    if kind is None:
        raise NotImplementedError("%s has no class Model" % module.__name__)
    training, more = experiment["mode"] == "training", {}
    if training and parameters.get("training_arguments"):
        more["model_kwargs"] = json.loads(parameters["training_arguments"])
    # Some models want a folder of Kaldi's, none of them reads it.
    os.environ.setdefault("KALDI_ROOT", tempfile.gettempdir())
    seed()
    return kind(test="train" if training else "eval", device=experiment["device"],
                batch_size=experiment["batch_size"] or None,
                extra_args=_extra_arguments(experiment), **more)


def _plain(batch):
    """A data loader's batch object as a plain named tuple of the same fields."""
    fields = ("dense_features", "sparse_features", "labels")
    return collections.namedtuple("Batch", fields)(*(getattr(batch, name) for name in fields))


def inputs_of(experiment, parameters, given, batch_size):
    if parameters.get("input_shape"):
        size = [int(n) for n in parameters["input_shape"].split(",")]
        seed()
        return [torch.rand(batch_size, *size).to(experiment["device"])]
    if parameters.get("inputs") == "named_tuples":
        return [_plain(batch) for batch in given]
    return given if isinstance(given, (dict, list, tuple)) else [given]


def load(experiment, _model_file):
    parameters = _parameters(experiment)
    find_package()
    benchmark = instantiate(experiment, parameters)
    model, given = benchmark.get_module()
    if parameters.get("use_cache") == "false" and hasattr(model, "config"):
        model.config.use_cache = False
    asked, notes = experiment["batch_size"], []
    batch_size = getattr(benchmark, "batch_size", None) or asked
    if asked and asked != batch_size:
        notes.append("batch size %d was asked for, the model's own is %d" % (asked, batch_size))
    inputs = inputs_of(experiment, parameters, given, batch_size)
    package = sys.modules["torchbenchmark"]
    return Loaded(model=model, inputs=inputs, batch_size=batch_size or 0, weights="unknown",
                  notes=notes, in_force={"torchbenchmark": os.path.dirname(
                      os.path.abspath(package.__file__))})
