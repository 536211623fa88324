"""Holds dynbench's own comparison against the environment's same(), over a table of tensors. Loading
it succeeds only when both agree on every row."""

import itertools

import dynbench_runner
import torch
from torch._dynamo.utils import same

NAN, INF = float("nan"), float("inf")


def tensors():
    """(eager, result, float64 reference or None)"""
    torch.manual_seed(7)
    base = torch.randn(4, 300, dtype=torch.float64)
    for dtype, size in itertools.product((torch.float32, torch.bfloat16, torch.float16),
                                         ((5,), (300,), (1200,), (2, 300, 1, 1))):
        exact = base.flatten()[:torch.Size(size).numel()].reshape(size).clone()
        eager = exact.to(dtype)
        for error in (0, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.3, 3):
            noise = torch.randn(size, dtype=torch.float64) * error
            result = (exact + noise).to(dtype)
            yield eager, result, exact
            yield eager, result, None
            yield (exact + noise / 2).to(dtype), result, exact
    with_nan = torch.tensor([1.0, NAN, 3.0])
    clean = torch.tensor([1.0, 2.0, 3.0])
    yield with_nan, with_nan.clone(), None
    yield with_nan, clean, clean.double()
    yield with_nan, clean + 1, clean.double()
    yield with_nan, with_nan + 1, with_nan.double()
    yield clean, with_nan, clean.double()
    yield torch.tensor([INF]), torch.tensor([INF]), None
    yield torch.tensor([INF]), torch.tensor([-INF]), torch.tensor([INF]).double()
    yield clean, clean.double(), None
    yield clean.double(), clean.double() + 1e-3, None
    yield torch.tensor([True, False]), torch.tensor([True, False]), None
    yield torch.tensor([True, False]), torch.tensor([True, True]), None
    yield torch.tensor([1, 2, 3]), torch.tensor([1, 2, 3]), None
    yield torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]), None
    yield torch.zeros(10), torch.zeros(10), None
    yield torch.zeros(10), torch.full((10,), 1e-9), None
    yield torch.zeros(0), torch.zeros(0), None
    yield torch.ones(3, 1), torch.ones(1, 3), None
    yield torch.ones(2, 2).to_sparse(), torch.ones(2, 2).to_sparse(), None
    yield torch.tensor(1.0), torch.tensor(1.5), torch.tensor(1.0).double()


def check():
    rows = 0
    verdicts = set()
    rules = set()
    for eager, result, reference in tensors():
        for tolerance, cosine, nan, larger, forced in itertools.product(
                (0.0, 1e-4, 1e-3, 2e-2), (False, True), (False, True), (False, True),
                (False, True)):
            theirs = bool(same(eager, result, reference, cos_similarity=cosine, tol=tolerance,
                               equal_nan=nan, use_larger_multiplier_for_smaller_tensor=larger,
                               force_max_multiplier=forced, log_error=lambda *_: None))
            ours = dynbench_runner.compare(
                eager, result, eager if reference is None else reference,
                dict(tol=tolerance, cos_similarity=cosine, equal_nan=nan,
                     use_larger_multiplier_for_smaller_tensor=larger, force_max_multiplier=forced))
            assert ours["same"] == theirs, (eager, result, reference, tolerance, cosine, nan,
                                            larger, forced, ours, theirs)
            rows += 1
            verdicts.add(theirs)
            rules.add(ours["rule"])
    # A table that never fails, or that reaches one rule only, would prove nothing.
    assert verdicts == {True, False}
    missing = {"equal", "tolerance", "rmse", "cosine", "bool", "dtype", "nan",
               "better_than_eager"} - rules
    assert not missing, missing
    print("compared %d rows" % rows)


class ComparisonTable(torch.nn.Module):
    def __init__(self):
        super().__init__()
        check()

    def forward(self, x):
        return x + 1

    def get_example_inputs(self):
        return (torch.zeros(2),)
