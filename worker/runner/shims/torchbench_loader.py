"""Models of TorchBench, from an installed `torchbenchmark` package or a checkout of its repository.

The checkout is found wherever the process runs: through the environment (tools/setup-torchbench
writes a .pth file), or the variable DYNBENCH_TORCHBENCH of the launch profile.
"""

import collections
import contextlib
import importlib
import importlib.util
import json
import os
import sys
import tempfile
import urllib.error

import torch

from .failures import CapabilityMissing, OptionRefused, WeightsUnavailable
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


class _Untouched(dict):
    """Stands for pretrained weights that are not loaded: the model keeps its random ones."""


class _Weights:
    """What the models' constructors load from a network, by the experiment's `weights`: pretrained
    ones as they ask for; random: none; auto: those whose file is on this host. `loaded` and `left`
    count. In force within `with`."""

    def __init__(self, wanted):
        self.wanted, self.loaded, self.left = wanted, 0, 0
        self.undo = contextlib.ExitStack()

    def _take(self, url, file_name=None):
        """Whether to load from `url`."""
        name = file_name or os.path.basename(str(url).split("?")[0])
        cached = os.path.exists(os.path.join(torch.hub.get_dir(), "checkpoints", name))
        take = self.wanted == "pretrained" or (self.wanted == "auto" and cached)
        self.loaded, self.left = self.loaded + take, self.left + (not take)
        return take

    def _replace(self, holder, name, value):
        self.undo.callback(setattr, holder, name, getattr(holder, name))
        setattr(holder, name, value)

    def __enter__(self):
        from_url, load_state_dict = torch.hub.load_state_dict_from_url, torch.nn.Module.load_state_dict

        def load_from_url(url, *args, **kwargs):
            if self._take(url, kwargs.get("file_name")):
                return from_url(url, *args, **kwargs)
            return _Untouched()

        def load(module, state, *args, **kwargs):
            if isinstance(state, _Untouched):
                return None
            return load_state_dict(module, state, *args, **kwargs)

        self._replace(torch.hub, "load_state_dict_from_url", load_from_url)
        self._replace(torch.nn.Module, "load_state_dict", load)
        with contextlib.suppress(ImportError):
            from torchvision.models import _api as torchvision

            get = torchvision.WeightsEnum.get_state_dict

            def of_torchvision(weights, *args, **kwargs):
                return get(weights, *args, **kwargs) if self._take(weights.url) else _Untouched()

            self._replace(torchvision.WeightsEnum, "get_state_dict", of_torchvision)
        return self

    def __exit__(self, *_exception):
        self.undo.close()

    def word(self):
        return "random" if self.left else "pretrained" if self.loaded else "unknown"


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
    with _Weights(experiment["weights"]) as weights:
        try:
            benchmark = instantiate(experiment, parameters)
        except urllib.error.URLError as error:
            if experiment["weights"] != "pretrained":
                raise
            raise WeightsUnavailable("weights of %s: %s" % (experiment["source"]["name"],
                                                            error)) from error
    model, given = benchmark.get_module()
    if parameters.get("use_cache") == "false" and hasattr(model, "config"):
        model.config.use_cache = False
    asked, notes = experiment["batch_size"], []
    batch_size = getattr(benchmark, "batch_size", None) or asked
    if asked and asked != batch_size:
        notes.append("batch size %d was asked for, the model's own is %d" % (asked, batch_size))
    inputs = inputs_of(experiment, parameters, given, batch_size)
    package = sys.modules["torchbenchmark"]
    return Loaded(model=model, inputs=inputs, batch_size=batch_size or 0, weights=weights.word(),
                  notes=notes, in_force={"torchbenchmark": os.path.dirname(
                      os.path.abspath(package.__file__))})
