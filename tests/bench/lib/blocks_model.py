"""The model of tools/bench windows: works for some milliseconds, and stops at the first call of every
block until its gate is there. That call's sample is not used."""
import os
import time

import torch

FOLDER = "@FOLDER@"
WARM_UP, CALLS, BLOCKS = 10, int("@CALLS@"), int("@BLOCKS@")  # of both sides together; of a block
_calls = 0


@torch.compiler.disable
def _gate():
    global _calls
    _calls += 1
    block, call = divmod(_calls - WARM_UP - 1, CALLS)
    if call or not 0 <= block < BLOCKS:  # the runner calls it once more after the last one
        return
    path = os.path.join(FOLDER, f"asked-{block}")
    if os.path.exists(path):  # the samples are taken again
        return
    open(path, "w", encoding="utf-8").close()
    while not os.path.exists(os.path.join(FOLDER, f"go-{block}")):
        time.sleep(0.005)  # tidy: allow, a model has nothing to wait on


class Blocks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)])

    def forward(self, x):
        _gate()
        return self.layers(x)

    def get_example_inputs(self, batch_size=256):
        return (torch.randn(256, 512),)


class Compiles(torch.nn.Module):
    """Keeps a compiler busy."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(64, 64) for _ in range(40)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = torch.sin(layer(x)) * (i + 1.5)
        return x

    def get_example_inputs(self, batch_size=8):
        return (torch.randn(8, 64),)
