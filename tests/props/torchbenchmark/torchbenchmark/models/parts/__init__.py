from torchbenchmark.base import BenchmarkModel, Network


class Model(BenchmarkModel):
    """Has parts, and takes arguments for training."""

    def __init__(self, test, device, batch_size=None, extra_args=(), model_kwargs=None):
        self.width = (model_kwargs or {}).get("width")
        super().__init__(test, device, batch_size, extra_args)
        if test == "train" and self.width is None:
            raise ValueError("training needs a width")

    def build(self):
        if self.arguments.part == "first":
            return Network().first
        return Network()
