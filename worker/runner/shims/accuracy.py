"""The accuracy check: upstream's steps, and the environment's own same() as the judge."""

import copy
import hashlib
import inspect
import os

import torch
import torch._dynamo
import torch._dynamo.utils

from . import callables, compiling, failures, reporting
from .loading import SEED, cast_to, clone_inputs, seed

_torch_manual_seed = torch.manual_seed


def _always_the_same_seed(*_args, **_kwargs):
    return _torch_manual_seed(SEED)


def make_deterministic():
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    if hasattr(torch.backends.mkldnn, "deterministic"):
        torch.backends.mkldnn.deterministic = True
    reduced = getattr(torch.backends.cuda, "allow_fp16_bf16_reduction_math_sdp", None)
    if reduced is not None:
        reduced(False)
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.manual_seed = _always_the_same_seed


def function_hash():
    """Names the rule: it changes between versions of torch."""
    source = inspect.getsource(torch._dynamo.utils.same)
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def same(*args, **options):
    """same() of the environment, given only what its version knows."""
    function = torch._dynamo.utils.same
    known = inspect.signature(function).parameters
    return function(*args, **{k: v for k, v in options.items() if k in known})


_BY_ATTRIBUTE = ("MaskedLMOutput", "Seq2SeqLMOutput", "CausalLMOutputWithCrossAttentions",
                 "LongformerMaskedLMOutput")


def leaves(eager, result, reference, path="", notes=None):
    """Yields (path, eager, result, reference) for every tensor that same() would compare; strict
    notes on what it lets through go to `notes`."""
    reference = eager if reference is None else reference
    if isinstance(eager, (list, tuple)):
        if len(reference) < len(eager):
            notes.append("%s: reference has %d of %d parts" % (path or "output", len(reference),
                                                              len(eager)))
        for i, parts in enumerate(zip(eager, result, reference)):
            yield from leaves(*parts, "%s[%d]" % (path, i), notes)
    elif isinstance(eager, dict) and type(eager).__name__ not in _BY_ATTRIBUTE:
        for key in sorted(eager):
            yield from leaves(eager[key], result[key], reference[key], "%s.%s" % (path, key), notes)
    elif type(eager).__name__ in _BY_ATTRIBUTE:
        for key in eager.keys():
            yield from leaves(getattr(eager, key), getattr(result, key), getattr(reference, key),
                              "%s.%s" % (path, key), notes)
    elif isinstance(eager, torch.Tensor) and isinstance(result, torch.Tensor):
        if eager.shape != result.shape:
            notes.append("%s: shapes differ: %s and %s" % (path or "output", list(eager.shape),
                                                          list(result.shape)))
        yield path or "output", eager, result, reference


