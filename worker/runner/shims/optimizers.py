"""The optimizer of a training step."""

import torch
import torch._dynamo

LEARNING_RATE = 0.01


def make(experiment, model):
    """The experiment's optimizer over the parameters of `model`, or None."""
    kind = experiment["optimizer"]
    if experiment["mode"] != "training" or kind == "none":
        return None
    parameters = list(model.parameters())
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=LEARNING_RATE, foreach=True)
    if kind == "adam":
        # Capturable needs an accelerator; on a CPU torch's own defaults.
        more = dict(capturable=True, foreach=True) if experiment["device"] != "cpu" else {}
        return torch.optim.Adam(parameters, lr=LEARNING_RATE, **more)
    raise NotImplementedError("no optimizer %r (there are none, adam, sgd)" % kind)


@torch._dynamo.disable
def _uncompiled(optimizer):
    optimizer.step()


def step_of(experiment, optimizer):
    """step(): nothing without an optimizer. That of SGD is a single addition for all parameters, so
    it is left out of compilation: nothing to gain, and it costs compile time."""
    if optimizer is None:
        return lambda: None
    if experiment["optimizer"] == "sgd":
        return lambda: _uncompiled(optimizer)
    return optimizer.step
