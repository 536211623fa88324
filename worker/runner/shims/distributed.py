"""Several processes of one experiment, on one host. Rank 0 is the attempt's own process, which the
runner drives and which reports; the others are forked from it before anything is loaded, make every
call that rank 0 makes, and end with it.

A performance test is followed call by call: rank 0 sends one byte before each call. An accuracy test
is a fixed sequence, so every rank goes through it by itself. The process group meets in a file of the
attempt's temporary folder: no port is needed.
"""

import contextlib
import ctypes
import functools
import os
import signal
import socket
import sys
import tempfile
import traceback

import torch

_PR_SET_PDEATHSIG = 1
# What the ranks are told: a small letter calls a side, its capital makes it.
_SIDES = {"copy": b"p", "eager": b"e", "compiled": b"c"}
_SMALLEST_WRAPPED = 100_000  # parameters; upstream's size for FSDP


class _Ranks:
    """This process's place among the ranks. `followers` are rank 0's sockets."""

    def __init__(self, experiment, rank, meeting, first_device, followers=()):
        self.experiment, self.rank, self.meeting = experiment, rank, meeting
        self.first_device, self.followers, self.joined = first_device, list(followers), False


_ranks = None


def rank():
    return _ranks.rank if _ranks else 0


def _device_index(experiment, first):
    """The accelerator of this rank; the first one of the slot is rank 0's."""
    count = torch.accelerator.device_count()
    if count < experiment["world_size"]:
        from .failures import CapabilityMissing

        raise CapabilityMissing("accelerators", "%d processes need as many accelerators, there are %d"
                                % (experiment["world_size"], count))
    return (max(first, 0) + rank()) % count


def _follow(experiment, model_file, prepare, commands):
    from . import loading

    loaded = loading.load(experiment, model_file)
    if experiment["test"] == "accuracy":
        _accuracy(experiment, loaded, prepare)
        commands.recv(1)  # until rank 0 has its result
    else:
        _performance(experiment, loaded, commands)


def _accuracy(experiment, loaded, prepare):
    from .accuracy import AccuracyCheck

    def no_comparison(*_args, **_options):
        raise RuntimeError("only rank 0 compares")

    check = AccuracyCheck(experiment, loaded, no_comparison)
    if not prepare:
        if check.run_eager() is not None or check.run_reference() is not None:
            return
    check.run_compiled()


def _performance(experiment, loaded, commands):
    from . import callables, loading

    both = callables.Callables(experiment, loaded)
    made = {}
    makers = {b"P": ("copy", both.eager_on_a_copy), b"E": ("eager", both.eager),
              b"C": ("compiled", both.compiled)}
    letters = {letter: side for side, letter in _SIDES.items()}
    while True:
        command = commands.recv(1)
        if not command:
            return
        if command in makers:
            side, make = makers[command]
            if side == "compiled":
                both.forget()
            made[side] = make()
            continue
        side = letters[command]
        callables.set_stance("default" if side == "compiled" else "force_eager")
        function, arguments, *before_call = made[side]
        for prepare in before_call:
            prepare()
        loading.seed()
        function(*arguments)


def _become_follower(number, experiment, meeting, model_file, prepare, commands, first_device):
    global _ranks
    code = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _ranks = _Ranks(experiment, number, meeting, first_device)
        _follow(experiment, model_file, prepare, commands)
        code = 0
    except BaseException:
        sys.stderr.write("rank %d:\n%s" % (number, traceback.format_exc()))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def start(experiment, model_file, prepare, first_device):
    """Forks ranks 1 … of a distributed experiment; nothing for any other one. To be called when the
    options are in force and no tensor operation has run."""
    global _ranks
    if not experiment["distributed"]:
        return
    # Ranks of one host: their names in a network need not resolve.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    meeting = os.path.join(tempfile.mkdtemp(prefix="ranks-"), "meeting")
    pairs = [socket.socketpair() for _ in range(1, experiment["world_size"])]
    for number, (ours, theirs) in enumerate(pairs, 1):
        if os.fork() == 0:
            # Of all pairs only its own end: the end of rank 0 must be noticed.
            for here, there in pairs:
                here.close()
                if there is not theirs:
                    there.close()
            _become_follower(number, experiment, meeting, model_file, prepare, theirs, first_device)
    for _, theirs in pairs:
        theirs.close()
    _ranks = _Ranks(experiment, 0, meeting, first_device, [ours for ours, _ in pairs])


def join():
    """Enters the process group; waits for every rank. Once per process."""
    if _ranks.joined:
        return
    experiment = _ranks.experiment
    if experiment["device"] == "cpu":
        backend = "gloo"
    else:
        torch.accelerator.set_device_index(_device_index(experiment, _ranks.first_device))
        backend = torch.distributed.get_default_backend_for_device(experiment["device"])
    torch.distributed.init_process_group(
        backend, init_method="file://" + _ranks.meeting, rank=_ranks.rank,
        world_size=experiment["world_size"])
    _ranks.joined = True


def in_force():
    group = torch.distributed
    return {"distributed.backend": group.get_backend(),
            "distributed.world_size": str(group.get_world_size())}


def _tell(letter):
    for number, follower in enumerate(_ranks.followers, 1):
        try:
            follower.send(letter, socket.MSG_NOSIGNAL)
        except OSError as error:
            raise RuntimeError("rank %d has ended; its own error is in the log" % number) from error


def announce(side):
    """Has every other rank make this side; before rank 0 does."""
    if rank() == 0:
        _tell(_SIDES[side].upper())


def told(side, target):
    """`target` (function, arguments, …), so that each of its calls is made by every rank."""
    if rank() != 0:
        return target
    function, *rest = target
    letter = _SIDES[side]

    def call(*args):
        _tell(letter)
        return function(*args)

    return (call, *rest)


def _mixed_precision(experiment):
    from torch.distributed.fsdp import MixedPrecision

    word = experiment["effective_precision"]
    if word not in ("float16", "bfloat16"):
        return None
    dtype = getattr(torch, word)
    return MixedPrecision(param_dtype=dtype, reduce_dtype=dtype, buffer_dtype=dtype)


def _fully_shard(experiment, model):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy

    on_cpu = experiment["device"] == "cpu"
    return FullyShardedDataParallel(
        model, use_orig_params=True, limit_all_gathers=True,
        device_id=torch.device("cpu") if on_cpu else torch.accelerator.current_device_index(),
        mixed_precision=_mixed_precision(experiment),
        auto_wrap_policy=functools.partial(size_based_auto_wrap_policy,
                                           min_num_params=_SMALLEST_WRAPPED))


def wrap(experiment, model):
    """The model as this kind of distribution runs it; changed in place."""
    kind = experiment["distributed"]
    if kind == "ddp":
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(model, find_unused_parameters=True)
    if kind == "fsdp":
        return _fully_shard(experiment, model)
    return model  # multiprocess: every rank runs its own
