"""Models that run in milliseconds. Some of them misbehave in one way each."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import torch
import torch._dynamo


@torch._dynamo.register_backend
def raising(graph, inputs):
    raise ValueError("only eager runs")


@torch._dynamo.register_backend
def out_of_memory(graph, inputs):
    raise torch.OutOfMemoryError("out of memory: this compiler says so")


@torch._dynamo.register_backend
def dynamic_only(graph, inputs):
    shapes = [node.meta["example_value"].shape for node in graph.graph.nodes
              if node.op == "placeholder" and hasattr(node.meta["example_value"], "shape")]
    if not any(isinstance(size, torch.SymInt) for shape in shapes for size in shape):
        raise ValueError("no dimension is dynamic: %s" % shapes)
    return graph.forward


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.layer(x))

    def get_example_inputs(self, batch_size=2):
        return (torch.randn(batch_size, 16),)


class TakesMemory(Small):
    """Takes 48 MiB in each call: more than glibc ever keeps by itself (mallopt(3), 32 MiB)."""

    def forward(self, x):
        return super().forward(x) + x.new_ones(12 << 20).sum()


class RaisesInForward(Small):
    def forward(self, x):
        raise ValueError("this model never ran\nand this is its second line")


class WrongWhenCompiled(Small):
    def forward(self, x):
        y = super().forward(x)
        return y + 1 if torch.compiler.is_compiling() else y


class DiffersBetweenRuns(Small):
    def forward(self, x):
        return super().forward(x) + time.monotonic_ns() % 1000


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


class NoBatch(Small):
    def get_example_inputs(self):
        return {"x": torch.tensor(1.0)}

    def forward(self, x):
        return x + 1


class Unsupported(Small):
    def __init__(self):
        raise NotImplementedError("not on this device")


class ChangesThreads(Small):
    """Not the thread count that it was compiled with, from the third eager call of the window on."""

    calls = 0

    def change(self):
        torch.set_num_threads(torch.get_num_threads() + 1)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            ChangesThreads.calls += 1
            if ChangesThreads.calls == 9:
                self.change()
        return super().forward(x)


class ChangesCores(ChangesThreads):
    def change(self):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


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
