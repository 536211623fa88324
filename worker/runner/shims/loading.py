"""From an experiment to a model and its inputs: load, validate, cast, mark."""

import copy
import dataclasses
import importlib
import inspect
import random

import numpy
import torch

from . import device_use

SEED = 1337
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclasses.dataclass
class Loaded:
    model: torch.nn.Module
    inputs: object  # list or tuple (positional) or dict (keywords)
    batch_size: int
    weights: str
    notes: list = dataclasses.field(default_factory=list)
    in_force: dict = dataclasses.field(default_factory=dict)  # read back, beside the options'


def seed():
    """Everything that draws: torch, Python and numpy. Cheap; before each sample."""
    torch.manual_seed(SEED)
    random.seed(SEED)
    numpy.random.seed(SEED)


class RandomState:
    """Where the generators that `seed` sets stand now."""

    def __init__(self, device):
        accelerator = getattr(torch, device, None) if device != "cpu" else None
        self.accelerator = accelerator if hasattr(accelerator, "get_rng_state") else None
        self.states = (torch.get_rng_state(), random.getstate(), numpy.random.get_state(),
                       self.accelerator and self.accelerator.get_rng_state())

    def restore(self):
        ours, pythons, numpys, accelerators = self.states
        torch.set_rng_state(ours)
        random.setstate(pythons)
        numpy.random.set_state(numpys)
        if self.accelerator:
            self.accelerator.set_rng_state(accelerators)


def tensors_of(tree):
    return [t for t in torch.utils._pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def _with_marks(tensor, like):
    """`tensor` with dynamo's marks of `like` (dynamic dimensions): a clone or a cast loses them."""
    for name, value in vars(like).items():
        if "_dynamo_" in name or name == "_specialize_on":
            setattr(tensor, name, copy.copy(value))
    return tensor


def _clone(tensor):
    """A leaf that wants a gradient when `tensor` is one, so that each clone has its own."""
    if tensor.is_leaf and tensor.requires_grad:
        return _with_marks(tensor.detach().clone().requires_grad_(True), tensor)
    return _with_marks(tensor.clone(), tensor)


def clone_inputs(inputs):
    return torch.utils._pytree.tree_map_only(torch.Tensor, _clone, inputs)


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
    from .callables import copy_of, make_step
    from .failures import ValidationFailed

    try:
        model, inputs = cast(experiment["effective_precision"],
                             copy_of(dict(experiment, distributed=""), loaded.model),
                             clone_inputs(loaded.inputs))
        make_step(experiment)(model, inputs)
    except Exception as error:
        raise ValidationFailed("the model does not run eagerly: %r" % error) from error


def _marker(experiment, batch_size):
    """mark(tensor, dimension) for the batch; as much of it as this build of torch knows."""
    if not experiment["options"]["unbacked_batch_only"]:
        return torch._dynamo.maybe_mark_dynamic
    # One symbol for the batch of all inputs, with its size as the compiler's hint.
    wanted = dict(shape_id="batch", hint_override=batch_size, min=1)
    known = inspect.signature(torch._dynamo.decorators.mark_unbacked).parameters
    more = {name: value for name, value in wanted.items() if name in known}
    return lambda tensor, dimension: torch._dynamo.decorators.mark_unbacked(tensor, dimension, **more)


def mark_batch(experiment, loaded):
    """Marks in every input the first dimension of the batch's size as (maybe) dynamic, or unbacked."""
    options = experiment["options"]
    if not (options["dynamic_batch_only"] or options["unbacked_batch_only"]):
        return
    if not experiment["mark_batch"]:
        loaded.notes.append("the suite exempts this model from a dynamic batch: nothing marked")
        return
    if loaded.batch_size <= 1:  # as upstream: sizes 0 and 1 are always specialised
        loaded.notes.append("batch size %d: nothing marked dynamic" % loaded.batch_size)
        return
    mark, marked = _marker(experiment, loaded.batch_size), []
    for tensor in tensors_of(loaded.inputs):
        if loaded.batch_size in tensor.shape:
            mark(tensor, tuple(tensor.shape).index(loaded.batch_size))
            marked.append("x".join(map(str, tensor.shape)))
    if not marked:
        raise ValueError("no input has a dimension of the batch size %d: nothing to mark dynamic"
                         % loaded.batch_size)
    word = "unbacked" if options["unbacked_batch_only"] else "dynamic"
    loaded.in_force["batch.%s" % word] = ",".join(marked)


LOADERS = ("huggingface", "path", "timm", "torchbench")
# Fields that only some loaders can obey: (field, value without effect, loaders, upstream refuses it).
_ONLY = (("activation_checkpointing", False, ("huggingface",), True),
         ("layers", 0, ("huggingface",), False),
         ("part", "", ("torchbench",), False),
         ("generation", "", ("huggingface",), False))


def _refuse(experiment, loader):
    from .failures import OptionRefused

    for field, none, loaders, not_implemented in _ONLY:
        if experiment[field] != none and loader not in loaders:
            text = "%s=%r has no effect on the suite %s; only on: %s" % (
                field, experiment[field], loader, ", ".join(loaders))
            raise NotImplementedError(text) if not_implemented else OptionRefused(text)


def keeps_gradients(experiment):
    """Training records them; of inference only a model that needs them for its own output."""
    return (experiment["mode"] == "training"
            or experiment["source"]["parameters"].get("keeps_grad") == "true")


def _read_back(experiment, loaded):
    """What is in force of the model itself."""
    floats = sorted({str(p.dtype).replace("torch.", "") for p in loaded.model.parameters()})
    found = {"model.mode": "train" if loaded.model.training else "eval",
             "model.parameters": ",".join(floats), "grad": str(torch.is_grad_enabled())}
    if experiment["effective_precision"] == "amp":
        from .callables import autocast_for

        with autocast_for(experiment)():
            device = experiment["device"]
            found["autocast.dtype"] = str(torch.get_autocast_dtype(device)).replace("torch.", "")
    if experiment["effective_precision"] != experiment["precision"]:
        loaded.notes.append("precision %s was asked for, the suite's rule makes it %s" % (
            experiment["precision"], experiment["effective_precision"]))
    if experiment["mode"] == "training":
        found["optimizer"] = experiment["optimizer"]
    four = [t for t in tensors_of(loaded.inputs) if t.dim() == 4]
    if four:
        last = all(t.is_contiguous(memory_format=torch.channels_last) for t in four)
        found["inputs.channels_last"] = str(last)
    if experiment["distributed"]:
        from . import distributed

        found.update(distributed.in_force())
    loaded.in_force.update(found)


def load(experiment, model_file):
    from . import requirements

    requirements.check(experiment)
    name = experiment["source"]["loader"]
    if name not in LOADERS:
        raise NotImplementedError("this runner has no loader %r (it has: %s)" % (
            name, ", ".join(LOADERS)))
    _refuse(experiment, name)
    loader = importlib.import_module("%s.%s_loader" % (__package__, name))
    if experiment["distributed"] or not getattr(loader, "BUILDS_ON_THE_HOST", False):
        device_use.first_use()
    if experiment["distributed"]:
        from . import distributed

        distributed.join()
    # Inference never records gradients, from the first call to the last.
    torch.set_grad_enabled(keeps_gradients(experiment))
    loaded = loader.load(experiment, model_file)
    loaded.model.train(experiment["model_mode"] == "train")
    validate(experiment, loaded)
    loaded.model, loaded.inputs = cast(experiment["effective_precision"], loaded.model,
                                       loaded.inputs)
    mark_batch(experiment, loaded)
    _read_back(experiment, loaded)
    return loaded
