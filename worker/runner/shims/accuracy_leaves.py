"""The parts of two outputs that same() compares, each with its path, and the runner's own verdict on
them: which rule decided, and how far the result is from eager."""

import collections
import dataclasses
import functools
import inspect
import math

import numpy
import torch

_SEQUENCES = (list, tuple, collections.deque, torch.nn.ParameterList, torch.Size)
_PLAIN = (str, int, type(None), bool, torch.device)
_BY_ATTRIBUTE = ("MaskedLMOutput", "Seq2SeqLMOutput", "CausalLMOutputWithCrossAttentions",
                 "LongformerMaskedLMOutput", "Instances", "SquashedNormal", "Boxes", "Normal",
                 "TanhTransform", "Foo", "Variable")


@dataclasses.dataclass
class Leaf:
    """Three tensors, or (without them) how the structures differ."""

    path: str
    eager: object = None
    result: object = None
    reference: object = None
    mismatch: str = ""
    within_object: bool = False  # same() came here by an object's attribute or a NumPy array


@functools.cache
def lost_within_objects():
    """The options that the environment's same() does not hand on into an object's attributes, with
    the values that count there instead: until torch 2.13 it lost some of these. Asked of its
    behaviour, since nothing else tells."""
    from torch._dynamo.utils import same  # heavy: not when this module is imported

    known = inspect.signature(same).parameters
    box = type("MaskedLMOutput", (), {"__init__": lambda self, value: vars(self).update(v=value)})
    zeros, ones = torch.zeros(100), torch.ones(100)
    mask = torch.arange(100) > 0
    probes = {  # equal only with the option: 99 of 100 places; five times eager's own error
        "use_iou_for_bool": ((mask | True, mask, mask), {"iou_threshold": 0.9}),
        "force_max_multiplier": ((ones, 5 * ones, zeros.double()), {"tol": 1e-3}),
    }
    lost = {}
    for option, (values, more) in probes.items():
        if option in known and not same(*map(box, values), log_error=lambda *_: None,
                                        **{option: True}, **more):
            lost[option] = known[option].default
    return lost


def training_names(count):
    """Of the parts of collect_results(), in its order."""
    names = ["prediction", "loss", "gradients", "parameters", "buffers"]
    return names + ["input_gradients[%d]" % i for i in range(count - len(names))]


def leaves(eager, result, reference, path="", notes=None, names=None, within_object=False):
    """Yields a Leaf for everything that same() would look at, in its order; strict notes on what it
    lets through go to `notes`."""
    notes = [] if notes is None else notes
    reference = eager if reference is None else reference
    walk = functools.partial(leaves, notes=notes, within_object=within_object)
    if isinstance(eager, _SEQUENCES):
        if not isinstance(result, _SEQUENCES[:3]):
            yield Leaf(path, mismatch=_types(eager, result))
        elif len(eager) != len(result):
            yield Leaf(path, mismatch="%d parts and %d" % (len(eager), len(result)))
        else:
            yield from _sequence(walk, eager, result, reference, path, notes, names)
    elif type(eager).__name__ == "QuestionAnsweringModelOutput":
        yield from walk(eager.loss, result.loss, reference.loss, path + ".loss")
    elif isinstance(eager, dict):
        if not isinstance(result, dict) or set(eager) != set(result):
            yield Leaf(path, mismatch="keys differ" if isinstance(result, dict)
                       else _types(eager, result))
            return
        for key in sorted(eager):
            yield from walk(eager[key], result[key], reference[key], "%s.%s" % (path, key))
    elif isinstance(eager, set):
        if not isinstance(result, set) or eager != result:
            yield Leaf(path, mismatch="sets differ")
    elif isinstance(eager, (torch.Tensor, float)):
        yield _tensors(eager, result, reference, path, notes, within_object)
    elif isinstance(eager, numpy.ndarray):
        if type(eager) is not type(result):
            yield Leaf(path, mismatch=_types(eager, result))
        else:
            yield _tensors(*map(torch.as_tensor, (eager, result, reference)), path, notes, True)
    elif isinstance(eager, _PLAIN):
        if eager != result:
            yield Leaf(path, mismatch="%r and %r" % (eager, result))
    elif isinstance(eager, numpy.generic):
        if type(eager) is not type(result) or eager != result:
            yield Leaf(path, mismatch="%r and %r" % (eager, result))
    elif type(eager).__name__ in _BY_ATTRIBUTE:
        if type(eager) is not type(result):
            yield Leaf(path, mismatch=_types(eager, result))
            return
        for key in vars(eager):
            yield from walk(getattr(eager, key), getattr(result, key), getattr(reference, key),
                            "%s.%s" % (path, key), within_object=True)
    else:
        raise TypeError("outputs of type %s cannot be compared" % type(eager).__name__)


