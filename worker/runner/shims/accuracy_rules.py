"""Which rules judge one experiment, and the environment's own same() with them."""

import hashlib
import inspect

import torch
import torch._dynamo.utils

from .failures import OptionRefused

# Options of same() that came with a later version: where one is missing, its absence is told.
_IOU = "use_iou_for_bool"


def function_hash():
    """Names the rule: it changes between versions of torch."""
    source = inspect.getsource(torch._dynamo.utils.same)
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def known_options():
    return set(inspect.signature(torch._dynamo.utils.same).parameters)


def same(eager, result, reference, **options):
    """same() of the environment, given only what its version knows."""
    known = known_options()
    return bool(torch._dynamo.utils.same(
        eager, result, reference, **{k: v for k, v in options.items() if k in known}))


def without_a_run(experiment):
    """Why the accuracy test is passed over before anything is loaded; empty when it is not."""
    if experiment["test"] != "accuracy":
        return ""
    if experiment["accuracy"]["large_model"]:
        return "too large for the accuracy test: %s" % experiment["accuracy"]["large_model"]
    if experiment["options"]["quantization"]:
        return "quantized models are not compared with eager (as upstream)"
    return ""


def refuse_several_processes(experiment, what):
    """Rank 0 would wait for the others in a call that they do not make."""
    if experiment["distributed"]:
        raise OptionRefused("%s is not offered with several processes (%s)" % (
            what, experiment["distributed"]))


class Rules:
    """The options of the comparisons of one experiment."""

    def __init__(self, experiment):
        self.experiment, self.of_suite = experiment, experiment["accuracy"]
        self.equal_nan = experiment["precision"] != "float32"
        self.cosine = self.of_suite["cosine"]
        self.notes = []
        if self.of_suite["iou_threshold"] > 0 and _IOU not in known_options():
            self.notes.append("same() of PyTorch %s knows no intersection over union: bool masks "
                              "are compared as integers" % torch.__version__)

    def between_eager_runs(self):
        # ROCm's eager runs are allowed the suite's tolerance, as upstream allows it.
        return self._options(tol=self.of_suite["tolerance"] if torch.version.hip else 0.0,
                             cos_similarity=False)

    def for_compiled(self):
        return self._options(
            tol=self.of_suite["tolerance"], cos_similarity=self.cosine,
            use_larger_multiplier_for_smaller_tensor=self.of_suite[
                "larger_multiplier_for_small_tensors"],
            force_max_multiplier=self._folded_convolution(),
            use_iou_for_bool=self.of_suite["iou_threshold"] > 0 and _IOU in known_options(),
            iou_threshold=self.of_suite["iou_threshold"])

    def _options(self, **options):
        whole = dict(equal_nan=self.equal_nan, use_larger_multiplier_for_smaller_tensor=False,
                     force_max_multiplier=False, use_iou_for_bool=False, iou_threshold=0.0)
        whole.update(options)
        return whole

    def _folded_convolution(self):
        """Frozen bfloat16 convolutions whose constants were folded are far less exact."""
        return (self.experiment["options"]["freezing"]
                and self.experiment["precision"] == "bfloat16"
                and torch._dynamo.utils.counters["inductor"]["binary_folding_conv"] > 0)

    def recorded(self, status):
        """The word for the row, and a note when it is another one than what was found."""
        if self.of_suite["non_deterministic"] and status in ("fail_accuracy",
                                                             "eager_two_runs_differ"):
            return "pass", "%s recorded as pass: the model is not deterministic" % status
        if self.of_suite["skip_check"] and status == "fail_accuracy":
            return "pass_due_to_skip", "fail_accuracy passed over: the check was asked to be skipped"
        return status, None

    def in_force(self, reference):
        """For the row: what the comparison was made with."""
        options = self.for_compiled()
        return {"accuracy.reference": reference, "accuracy.cosine": str(self.cosine),
                "accuracy.equal_nan": str(self.equal_nan),
                "accuracy.force_max_multiplier": str(options["force_max_multiplier"]),
                "accuracy.iou_threshold": str(options["iou_threshold"]
                                              if options["use_iou_for_bool"] else 0),
                "accuracy.compiled_runs": str(self.of_suite["compiled_runs"]),
                "accuracy.iterations": str(self.experiment["iterations"])}
