"""Models for every way to compile: small enough that the compiler is all that takes time."""

import os
import signal
import time

import torch
import torch._dynamo


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))

    def get_example_inputs(self, batch_size=4):
        return (torch.randn(batch_size, 16),)


class Conv(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)

    def forward(self, x):
        return torch.relu(self.norm(self.layer(x))).mean((2, 3))

    def get_example_inputs(self, batch_size=2):
        return (torch.randn(batch_size, 3, 8, 8),)


class Named(Mlp):
    """Keywords in, a dictionary with nesting and things that are no tensors out."""

    def forward(self, x, scale, offset=None):
        y = super().forward(x) * scale
        return {"logits": y, "parts": (y + 1, [y - 1]), "name": "named", "nothing": offset}

    def get_example_inputs(self, batch_size=4):
        return {"x": torch.randn(batch_size, 16), "scale": 3}


class Null(torch.nn.Module):
    def forward(self, x):
        return x

    def get_example_inputs(self, batch_size=1):
        return (torch.randn(batch_size, 1),)


class Breaks(Mlp):
    def forward(self, x):
        y = self.first(x)
        torch._dynamo.graph_break()
        return self.second(y)


class Recompiles(Mlp):
    """Its first two calls each see another constant."""

    def __init__(self):
        super().__init__()
        self.names = ["a", "b", "c"]
        self.name = "a"

    def forward(self, x):
        y = super().forward(x)
        if self.name == "a":
            self.name = "b"
            return y + 1
        self.name = "c"
        return y + 2


class DiesOnTheLastCore(Mlp):
    def forward(self, x):
        if max(os.sched_getaffinity(0)) == max(os.sched_getaffinity(os.getppid())):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().forward(x)


class SlowInEager(Mlp):
    """Five milliseconds that compiled code does not spend."""

    def forward(self, x):
        if not torch.compiler.is_compiling():
            end = time.perf_counter() + 0.005
            while time.perf_counter() < end:
                pass
        return super().forward(x)


class HungryAtFirst(Mlp):
    """Its first eager call of each copy touches 256 MiB that no later one does."""

    def __init__(self):
        super().__init__()
        self.first_call = True

    def forward(self, x):
        if not torch.compiler.is_compiling() and self.first_call:
            self.first_call = False
            torch.ones(64 << 20)
        return super().forward(x)
