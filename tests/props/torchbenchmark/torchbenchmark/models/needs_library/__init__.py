import a_library_that_nobody_has  # noqa: F401

from torchbenchmark.base import BenchmarkModel


class Model(BenchmarkModel):
    pass