class AccuracyCheck:
    """One accuracy test; the runner calls the steps in order, each in its phase. A step returns
    None to go on, or {"status", …} when the test is decided."""

    def __init__(self, experiment, loaded):
        self.experiment, self.loaded, self.rules = experiment, loaded, experiment["accuracy"]
        self.step = callables.make_step(experiment)
        self.equal_nan = experiment["precision"] != "float32"
        self.cosine, self.reference, self.results = self.rules["cosine"], None, []
        self.notes = []

    def _run(self, step, model, inputs):
        """`iterations` steps on clones of the inputs; the last output counts."""
        for _ in range(self.experiment["iterations"]):
            output = step(model, clone_inputs(inputs))
        return output

    def _eager(self, which):
        seed()
        callables.set_stance("force_eager")
        try:
            return None, self._run(self.step, copy.deepcopy(self.loaded.model), self.loaded.inputs)
        except Exception as error:
            told = failures.describe(error)
            word = "OOM" if told["kind"] == "oom" else "fail"
            return dict(told, status="eager_%s_run_%s" % (which, word)), None
        finally:
            callables.set_stance("default")

    def run_eager(self):
        failed, self.eager = self._eager("1st")
        if failed is None:
            failed, again = self._eager("2nd")
        if failed is not None:
            return failed
        if self.rules["eager_not_deterministic"]:
            return None
        # ROCm's eager runs are allowed the suite's tolerance, as upstream allows it.
        tolerance = self.rules["tolerance"] if torch.version.hip else 0
        reason = "two eager runs gave different outputs"
        try:
            agree = same(self.eager, again, fp64_ref=None, cos_similarity=False, tol=tolerance,
                         equal_nan=self.equal_nan)
        except Exception as error:
            agree, reason = False, "the outputs of two eager runs cannot be compared: %s" % error
        return None if agree else self._decided("eager_two_runs_differ", reason)

    def run_reference(self):
        """In float64, from the model and inputs as they were cast; cosine mode when impossible."""
        seed()
        callables.set_stance("force_eager")
        try:
            model, inputs = cast_to(torch.float64, copy.deepcopy(self.loaded.model),
                                    clone_inputs(self.loaded.inputs))
            output = self._run(self.step, model, inputs)
            self.reference = torch.utils._pytree.tree_map_only(
                torch.Tensor, lambda t: t.to(torch.float64) if t.is_floating_point() else t, output)
        except Exception as error:
            self.cosine = True
            self.notes.append("no float64 reference, compared by cosine: %s"
                              % failures.useful_line(error))
        finally:
            callables.set_stance("default")

    def run_compiled(self):
        for _ in range(self.rules["compiled_runs"]):
            seed()
            reporting.reset()
            try:
                model = copy.deepcopy(self.loaded.model)
                compiled = compiling.compile_step(self.experiment, self.step, model,
                                                  self.loaded.inputs)
                self.results.append(self._run(compiled, model, self.loaded.inputs))
            except failures.OptionRefused:
                raise
            except Exception as error:
                told = failures.describe(error)
                return dict(told, status="OOM" if told["kind"] == "oom" else "fail_to_run")
        return None

    def _max_multiplier(self):
        folded = torch._dynamo.utils.counters["inductor"]["binary_folding_conv"] > 0
        return (self.experiment["options"]["freezing"] and folded
                and self.experiment["precision"] == "bfloat16")

    def _same(self, result, options):
        try:
            return bool(same(self.eager, result, self.reference, **options)), None
        except Exception as error:
            return False, failures.useful_line(error)

    def verify(self, compare):
        """`compare` is the runner's own comparison: distances, and which rule decided."""
        if self.rules["eager_not_deterministic"]:
            return self._decided("pass_due_to_skip", "eager is not deterministic: not compared")
        larger = self.rules["larger_multiplier_for_small_tensors"]
        options = dict(cos_similarity=self.cosine, tol=self.rules["tolerance"],
                       equal_nan=self.equal_nan, use_larger_multiplier_for_smaller_tensor=larger,
                       force_max_multiplier=self._max_multiplier())
        verdicts = [self._same(result, options) for result in self.results]
        passes = sum(agree for agree, _ in verdicts)
        status = "pass" if 2 * passes > len(verdicts) else "fail_accuracy"
        told = self._explain(compare, options)
        error = next((e for agree, e in verdicts if e), "") or told.pop("error", "")
        if status == "fail_accuracy" and self.rules["non_deterministic"]:
            self.notes.append("fail_accuracy recorded as pass: the model is not deterministic")
            status = "pass"
        if (status == "pass") != told.pop("same") and len(verdicts) == 1:
            self.notes.append("dynbench's own comparison disagrees with same()")
        return dict(told, status=status, error=error if status == "fail_accuracy" else "")

    def _explain(self, compare, options):
        """The worst tensor of the last result, by the runner's comparison."""
        worst, all_same = None, True
        try:
            for path, *tensors in leaves(self.eager, self.results[-1], self.reference,
                                         notes=self.notes):
                found = compare(*tensors, options["tol"], self.cosine, self.equal_nan,
                                options["use_larger_multiplier_for_smaller_tensor"],
                                options["force_max_multiplier"])
                all_same = all_same and found["same"]
                rank = (not found["same"], found["distance"])
                if worst is None or rank > worst[0]:
                    worst = (rank, path, found)
        except Exception as error:
            self.notes.append("distances not computed: %s" % failures.useful_line(error))
        if worst is None:
            return {"same": all_same, "rule": "no_tensors"}
        _, path, found = worst
        return {"same": all_same, "rule": found["rule"], "distance": found["distance"],
                "multiplier": found["multiplier"],
                "detail": "%s: %s" % (path, ", ".join("%s %.6g" % (k, found[k]) for k in (
                    "distance", "rmse_result", "rmse_eager", "cosine"))),
                "error": "%s differs from eager by up to %.6g (rule %s, tolerance %g)" % (
                    path, found["distance"], found["rule"], options["tol"])}

    def _decided(self, status, reason):
        if status == "eager_two_runs_differ" and self.rules["non_deterministic"]:
            self.notes.append("eager_two_runs_differ recorded as pass: the model is not "
                              "deterministic")
            status = "pass"
        return {"status": status, "error": "" if status.startswith("pass") else reason,
                "detail": reason, "kind": "other"}
