import torch

from torchbenchmark.base import BenchmarkModel, Network


class Model(BenchmarkModel):
    """Loads weights from a network that is not there."""

    def build(self):
        module = Network()
        module.load_state_dict(torch.hub.load_state_dict_from_url("http://127.0.0.1:9/none.pt"))
        return module
