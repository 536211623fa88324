"""Whether a sample's compiled output depends, in any bit, on the size of the batch it is part of."""

import math

import torch
import torch._dynamo
import torch._dynamo.utils

from . import callables, compiling, failures
from .accuracy_leaves import leaves
from .accuracy_rules import refuse_several_processes
from .loading import clone_inputs, seed, tensors_of
from .saved_outputs import same_bits


def sizes_below(batch_size):
    """N/2, N/4 … 1"""
    sizes = []
    while batch_size > 1:
        batch_size //= 2
        sizes.append(batch_size)
    return sizes


def _has_batch(tensor, batch_size):
    return tensor.dim() > 0 and tensor.shape[0] == batch_size


class BatchInvariance:
    """Forward only, in eval mode: the compiled output of the whole batch, then of its first N/2, N/4
    … 1 samples, each compiled for itself."""

    def __init__(self, experiment, loaded, compare):
        refuse_several_processes(experiment, "batch_invariant")
        self.experiment, self.loaded, self.compare = dict(experiment, mode="inference"), loaded, compare
        self.batch_size, self.notes = loaded.batch_size, []

    def why_not(self):
        rules = self.experiment["accuracy"]
        if rules["eager_not_deterministic"] or rules["non_deterministic"]:
            return "the model is not deterministic"
        if self.batch_size < 2:
            return "batch size %d cannot be cut" % self.batch_size
        if not any(_has_batch(t, self.batch_size) for t in tensors_of(self.loaded.inputs)):
            return "no input has the batch as its first dimension"
        return ""

    def _first(self, inputs, size):
        return torch.utils._pytree.tree_map_only(
            torch.Tensor,
            lambda t: t[:size].contiguous() if _has_batch(t, self.batch_size) else t, inputs)

    def _output(self, size):
        seed()
        torch._dynamo.reset()  # or a dynamic graph would take the place of this size's own
        model = callables.copy_of(self.experiment, self.loaded.model).eval()
        inputs = clone_inputs(self._first(self.loaded.inputs, size))
        step = compiling.compile_step(self.experiment, callables.make_step(self.experiment, model),
                                      model, inputs)
        with torch.no_grad():
            return step(model, inputs)

    def run(self):
        """None after a pass; otherwise {"status", …}."""
        reason = self.why_not()
        if reason:
            return {"status": "pass_due_to_skip", "error": "", "kind": "other",
                    "detail": "batch invariance not tested: " + reason}
        torch._dynamo.utils.counters.clear()
        whole = None
        for size in [self.batch_size, *sizes_below(self.batch_size)]:
            try:
                output = self._output(size)
            except failures.OptionRefused:
                raise
            except Exception as error:
                return dict(failures.describe(error), status="fail_to_run_at_batch_%d" % size)
            if whole is None:
                whole = output
                continue
            differs = self._difference(whole, output, size)
            if differs:
                return dict(differs, status="fail_batch_invariance_at_%d" % size, kind="other")
        return {"status": "pass", "error": "", "detail": "", "kind": "other", "rule": "bitwise",
                "distance": 0.0}

    def _difference(self, whole, output, size):
        """Tensors whose first dimension is the batch, against the first rows of the whole batch's."""
        everyone, few = (list(leaves(o, o, None)) for o in (whole, output))
        if [leaf.path for leaf in everyone] != [leaf.path for leaf in few]:
            reason = "the structure of the output at batch %d is another one" % size
            return {"error": reason, "detail": reason, "rule": "structure"}
        for all_rows, rows in zip(everyone, few):
            if not all_rows.mismatch and _has_batch(all_rows.eager, self.batch_size):
                expected = all_rows.eager[:size]
                if not same_bits(expected, rows.eager):
                    return self._told(all_rows.path, expected, rows.eager, size)
        return None

    def _told(self, path, expected, found, size):
        if expected.shape != found.shape:
            reason = "%s: shape %s at batch %d, expected %s" % (path, list(found.shape), size,
                                                               list(expected.shape))
            return {"error": reason, "detail": reason, "rule": "structure"}
        measured = self.compare(expected, found, expected, {"tol": 0.0})
        reason = "%s differs by up to %.6g between batch %d and batch %d" % (
            path, measured["distance"], self.batch_size, size)
        distance = measured["distance"] if math.isfinite(measured["distance"]) else None
        return {"error": reason, "detail": reason, "rule": "bitwise", "distance": distance}
