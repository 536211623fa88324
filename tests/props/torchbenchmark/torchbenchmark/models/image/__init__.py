import torch

from torchbenchmark.base import BenchmarkModel


class Model(BenchmarkModel):
    """Its own input is not the one that the suite measures with."""

    def build(self):
        return torch.nn.Conv2d(3, 4, 3)

    def inputs(self):
        return (torch.zeros(1, 3, 5, 5, device=self.device),)
