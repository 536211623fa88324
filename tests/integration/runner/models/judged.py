"""Models and compilers for the accuracy test: each makes one of its words come true."""

import os

import torch
import torch._dynamo
import torch._dynamo.utils


def tensors_changed(graph, change):
    def run(*inputs):
        return tuple(change(o) if isinstance(o, torch.Tensor) and o.is_floating_point() else o
                     for o in graph.forward(*inputs))

    return run


@torch._dynamo.register_backend
def adds_one(graph, inputs):
    return tensors_changed(graph, lambda o: o + 1)


@torch._dynamo.register_backend
def last_bit(graph, inputs):
    return tensors_changed(graph, lambda o: torch.nextafter(o, torch.full_like(o, 9e9)))


@torch._dynamo.register_backend
def folds_a_convolution(graph, inputs):
    """What inductor counts when freezing folds one, and an error that only the largest multiplier
    lets through."""
    torch._dynamo.utils.counters["inductor"]["binary_folding_conv"] += 1
    return tensors_changed(graph, lambda o: o * 1.01)


@torch._dynamo.register_backend
def not_for_one(graph, inputs):
    if any(isinstance(i, torch.Tensor) and i.dim() and i.shape[0] == 1 for i in inputs):
        raise ValueError("one sample is too few")
    return graph.forward


@torch._dynamo.register_backend
def out_of_memory(graph, inputs):
    raise torch.OutOfMemoryError("out of memory: this compiler says so")


COMPILED = []


@torch._dynamo.register_backend
def wrong_twice(graph, inputs):
    """Of its compilations the second and the fourth give wrong results."""
    COMPILED.append(1)
    change = 1.0 if len(COMPILED) in (2, 4) else 0.0
    return tensors_changed(graph, lambda o: o + change)


class Small(torch.nn.Module):
    width = 1200

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, self.width)

    def forward(self, x):
        return torch.relu(self.layer(x))

    def get_example_inputs(self, batch_size=2):
        return (torch.randn(batch_size, 16),)


class Draws(Small):
    """As a model with dropout in training."""

    def forward(self, x):
        return torch.nn.functional.dropout(super().forward(x), 0.5, training=True)


class Tiny(Small):
    width = 2


class RaisesAtCall(Small):
    """In its N-th eager forward: 1 is the loader's check, 2 and 3 the first eager run, 4 and 5 the
    second."""

    calls, when = 0, 0

    def problem(self):
        return ValueError("this run fails")

    def forward(self, x):
        if not torch.compiler.is_compiling():
            RaisesAtCall.calls += 1
            if RaisesAtCall.calls == self.when:
                raise self.problem()
        return super().forward(x)


class FailsInFirstRun(RaisesAtCall):
    when = 2


class FailsInSecondRun(RaisesAtCall):
    when = 5


class OutOfMemory:
    def problem(self):
        return torch.OutOfMemoryError("out of memory: tried to allocate 2.00 GiB")


class OutOfMemoryInFirstRun(OutOfMemory, FailsInFirstRun):
    pass


class OutOfMemoryInSecondRun(OutOfMemory, FailsInSecondRun):
    pass


class FailsInFloat64(Small):
    def problem(self):
        return ValueError("no float64 here")

    def forward(self, x):
        if x.dtype == torch.float64:
            raise self.problem()
        return super().forward(x)


class OutOfMemoryInFloat64(OutOfMemory, FailsInFloat64):
    pass


class Strange:
    pass


class CannotBeCompared(Small):
    def forward(self, x):
        return Strange()


class GivesNan(Small):
    def forward(self, x):
        return super().forward(x) * float("nan")


class ChecksDeterminism(Small):
    def forward(self, x):
        return super().forward(x) + torch.are_deterministic_algorithms_enabled()


class Mask(Small):
    """A bool mask of which the compiled side has `flipped` fewer elements, of about half the whole."""

    flipped = 10

    def forward(self, x):
        mask = torch.arange(1200, device=x.device) % 2 == 0
        limit = self.flipped if torch.compiler.is_compiling() else 0
        return mask & (torch.arange(1200, device=x.device) >= 2 * limit)


class VeryDifferentMask(Mask):
    flipped = 100


class NeverLoads(Small):
    def __init__(self):
        super().__init__()
        os._exit(3)


class WrongLoss(Small):
    def forward(self, x):
        return super().forward(x) + torch.compiler.is_compiling()


class WrongGradient(Small):
    """The same value; twice the gradient when compiled."""

    def forward(self, x):
        y = super().forward(x)
        return 2 * y - y.detach() if torch.compiler.is_compiling() else y


class WrongBuffer(Small):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        self.seen += 2 if torch.compiler.is_compiling() else 1
        return super().forward(x)


class WrongInputGradient(Small):
    def forward(self, x):
        return super().forward(2 * x - x.detach() if torch.compiler.is_compiling() else x)

    def get_example_inputs(self, batch_size=2):
        return (torch.randn(batch_size, 16, requires_grad=True),)


class RandomWithDropout(Small):
    """Repeatable only when every run starts from the same seed."""

    def forward(self, x):
        return torch.nn.functional.dropout(super().forward(x), 0.5, training=True)


class DependsOnBatch(torch.nn.Module):
    def forward(self, x):
        return x * (1 + x.shape[0] * 1e-6) if x.shape[0] > 2 else x * 1.5

    def get_example_inputs(self, batch_size=8):
        return (torch.randn(batch_size, 16),)


class DoesNotDependOnBatch(DependsOnBatch):
    def forward(self, x):
        return {"scaled": x * 1.5, "whole": x.sum()}  # the second has no batch


class LargestBatch(Small):
    """Runs out of memory above `most` samples."""

    most = 20

    def forward(self, x):
        if x.shape[0] > self.most:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return super().forward(x)


class LargestBatchOfThree(LargestBatch):
    most = 3


class NoBatchFits(LargestBatch):
    most = 0
