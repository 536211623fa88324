"""Models that run in milliseconds. Some of them misbehave in one way each."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.layer(x))

    def get_example_inputs(self, batch_size=2):
        return (torch.randn(batch_size, 16),)


class RaisesInForward(Small):
    def forward(self, x):
        raise ValueError("this model never ran\nand this is its second line")


class RaisesWhenCompiled(Small):
    def forward(self, x):
        if torch.compiler.is_compiling():
            raise ValueError("only eager runs")
        return super().forward(x)


class WrongWhenCompiled(Small):
    def forward(self, x):
        y = super().forward(x)
        return y + 1 if torch.compiler.is_compiling() else y


class DiffersBetweenRuns(Small):
    def forward(self, x):
        return super().forward(x) + time.monotonic_ns() % 1000


class OutOfMemory(Small):
    def forward(self, x):
        if torch.compiler.is_compiling():
            raise torch.OutOfMemoryError("out of memory: this model says so")
        return super().forward(x)


class ExitsQuietly(Small):
    def __init__(self):
        super().__init__()
        os._exit(0)


class ExitsInLoad(Small):
    def __init__(self):
        super().__init__()
        sys.exit(2)


class Segfaults(Small):
    def forward(self, x):
        ctypes.string_at(0)


class KillsItself(Small):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGKILL)


class NoForward(torch.nn.Module):
    def get_example_inputs(self):
        return (torch.randn(2, 16),)


class Unsupported(Small):
    def __init__(self):
        raise NotImplementedError("not on this device")


class ChangesThreads(Small):
    """One more thread than it was compiled with, in the third eager call of the window."""

    calls = 0

    def forward(self, x):
        if not torch.compiler.is_compiling():
            ChangesThreads.calls += 1
            if ChangesThreads.calls == 9:
                torch.set_num_threads(torch.get_num_threads() + 1)
        return super().forward(x)


MODE = []


class MissesGuard(Small):
    """Each eager call changes what the compiled code was specialised on."""

    def forward(self, x):
        if not torch.compiler.is_compiling():
            MODE.append(1)
        return super().forward(x) * (1 + len(MODE))


def leave_processes_behind():
    """A sleeper in a session of its own, and a daemon that was forked twice. Their pids are written
    to the current folder."""
    sleeper = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("daemon.pid", "w") as file:
                file.write(str(os.getpid()))
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        os._exit(0)
    with open("sleeper.pid", "w") as file:
        file.write(str(sleeper.pid))
    while not os.path.exists("daemon.pid") or not open("daemon.pid").read():
        time.sleep(0.01)


class Hangs(Small):
    def forward(self, x):
        leave_processes_behind()
        print("hanging now", flush=True)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(0.05)


class LeavesProcesses(Small):
    def forward(self, x):
        if not os.path.exists("sleeper.pid"):
            leave_processes_behind()
        return super().forward(x)
