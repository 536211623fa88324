"""The accuracy check: upstream's steps, and the environment's own same() as the judge."""

import torch

from . import accuracy_leaves, callables, compiling, failures, memory, reporting, saved_outputs
from .accuracy_rules import Rules, same
from .loading import RandomState, cast_to, clone_inputs, seed


def run_side(experiment, model, inputs, compiled=False):
    """`iterations` steps of `model` (a copy of its own) with an optimizer of its own; what counts is
    what the last one left: the output, or in training loss, gradients, parameters and buffers."""
    step = callables.make_step(experiment, model)
    if compiled:
        step = compiling.compile_step(experiment, step, model, inputs)
    # What is exported ahead of time is called once, as upstream does.
    steps = 1 if compiled and experiment["options"]["ahead_of_time"] else experiment["iterations"]
    for _ in range(steps):
        given = clone_inputs(inputs)
        output = step(model, given)
    if experiment["mode"] == "training":
        return callables.collect_results(model, output, given)
    return output


class AccuracyCheck:
    """One accuracy test; the runner calls the steps in order, each in its phase. A step returns
    None to go on, or {"status", …} when the test is decided."""

    def __init__(self, experiment, loaded, compare):
        """`compare` is the runner's own comparison: distances, and which rule decides."""
        self.experiment, self.loaded, self.compare = experiment, loaded, compare
        self.rules = Rules(experiment)
        self.notes = self.rules.notes
        self.reference, self.reference_word, self.results = None, "not run", []
        saved_outputs.check_folders(experiment)
        self.random_after_load = RandomState(experiment["device"])

    def _eager(self, which):
        seed()
        callables.set_stance("force_eager")
        try:
            return None, run_side(self.experiment, self._copy(), self.loaded.inputs)
        except Exception as error:
            told = failures.describe(error)
            word = "OOM" if told["kind"] == "oom" else "fail"
            return dict(told, status="eager_%s_run_%s" % (which, word)), None
        finally:
            callables.set_stance("default")
            memory.release(self.experiment["device"])

    def _copy(self):
        return callables.copy_of(self.experiment, self.loaded.model)

    def run_eager(self):
        failed, self.eager = self._eager("1st")
        if failed is None:
            failed, again = self._eager("2nd")
        if failed is not None:
            return failed
        if self.rules.of_suite["eager_not_deterministic"]:
            return None
        options = self.rules.between_eager_runs()
        agree, problem = self._same(again, None, options)
        if agree:
            return None
        told = self._explain(again, None, options)
        reason = "two eager runs gave different outputs"
        if problem:
            reason = "the outputs of two eager runs cannot be compared: %s" % problem
        elif told["error"]:
            reason += ": " + told["error"]
        return self._decided("eager_two_runs_differ", dict(told, error=reason))

    def run_reference(self):
        """In float64, from the model and inputs as they were cast; cosine mode when impossible.
        Not seeded, as upstream's is not, which runs it right after loading: a model that draws
        (dropout in training) draws other numbers here than in the runs that are compared, and
        eager's distance from the reference, by which the compiled one is measured, has that in it."""
        self.random_after_load.restore()
        callables.set_stance("force_eager")
        try:
            model, inputs = cast_to(torch.float64, self._copy(), clone_inputs(self.loaded.inputs))
            output = run_side(self.experiment, model, inputs)
            self.reference = torch.utils._pytree.tree_map_only(
                torch.Tensor, lambda t: t.to(torch.float64) if t.is_floating_point() else t, output)
            self.reference_word = "float64"
        except Exception as error:
            told = failures.describe(error)
            if told["kind"] in ("device_lost", "gpu_hang", "no_space"):
                raise
            self.rules.cosine = True
            self.reference_word = "out of memory" if told["kind"] == "oom" else "failed"
            self.notes.append("no float64 reference (%s), compared by cosine: %s" % (
                self.reference_word, told["error"]))
        finally:
            callables.set_stance("default")
            memory.release(self.experiment["device"])

    def run_compiled(self):
        for _ in range(self.rules.of_suite["compiled_runs"]):
            seed()
            reporting.reset()
            try:
                self.results.append(run_side(self.experiment, self._copy(), self.loaded.inputs,
                                             compiled=True))
            except failures.OptionRefused:
                raise
            except Exception as error:
                told = failures.describe(error)
                return dict(told, status="OOM" if told["kind"] == "oom" else "fail_to_run")
        return None

    def _same(self, result, reference, options):
        """(verdict of same(), what it raised)"""
        try:
            return same(self.eager, result, reference, **options), None
        except Exception as error:
            return False, failures.useful_line(error)

    def verify(self):
        if self.rules.of_suite["eager_not_deterministic"]:
            return self._decided("pass_due_to_skip", dict(
                error="", detail="eager is not deterministic: not compared"))
        differs = saved_outputs.compare_and_save(self.experiment, self.results[-1], self.notes)
        if differs:
            return self._decided("not_bitwise_equivalent", dict(error=differs, detail=differs))
        options = self.rules.for_compiled()
        verdicts = [self._same(result, self.reference, options) for result in self.results]
        passes = sum(agree for agree, _ in verdicts)
        status = "pass" if 2 * passes > len(verdicts) else "fail_accuracy"
        if len(verdicts) > 1:
            self.notes.append("%d of %d compiled runs agree with eager" % (passes, len(verdicts)))
        # Of several runs one that was decided like the whole is explained.
        shown = next(i for i, (agree, _) in enumerate(verdicts) if agree == (status == "pass"))
        told = self._explain(self.results[shown], self.reference, options)
        if told.pop("same") != (status == "pass"):
            self.notes.append("dynbench's own comparison disagrees with same()")
        if status == "pass":
            told["error"] = ""
        elif verdicts[shown][1]:
            told["error"] = verdicts[shown][1]
        return self._decided(status, told)

    def _explain(self, result, reference, options):
        """The worst part of one result, by the runner's comparison."""
        training = self.experiment["mode"] == "training"
        names = accuracy_leaves.training_names(len(self.eager)) if training else None
        if options["cos_similarity"]:
            reference = None
        try:
            found = accuracy_leaves.judge(self.compare, self.eager, result, reference, options,
                                          self.notes, names)
        except Exception as error:
            self.notes.append("distances not computed: %s" % failures.useful_line(error))
            return {"same": False, "error": "", "detail": ""}
        return {"same": found.same, "rule": found.rule, "distance": found.distance,
                "multiplier": found.multiplier, "detail": found.detail, "error": found.error}

    def _decided(self, status, told):
        recorded, note = self.rules.recorded(status)
        if note:
            self.notes.append(note)
        told = dict(told, status=recorded, kind="other")
        told.pop("same", None)
        if recorded.startswith("pass"):
            told["error"] = ""
        return told

    def in_force(self):
        return self.rules.in_force(self.reference_word)