def _types(eager, result):
    return "types %s and %s" % (type(eager).__name__, type(result).__name__)


def _sequence(walk, eager, result, reference, path, notes, names):
    if len(reference) < len(eager):
        notes.append("%s: reference has %d of %d parts" % (path or "output", len(reference),
                                                          len(eager)))
    for i, parts in enumerate(zip(eager, result, reference)):
        yield from walk(*parts, names[i] if names else "%s[%d]" % (path, i))


def _tensors(eager, result, reference, path, notes, within_object):
    eager, result, reference = (t if isinstance(t, torch.Tensor) else torch.tensor(t)
                                for t in (eager, result, reference))
    if eager.shape != result.shape:
        notes.append("%s: shapes differ: %s and %s" % (path or "output", list(eager.shape),
                                                      list(result.shape)))
    return Leaf(path or "output", eager, result, reference, within_object=within_object)


@dataclasses.dataclass
class Verdict:
    """The runner's own comparison of two outputs: whether they are the same, and the leaf that is
    furthest from being so."""

    same: bool = True
    path: str = ""
    rule: str = "no_tensors"
    distance: object = None
    multiplier: float = 0
    detail: str = ""
    error: str = ""


def judge(compare, eager, result, reference, options, notes=None, names=None):
    """Every leaf through `compare` (dynbench_runner.compare); never stops at the first difference."""
    verdict, worst = Verdict(), None
    for leaf in leaves(eager, result, reference, notes=notes, names=names):
        found = _found(compare, leaf, options)
        verdict.same = verdict.same and found["same"]
        distance = found["distance"]
        rank = (not found["same"], math.inf if math.isnan(distance) else distance)
        if worst is None or rank > worst[0]:
            worst = (rank, leaf.path or "output", found)
    if worst is None:
        return verdict
    _, verdict.path, found = worst
    verdict.rule, verdict.multiplier = found["rule"], found["multiplier"]
    # Neither NaN nor infinity has a place in JSON; the detail has them.
    if "mismatch" not in found and math.isfinite(found["distance"]):
        verdict.distance = found["distance"]
    if "mismatch" in found:
        verdict.detail = "%s: %s" % (verdict.path, found["mismatch"])
        verdict.error = "%s differs from eager: %s" % (verdict.path, found["mismatch"])
    else:
        verdict.detail = "%s: %s" % (verdict.path, ", ".join("%s %.6g" % (k, found[k]) for k in (
            "distance", "rmse_result", "rmse_eager", "cosine")))
        verdict.error = "%s differs from eager by up to %.6g (rule %s, tolerance %g)" % (
            verdict.path, found["distance"], found["rule"], options["tol"])
    return verdict


def _found(compare, leaf, options):
    if leaf.mismatch:
        return {"same": False, "rule": "structure", "distance": 0.0, "multiplier": 0,
                "mismatch": leaf.mismatch}
    if leaf.within_object:
        options = {**options, **lost_within_objects()}
    try:
        return compare(leaf.eager, leaf.result, leaf.reference, options)
    except Exception as error:  # same() raises too, and upstream takes that as a difference
        return {"same": False, "rule": "not_comparable", "distance": 0.0, "multiplier": 0,
                "mismatch": str(error).splitlines()[0]}
