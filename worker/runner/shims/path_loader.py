"""A user's own model: `path:/abs/model.py,class:Name`, an nn.Module with get_example_inputs()."""

import importlib.util
import inspect
import sys

import torch

from .loading import Loaded, seed, tensors_of


def find_class(path, name):
    spec = importlib.util.spec_from_file_location("dynbench_model", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["dynbench_model"] = module  # pickling and dataclasses look their module up
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if found is None:
        there = [n for n, c in vars(module).items() if isinstance(c, type)
                 and issubclass(c, torch.nn.Module) and c.__module__ == "dynbench_model"]
        raise AttributeError("the model file has no class %s; it has: %s"
                             % (name, ", ".join(there) or "no nn.Module"))
    if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):
        raise TypeError("%s is not a class derived from torch.nn.Module" % name)
    if not hasattr(found, "get_example_inputs"):
        raise TypeError("%s lacks get_example_inputs()" % name)
    return found


def example_inputs(model, batch_size):
    """Passes the batch size on when the method has a parameter for it."""
    takes_it = "batch_size" in inspect.signature(model.get_example_inputs).parameters
    inputs = model.get_example_inputs(**(dict(batch_size=batch_size)
                                         if takes_it and batch_size else {}))
    return inputs if isinstance(inputs, (dict, list, tuple)) else [inputs]


def _channels_last(tensor):
    return tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def load(experiment, model_file):
    seed()
    model = find_class(model_file, experiment["source"]["name"])()
    device = experiment["device"]
    model.to(device)
    seed()
    inputs = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: t.to(device), example_inputs(model, experiment["batch_size"]))
    if experiment["channels_last"]:
        model.to(memory_format=torch.channels_last)
        inputs = torch.utils._pytree.tree_map_only(torch.Tensor, _channels_last, inputs)
    sizes = [t.shape[0] for t in tensors_of(inputs) if t.dim() > 0]
    asked = experiment["batch_size"]
    actual = asked if asked in sizes else sizes[0] if sizes else 0
    notes = []
    if asked and asked != actual:
        notes.append("batch size %d was asked for, the model file gives %d" % (asked, actual))
    return Loaded(model=model, inputs=inputs, batch_size=actual, weights="random", notes=notes)
