"""Models that are trained, in milliseconds. Some of them misbehave in one way each."""

import os

import torch
import torch.distributed


class Normalized(torch.nn.Module):
    """Has parameters and buffers."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Linear(16, 16), torch.nn.BatchNorm1d(16)
        self.last = torch.nn.Linear(16, 4)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x))))

    def get_example_inputs(self, batch_size=4):
        return (torch.randn(batch_size, 16),)


class Counts(Normalized):
    """Tells its loss at every call."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.Identity()

    def forward(self, x):
        output = super().forward(x)
        if not torch.compiler.is_compiling():
            print("loss %r" % output.mean().item(), flush=True)
        return output


class WrongGradient(Normalized):
    """The loss is right when compiled, the gradients are not."""

    def forward(self, x):
        output = super().forward(x)
        if torch.compiler.is_compiling():
            return output.detach() + 2 * (output - output.detach())
        return output


class Picture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.layer(x)

    def get_example_inputs(self, batch_size=2):
        return (torch.randn(batch_size, 3, 8, 8),)


class Depthwise(Picture):
    """Inductor's gradient of a depthwise weight has other strides than eager's."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 1), torch.nn.BatchNorm2d(8),
                                         torch.nn.Conv2d(8, 8, 3, groups=8, bias=False))


class TellsRank(Normalized):
    def forward(self, x):
        if not torch.compiler.is_compiling() and torch.distributed.is_initialized():
            print("called in rank %d" % torch.distributed.get_rank(), flush=True)
        return super().forward(x)


CALLS = []


class DiesInRankOne(Normalized):
    """Ends at its third call of the test, after the one that validates it."""

    def forward(self, x):
        CALLS.append(1)
        if torch.distributed.get_rank() == 1 and len(CALLS) > 3:
            os.write(2, b"this rank has had enough\n")
            os._exit(7)
        return super().forward(x)
