"""Models of the integration tests: each small enough to need no compiler's patience, each class one
behaviour of a child process. A copy of this file travels with the job; @NOTES@ is where it writes
what it saw."""

import json
import os
import signal
import subprocess
import sys
import time

import torch

NOTES = "@NOTES@"


def note(event, **fields):
    """One line, appended in one write, so that processes do not mix theirs."""
    line = json.dumps({"event": event, "pid": os.getpid(), **fields}) + "\n"
    descriptor = os.open(NOTES, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def hang():
    while True:
        time.sleep(3600)


class Good(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        note("built", model=type(self).__name__)

    def forward(self, x):
        return torch.relu(self.linear(x))

    def get_example_inputs(self):
        return (torch.randn(2, 8),)


class Good2(Good):
    pass


class Good3(Good):
    pass


class Good4(Good):
    pass


class Good5(Good):
    pass


class WrongWhenCompiled(Good):
    def forward(self, x):
        y = super().forward(x)
        return y + 1 if torch.compiler.is_compiling() else y


# ---- ways to die while loading ----
class Segfault(Good):
    def __init__(self):
        super().__init__()
        os.kill(os.getpid(), signal.SIGSEGV)


class KilledOutside(Good):
    def __init__(self):
        super().__init__()
        os.kill(os.getpid(), signal.SIGKILL)


class ExitsZero(Good):
    def __init__(self):
        super().__init__()
        os._exit(0)


class ExitsTwo(Good):
    def __init__(self):
        super().__init__()
        sys.exit(2)


class RaisesInLoad(Good):
    def __init__(self):
        super().__init__()
        raise ValueError("a weight file is missing")


class NotForThisDevice(Good):
    def __init__(self):
        super().__init__()
        raise NotImplementedError("needs another device")


# ---- and later ----
class RaisesInForward(Good):
    def forward(self, x):
        raise ValueError("shapes do not fit")


class SegfaultInForward(Good):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGSEGV)


class Hangs(Good):
    """Forward never returns; TERM is ignored."""

    def forward(self, x):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note("hangs")
        hang()


class Slow(Good):
    """Takes two seconds to load, so that a test can act while it runs."""

    def __init__(self):
        super().__init__()
        note("slow")
        end = time.monotonic() + 2
        while time.monotonic() < end:
            time.sleep(0.01)


class Slow2(Slow):
    pass


class Slow3(Slow):
    pass


class Slow4(Slow):
    pass


# ---- descendants ----
class Daemons(Good):
    """Leaves a child in a session of its own and a double-forked daemon that holds stdout, then hangs."""

    def __init__(self):
        super().__init__()
        sleeper = subprocess.Popen(["setsid", "sleep", "1000"])
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                note("held daemon")
                hang()
            os._exit(0)
        note("daemons", sleeper=sleeper.pid)
        hang()


class LeavesDaemon(Good):
    """Works, but leaves a grandchild behind that keeps stdout open."""

    def __init__(self):
        super().__init__()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                note("daemon")
                hang()
            os._exit(0)
        while not os.path.exists(NOTES) or '"daemon"' not in open(NOTES).read():
            time.sleep(0.01)


# ---- lanes ----
class Busy(Good):
    """Works for ever while it is loaded, with a child in a session of its own that does too."""

    def __init__(self):
        super().__init__()
        spin = [sys.executable, "-S", "-c", "while True: pass"]
        child = subprocess.Popen(spin, start_new_session=True)
        note("busy", child=child.pid, lane=os.getppid())
        while True:
            pass


_calls = 0


@torch.compiler.disable
def _hold_in_the_window():
    """A call within the window: the warm-ups of both sides are 10 to 12 (Dynamo may run one twice)."""
    global _calls
    _calls += 1
    if _calls == 13:
        note("measuring", lane=os.getppid())
    while _calls >= 13 and not os.path.exists(NOTES + ".go"):
        time.sleep(0.01)


class Holder(Good):
    """Keeps the window until the file beside the notes is there. Loads when Busy is."""

    def __init__(self):
        super().__init__()
        while not os.path.exists(NOTES) or '"busy"' not in open(NOTES).read():
            time.sleep(0.01)

    def forward(self, x):
        _hold_in_the_window()
        return super().forward(x)


class SecondIsBusy(Good):
    """The first process of it is a good one; every further one works for ever while it is loaded."""

    def __init__(self):
        super().__init__()
        later = os.path.exists(NOTES) and '"first"' in open(NOTES).read()
        note("second" if later else "first", lane=os.getppid())
        while later:
            pass


# ---- what a child sees ----
class Looks(Good):
    """Notes what is in force and what the cache folders held when it was loaded."""

    def __init__(self):
        super().__init__()
        import torch._inductor.config as inductor

        folders = [os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""), os.environ.get("TRITON_CACHE_DIR", "")]
        files = sum(len(names) for folder in folders if folder for _, _, names in os.walk(folder))
        note("looked", model=type(self).__name__, cwd=os.getcwd(), cache_files=files, cache_folders=[os.path.realpath(f) for f in folders],
             freezing=inductor.freezing, epilogue_fusion=inductor.epilogue_fusion,
             environment={k: v for k, v in os.environ.items() if k.startswith(("TORCH", "OMP", "DYNBENCH"))},
             modes=[os.stat(f).st_mode & 0o777 for f in folders if f and os.path.isdir(f)])


class LooksToo(Looks):
    pass


class Chdir(Good):
    """Changes its current folder, as some models do, and writes there."""

    def __init__(self):
        super().__init__()
        os.chdir("/")
        note("chdir")


class Floods(Good):
    """Writes 64 MiB to stdout, with bytes that are no UTF-8, and one line at the end."""

    def __init__(self):
        super().__init__()
        print("first line of the flood", flush=True)
        block = b"\xff\xfe flood " * 8192
        for _ in range(64 * 1024 * 1024 // len(block)):
            os.write(1, block)
        print("last line of the flood", flush=True)


class Allocates(Good):
    """Raises what CPU allocators raise when memory is out."""

    def forward(self, x):
        return torch.empty(1 << 60, dtype=torch.uint8)
