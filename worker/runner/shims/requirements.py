"""What an experiment needs of its environment: "torch>=2.10" and the like."""

import importlib.metadata
import operator
import re

from .failures import CapabilityMissing

_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
            ">": operator.gt, "<": operator.lt}
_FORM = re.compile(r"\s*([A-Za-z0-9_.-]+?)\s*(?:(>=|<=|==|!=|>|<)\s*([0-9][^\s]*))?\s*$")


def _numbers(version, count=4):
    """The release's numbers: "2.10.1+cpu" is (2, 10, 1, 0). What follows them does not count."""
    release = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    numbers = [int(n) for n in release.group().split(".")] if release else []
    return tuple((numbers + [0] * count)[:count])


def unmet(requirement):
    """None, or what is needed and what was found."""
    form = _FORM.match(requirement)
    if form is None:
        return "%r is no requirement (NAME or NAME>=VERSION)" % requirement
    name, comparison, wanted = form.groups()
    try:
        found = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "needs %s, which is not installed" % requirement.strip()
    if comparison and not _COMPARE[comparison](_numbers(found), _numbers(wanted)):
        return "needs %s, found %s %s" % (requirement.strip(), name, found)
    return None


def check(experiment):
    """CapabilityMissing names every requirement that is not met."""
    missing = [(name, text) for name in experiment["requirements"] for text in [unmet(name)] if text]
    if missing:
        raise CapabilityMissing(", ".join(name for name, _ in missing), "environment %s %s" % (
            experiment["environment"], "; ".join(text for _, text in missing)))
