from torchbenchmark.base import BenchmarkModel


class Model(BenchmarkModel):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("needs an accelerator")
