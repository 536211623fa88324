"""Exceptions as data: what kind, the one useful line, the traceback."""

import errno
import traceback

DETAIL_CAP = 64 * 1024


class OptionRefused(Exception):
    """An option that would have no effect, or that this build does not know."""


class CapabilityMissing(OptionRefused):
    """What was asked for is no fault of anybody, but this environment cannot do it: `capability` is
    the word of the environment's inventory. The experiment is skipped with the text as reason."""

    def __init__(self, capability, text):
        super().__init__("%s (capability %s is missing)" % (text, capability))
        self.capability = capability


class WeightsUnavailable(Exception):
    """Pretrained weights that were asked for and could not be fetched."""


class ValidationFailed(RuntimeError):
    """The model was built, and one eager step of it raised (the cause)."""


_OOM_WORDS = ("out of memory", "can't allocate memory", "cannot allocate memory",
              "not enough memory")
_LOST_WORDS = ("no cuda gpus are available", "device unavailable", "uncorrectable ecc",
               "device is lost", "gpu is lost", "driver shutting down",
               "cuda driver initialization failed")
# cudaErrorLaunchTimeout (702) and HIP's error of that number: the driver's watchdog ended a kernel that
# hung, and the context with it. "unspecified launch failure" (719) is a kernel's own fault and is none.
_HANG_WORDS = ("the launch timed out and was terminated",)


def is_out_of_memory(exception):
    import torch

    classes = tuple(c for c in (getattr(torch, "OutOfMemoryError", None),
                                getattr(torch.cuda, "OutOfMemoryError", None), MemoryError) if c)
    if isinstance(exception, classes):
        return True
    text = str(exception).lower()
    return isinstance(exception, RuntimeError) and any(word in text for word in _OOM_WORDS)


def is_guard_miss(exception):
    text = str(exception)
    return "fail_on_recompile" in text or type(exception).__name__ == "RecompileError"


def _backend_lacks_a_library(exception):
    """A backend of torch.compile that is registered, but whose own library is not installed."""
    return (type(exception).__name__ == "BackendCompilerFailed"
            and isinstance(getattr(exception, "inner_exception", None), ImportError))


def kind_of(exception):
    """One of: capability, option, download, no_space, oom, device_lost, gpu_hang,
    guard_miss, not_implemented, other."""
    chain, current = [], exception
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    if isinstance(exception, CapabilityMissing) or _backend_lacks_a_library(exception):
        return "capability"
    if isinstance(exception, OptionRefused):
        return "option"
    if isinstance(exception, WeightsUnavailable):
        return "download"
    if any(isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT) for e in chain):
        return "no_space"
    if any(is_out_of_memory(e) for e in chain):
        return "oom"
    if any(word in str(e).lower() for e in chain for word in _LOST_WORDS):
        return "device_lost"
    if any(word in str(e).lower() for e in chain for word in _HANG_WORDS):
        return "gpu_hang"
    if any(is_guard_miss(e) for e in chain):
        return "guard_miss"
    if isinstance(exception, NotImplementedError):
        return "not_implemented"
    return "other"


def useful_line(exception):
    """The line that says something: class and message. Of a long message its first line, and the
    one after it when the first only announces it."""
    if isinstance(exception, ValidationFailed) and exception.__cause__ is not None:
        return useful_line(exception.__cause__)
    if isinstance(exception, CapabilityMissing):
        return str(exception)
    text = traceback.format_exception_only(type(exception), exception)
    lines = [line.strip() for line in "".join(text).splitlines() if line.strip()]
    if isinstance(exception, SyntaxError):
        return lines[-1][:500]
    if len(lines) > 1 and lines[0].endswith(":"):
        return (lines[0] + " " + lines[1])[:500]
    return lines[0][:500] if lines else type(exception).__name__


def describe(exception):
    """{"kind", "error", "detail"}; the detail keeps its end, where the cause is, when too long."""
    detail = "".join(traceback.format_exception(type(exception), exception,
                                                exception.__traceback__))
    if len(detail) > DETAIL_CAP:
        cut = len(detail) - DETAIL_CAP + 100
        detail = "[%d characters left out]\n%s" % (cut, detail[cut:])
    # A lone surrogate (a file name that is no UTF-8, say) has no place in UTF-8 or JSON.
    error, detail = (text.encode("utf-8", "backslashreplace").decode("utf-8")
                     for text in (useful_line(exception), detail))
    return {"kind": kind_of(exception), "error": error, "detail": detail}
