"""The test "tolerance": how far the compiled output is from eager on the CPU, without a verdict."""

import math

import torch

from . import callables, reporting
from .accuracy import run_side
from .accuracy_leaves import leaves
from .accuracy_rules import refuse_several_processes
from .loading import clone_inputs, seed


def _to_cpu(tree):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.cpu(), tree)


class ToleranceTest:
    def __init__(self, experiment, loaded):
        refuse_several_processes(experiment, "the test tolerance")
        self.experiment, self.loaded, self.notes = experiment, loaded, []

    def run_eager(self):
        """On the CPU, whatever the device: the precision is the experiment's."""
        seed()
        callables.set_stance("force_eager")
        try:
            model = callables.copy_of(self.experiment, self.loaded.model).cpu()
            self.eager = run_side(dict(self.experiment, device="cpu"), model,
                                  _to_cpu(clone_inputs(self.loaded.inputs)))
        finally:
            callables.set_stance("default")

    def run_compiled(self):
        seed()
        reporting.reset()
        self.compiled = run_side(self.experiment,
                                 callables.copy_of(self.experiment, self.loaded.model),
                                 self.loaded.inputs, compiled=True)

    def verify(self):
        """{metric: value} of |a - b| / (1 + |a|) over every number of the output."""
        distances = [_relative(leaf.eager, leaf.result)
                     for leaf in leaves(self.eager, self.compiled, None, notes=self.notes)
                     if not leaf.mismatch]
        whole = torch.cat(distances) if distances else torch.zeros(0)
        if whole.numel() == 0:
            raise ValueError("the output holds no number to compare")
        figures = {"tolerance_max": whole.max().item(), "tolerance_mean": whole.mean().item(),
                   "tolerance_std": whole.std().item() if whole.numel() > 1 else 0.0}
        for name in [name for name, value in figures.items() if not math.isfinite(value)]:
            self.notes.append("%s is %s" % (name, figures.pop(name)))
        return figures


def _relative(eager, result):
    eager, result = (t.detach().cpu().to_dense() if t.layout != torch.strided else t.detach().cpu()
                     for t in (eager, result))
    if eager.dtype == torch.bool:
        eager, result = eager.to(torch.uint8), result.to(torch.uint8)
    wide = torch.complex128 if eager.is_complex() else torch.float64
    eager, result = eager.to(wide), result.to(wide)
    return ((eager - result).abs() / (1 + eager.abs())).flatten().to(torch.float32)
