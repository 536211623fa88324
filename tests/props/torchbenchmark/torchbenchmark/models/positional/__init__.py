from torchbenchmark.base import BenchmarkModel


class Model(BenchmarkModel):
    """The plain case: a tuple of tensors."""
