"""Outputs of the compiled side kept in a folder, and compared bit by bit with those of another run:
another build of PyTorch, another option."""

import os
import re

import torch

from .accuracy_leaves import leaves
from .failures import OptionRefused

_FORMAT = 1


def check_folders(experiment):
    """Before anything runs: a folder that cannot be used would cost the whole test."""
    for name in ("save_outputs_to", "compare_outputs_with"):
        folder = experiment[name]
        if folder and not os.path.isabs(folder):
            raise OptionRefused("%s=%s: give an absolute path, on the worker's host" % (name, folder))
    folder = experiment["save_outputs_to"]
    if folder:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise OptionRefused("save_outputs_to=%s: %s" % (folder, error)) from error
    folder = experiment["compare_outputs_with"]
    if folder and not os.path.exists(_file(folder, experiment)):
        raise OptionRefused("compare_outputs_with=%s: there is no %s; save outputs of this model there "
                            "first" % (folder, os.path.basename(_file(folder, experiment))))


def _file(folder, experiment):
    """One name for what may be compared: not the environment, nor the compiler's options."""
    words = [experiment[k] for k in ("suite", "model", "mode", "precision", "device")]
    return os.path.join(folder, re.sub(r"[^A-Za-z0-9._-]", "_", "-".join(words)) + ".outputs.pt")


def _flat(output):
    """[(path, dense tensor on the CPU)]"""
    return [(leaf.path, _plain(leaf.eager)) for leaf in leaves(output, output, None)
            if not leaf.mismatch]  # a NaN of numpy is not even equal to itself


def _plain(tensor):
    tensor = tensor.detach()
    return (tensor if tensor.layout == torch.strided else tensor.to_dense()).cpu().contiguous()


def _bits(tensor):
    return tensor.reshape(-1).view(torch.uint8)


def same_bits(one, other):
    """Also two NaNs are the same when their bits are; 0 and -0 are not."""
    one, other = _plain(one), _plain(other)
    return (one.dtype == other.dtype and one.shape == other.shape
            and torch.equal(_bits(one), _bits(other)))


def difference(saved, found):
    """How two lists of _flat() differ, bit by bit; empty when they do not."""
    if [path for path, _ in saved] != [path for path, _ in found]:
        return "the structure of the outputs differs: %d tensors saved, %d now" % (len(saved),
                                                                                  len(found))
    for (path, before), (_, now) in zip(saved, found):
        if before.dtype != now.dtype or before.shape != now.shape:
            return "%s: %s %s saved, %s %s now" % (path, before.dtype, list(before.shape), now.dtype,
                                                   list(now.shape))
        if not torch.equal(_bits(before), _bits(now)):
            wrong = int((_bits(before) != _bits(now)).sum())
            return "%s differs in %d of %d bytes from the saved output" % (path, wrong,
                                                                          _bits(now).numel())
    return ""


def compare_and_save(experiment, output, notes):
    """Compares first, so that one folder may be both. Returns how the outputs differ, or ""."""
    if not (experiment["save_outputs_to"] or experiment["compare_outputs_with"]):
        return ""
    found, differs = _flat(output), ""
    if experiment["compare_outputs_with"]:
        saved = torch.load(_file(experiment["compare_outputs_with"], experiment), weights_only=True)
        differs = difference(saved["outputs"], found)
        notes.append("outputs compared bit by bit with those of PyTorch %s" % saved["torch"])
    if experiment["save_outputs_to"]:
        path = _file(experiment["save_outputs_to"], experiment)
        torch.save({"format": _FORMAT, "torch": torch.__version__, "outputs": found}, path + ".new")
        os.replace(path + ".new", path)
        notes.append("outputs saved as %s" % path)
    return differs
