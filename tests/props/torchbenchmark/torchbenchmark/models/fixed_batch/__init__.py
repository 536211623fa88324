from torchbenchmark.base import BenchmarkModel


class Model(BenchmarkModel):
    """Does not let its batch size be changed."""

    ALLOW_CUSTOMIZE_BSIZE = False
    DEFAULT_EVAL_BSIZE = 3
