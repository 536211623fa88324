import dataclasses

import torch

from torchbenchmark import WIDTH
from torchbenchmark.base import BenchmarkModel, Network


@dataclasses.dataclass
class Batch:
    dense_features: torch.Tensor
    sparse_features: torch.Tensor
    labels: torch.Tensor


class Dense(Network):
    def forward(self, batch):
        return super().forward(batch.dense_features) + batch.labels


class Model(BenchmarkModel):
    """Lives in the other folder, and takes a data loader's batch object."""

    def build(self):
        return Dense()

    def inputs(self):
        x = torch.randn(self.batch_size, WIDTH, device=self.device)
        return (Batch(x, x, x[:, :1]),)
