"""The test "batch_size": the largest batch, of the sizes that upstream tries, that runs eagerly."""

import resource

from . import callables, failures, loading, memory
from .accuracy_rules import refuse_several_processes

FIRST = 1024


def next_size(size):
    """Half, rounded down to an even number; below that one less; 0 is the end."""
    half = size * 0.5
    if half > 2:
        return int(half // 2 * 2)
    return max(0, size - 1)


def _limit_memory():
    """On a host without a limit a batch that is too large would not raise: the kernel would kill the
    process. It may have four fifths of what is free."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft != resource.RLIM_INFINITY:
        return
    with open("/proc/meminfo", encoding="ascii") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    with open("/proc/self/status", encoding="ascii") as file:
        used = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + free * 4 // 5, hard))


def _runs(experiment, model_file, size):
    """The loaded model when one eager step of it runs at this size, else what was raised."""
    try:
        loaded = loading.load(dict(experiment, batch_size=size), model_file)
        loading.seed()
        callables.make_step(experiment, loaded.model)(loaded.model, loaded.inputs)
        return loaded, None
    except RuntimeError as error:
        told = failures.describe(error)
        if told["kind"] not in ("oom", "other"):
            raise
        return None, told


def search(experiment, model_file):
    """{"batch_size", "weights", "notes"}, or {"status", …} when no size runs."""
    refuse_several_processes(experiment, "the test batch_size")
    if experiment["device"] == "cpu":
        _limit_memory()
    size, notes, told = FIRST, [], None
    while size >= 1:
        loaded, told = _runs(experiment, model_file, size)
        if loaded is not None:
            if loaded.batch_size != size:
                notes.append("the model's own batch size is %d" % loaded.batch_size)
            return {"batch_size": loaded.batch_size, "weights": loaded.weights,
                    "notes": notes + loaded.notes}
        notes.append("batch size %d: %s" % (size, told["error"]))
        memory.release(experiment["device"])
        size = next_size(size)
    word = "OOM" if told["kind"] == "oom" else "fail"
    return dict(told, status="eager_1st_run_" + word, notes=notes)
