"""What the models share: the constructor that TorchBench's models have."""

import argparse

import torch

from torchbenchmark import WIDTH


class Network(torch.nn.Module):
    """Takes one tensor, by position or by its name."""

    def __init__(self, width=WIDTH):
        super().__init__()
        self.first, self.second = torch.nn.Linear(width, width), torch.nn.Linear(width, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class BenchmarkModel:
    DEFAULT_TRAIN_BSIZE, DEFAULT_EVAL_BSIZE = 8, 4
    ALLOW_CUSTOMIZE_BSIZE = True

    def __init__(self, test, device, batch_size=None, extra_args=()):
        self.test, self.device = test, device
        parser = argparse.ArgumentParser()
        for name in ("--part", "--rank", "--world_size"):
            parser.add_argument(name)
        self.arguments = parser.parse_args(list(extra_args))
        default = self.DEFAULT_TRAIN_BSIZE if test == "train" else self.DEFAULT_EVAL_BSIZE
        self.batch_size = batch_size if batch_size and self.ALLOW_CUSTOMIZE_BSIZE else default
        self.module = self.build().to(device)

    def build(self):
        return Network()

    def inputs(self):
        return (torch.randn(self.batch_size, WIDTH, device=self.device),)

    def get_module(self):
        return self.module, self.inputs()
