import types

from torchbenchmark.base import BenchmarkModel, Network


class Cached(Network):
    """Refuses to run while its cache is on."""

    def __init__(self):
        super().__init__()
        self.config = types.SimpleNamespace(use_cache=True)

    def forward(self, x):
        if self.config.use_cache:
            raise RuntimeError("the cache is on")
        return {"logits": super().forward(x)}


class Model(BenchmarkModel):
    """Inputs by name, a dictionary as output, a configuration."""

    def build(self):
        return Cached()

    def inputs(self):
        return {"x": super().inputs()[0]}
