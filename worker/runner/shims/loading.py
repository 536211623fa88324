"""From an experiment to a model and its inputs: load, validate, cast, mark."""

import copy
import dataclasses
import random

import numpy
import torch

SEED = 1337
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclasses.dataclass
class Loaded:
    model: torch.nn.Module
    inputs: object  # list or tuple (positional) or dict (keywords)
    batch_size: int
    weights: str
    notes: list = dataclasses.field(default_factory=list)


def seed():
    """Everything that draws: torch, Python and numpy. Cheap; before each sample."""
    torch.manual_seed(SEED)
    random.seed(SEED)
    numpy.random.seed(SEED)


def tensors_of(tree):
    return [t for t in torch.utils._pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def _with_marks(tensor, like):
    """`tensor` with dynamo's marks of `like` (dynamic dimensions): a clone or a cast loses them."""
    for name, value in vars(like).items():
        if "_dynamo_" in name:
            setattr(tensor, name, copy.copy(value))
    return tensor


def clone_inputs(inputs):
    return torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: _with_marks(t.clone(), t), inputs)


def cast_to(dtype, model, inputs):
    """Model and floating-point inputs in `dtype`; changes the model in place."""
    inputs = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda t: t.to(dtype) if t.is_floating_point() else t, inputs)
    return model.to(dtype), inputs


def cast(precision, model, inputs):
    dtype = _DTYPES.get(precision)  # amp: autocast does it
    return cast_to(dtype, model, inputs) if dtype else (model, inputs)


def validate(experiment, loaded):
    """One eager step of a copy, so that a broken model is told from a broken compiler."""
    from .callables import make_step
    from .failures import ValidationFailed

    try:
        model, inputs = cast(experiment["precision"], copy.deepcopy(loaded.model),
                             clone_inputs(loaded.inputs))
        make_step(experiment)(model, inputs)
    except Exception as error:
        raise ValidationFailed("the model does not run eagerly: %r" % error) from error


def mark_batch(experiment, loaded):
    """Marks in every input the first dimension of the batch's size as (maybe) dynamic."""
    if not experiment["options"]["dynamic_batch_only"]:
        return
    if loaded.batch_size <= 1:  # as upstream: sizes 0 and 1 are always specialised
        loaded.notes.append("batch size %d: nothing marked dynamic" % loaded.batch_size)
        return
    marked = 0
    for tensor in tensors_of(loaded.inputs):
        if loaded.batch_size in tensor.shape:
            torch._dynamo.maybe_mark_dynamic(tensor, tuple(tensor.shape).index(loaded.batch_size))
            marked += 1
    if not marked:
        raise ValueError("no input has a dimension of the batch size %d: nothing to mark dynamic"
                         % loaded.batch_size)


def load(experiment, model_file):
    from . import path_loader, timm_loader

    loaders = {"timm": timm_loader, "path": path_loader}
    loader = loaders.get(experiment["source"]["loader"])
    if loader is None:
        raise NotImplementedError("this runner has no loader %r (it has: %s)" % (
            experiment["source"]["loader"], ", ".join(sorted(loaders))))
    # Inference never records gradients, from the first call to the last.
    torch.set_grad_enabled(experiment["mode"] == "training")
    loaded = loader.load(experiment, model_file)
    validate(experiment, loaded)
    loaded.model, loaded.inputs = cast(experiment["precision"], loaded.model, loaded.inputs)
    mark_batch(experiment, loaded)
    return loaded
