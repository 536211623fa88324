"""Speaks worker/runner/PROTOCOL.md to a real dynbench-runner, as the worker does. Only the standard
library. Used by the tests in this folder, and by hand: runner_driver.py --help."""

import argparse
import array
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SHIMS = os.path.join(ROOT, "worker", "runner", "shims")
OPTIONS = dict(backend="inductor", compile_mode="", fullgraph=False, cudagraphs=False,
               freezing=False, cpp_wrapper=False, max_autotune=False, dynamic_shapes=False,
               dynamic_batch_only=False, unbacked_batch_only=False, ahead_of_time="",
               quantization="", inductor_config={}, dynamo_config={}, functorch_config={})
RULES = dict(tolerance=1e-3, cosine=False, larger_multiplier_for_small_tensors=False,
             eager_not_deterministic=False, non_deterministic=False, compiled_runs=1,
             iou_threshold=0, deterministic_algorithms=True, skip_check=False, large_model="")


def experiment(model, test="performance", loader="timm", options=None, rules=None, **fields):
    """The canonical JSON object of one experiment (common/plan/experiment.h)."""
    whole = dict(
        suite=loader, model=model, mode="inference", test=test, configuration="custom",
        options=dict(OPTIONS, **(options or {})), precision="bfloat16", device="cpu",
        environment="default", profile="default", start="cold", weights="random",
        source=dict(loader=loader, name=model, file_sha256="", file_name="", parameters={}),
        effective_precision=fields.get("precision", "bfloat16"), amp_dtype="", batch_size=2,
        optimizer="none", model_mode="eval", activation_checkpointing=False, mark_batch=True,
        layers=0, part="", generation="", prompt_length=0, distributed="", world_size=1,
        optimize_ddp="", requirements=[], engine="native", command=[], deterministic=False,
        batch_invariant=False, save_outputs_to="", compare_outputs_with="", minify=False,
        collect_outputs=False, warm_peak_memory=False, measure_cache_lookup=False, explain=False,
        diagnostics=[], instances=1, target_precision=0.0, precision_budget_ms=0,
        accuracy=dict(RULES, **(rules or {})), loss_divisor=1, repeat=30, iterations=2,
        iterations_per_run=1, threads=0, timeout_ms=600_000, channels_last=False,
        randomize_input=False, set_env={}, partition=0, output="", planned_outcome=None, reason="")
    assert not set(fields) - set(whole), set(fields) - set(whole)
    whole.update(fields)
    return whole


class Channel:
    """One end of a conversation of JSON lines."""

    def __init__(self, end):
        self.socket, self.buffer = end, b""

    def send(self, message, fds=()):
        beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([json.dumps(message).encode() + b"\n"], beside)

    def receive(self, timeout_s=120):
        """The next message; None at end of file; TimeoutError."""
        end = time.monotonic() + timeout_s
        while b"\n" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                raise TimeoutError("no message within %s s" % timeout_s)
            data = self.socket.recv(1 << 16)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def close(self):
        self.socket.close()


class Output:
    """Collects a stream's bytes in a thread until `close`."""

    def __init__(self):
        self.read_end, self.write_end = os.pipe()
        self.data = bytearray()
        self.thread = threading.Thread(target=self._pump, daemon=True)
        self.thread.start()

    def _pump(self):
        while True:
            data = os.read(self.read_end, 1 << 16)
            if not data:
                return
            self.data += data

    def text(self):
        self.thread.join(10)
        if not self.thread.is_alive():
            os.close(self.read_end)
        return self.data.decode(errors="replace")


class Attempt:
    """An attempt that runs; `finish` answers its window and collects everything."""

    def __init__(self, lane, name, pid, control, out, err):
        self.lane, self.name, self.pid, self.control = lane, name, pid, control
        self.out, self.err = out, err
        self.phases, self.spans, self.result, self.exited = [], {}, None, None
        # The phase of each window that was asked for; how long it is kept waiting.
        self.windows, self.window_wait_s = [], 0
        # What is wrong with each of them (common/base/window_flags.h); further ones: nothing.
        self.window_flags = []
        # When it stood still for others, to be told with the next window: [[begin_ns, end_ns]].
        self.frozen = []

    def step(self, timeout_s=300):
        """Handles one message of the child; False at its end of file."""
        message = self.control.receive(timeout_s)
        if message is None:
            return False
        if message["type"] == "phase":
            self.phases.append(message["phase"])
        elif message["type"] == "window":
            self.windows.append(self.phases[-1])
            threading.Event().wait(self.window_wait_s)
            self.control.send({"type": "go", "flags": self.window_flags.pop(0) if self.window_flags else 0,
                               "frozen": self.frozen})
            self.frozen = []
        elif message["type"] == "spans":
            self.spans = message["spans"]
        elif message["type"] == "result":
            self.result = message
        return True

    def until_phase(self, phase, timeout_s=300):
        while phase not in self.phases:
            assert self.step(timeout_s), "ended before phase %s" % phase

    def kill(self, grace_ms=2000):
        self.lane.channel.send({"type": "kill", "attempt": self.name, "grace_ms": grace_ms})

    def wait_exit(self, timeout_s=300):
        message = self.lane.channel.receive(timeout_s)
        assert message["type"] == "exited", message
        self.exited = message
        return message

    def finish(self, timeout_s=300):
        try:
            while self.step(timeout_s):
                pass
        except ConnectionResetError:
            pass
        self.control.close()
        self.wait_exit(timeout_s)
        self.stdout, self.stderr = self.out.text(), self.err.text()
        return self


class Lane:
    def __init__(self, channel, pid):
        self.channel, self.pid, self.attempts = channel, pid, 0
        self.folders = []

    def new_folder(self):
        """A work folder that goes with the lane."""
        self.folders.append(tempfile.mkdtemp(prefix="attempt-"))
        return self.folders[-1]

    def start(self, whole, work_dir=None, cache_dir=None, model_file="", cores=None, **more):
        self.attempts += 1
        name = "%d.%d" % (self.attempts, self.pid)
        here, there = socket.socketpair()
        out, err = Output(), Output()
        work_dir = work_dir or self.new_folder()
        if cache_dir is None:
            cache_dir = os.path.join(work_dir, "cache")
            os.mkdir(cache_dir, 0o700)
        cores = sorted(os.sched_getaffinity(0)) if cores is None else cores
        self.channel.send(
            dict(type="run", attempt=name, experiment=whole, work_dir=work_dir,
                 cache_dir=cache_dir, model_file=model_file, cores=cores,
                 **dict(dict(prepare=False, memory_limit_bytes=0), **more)),
            [there.fileno(), out.write_end, err.write_end])
        there.close()
        os.close(out.write_end)
        os.close(err.write_end)
        message = self.channel.receive()
        assert message["type"] == "spawned", message
        return Attempt(self, name, message["pid"], Channel(here), out, err)

    def run(self, whole, **more):
        return self.start(whole, **more).finish()

    def close(self):
        self.channel.close()

    def remove_folders(self):
        """Once its process and all below it are gone."""
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


class Runner:
    """A zygote. Leaves nothing behind on close()."""

    def __init__(self, program, python, environment=None, shims=SHIMS):
        here, there = socket.socketpair()
        self.channel, self.lanes = Channel(here), []
        # What imports leave in it (torch.distributed: a folder) is nobody's to remove otherwise.
        self.folder = tempfile.mkdtemp(prefix="zygote-")
        self.process = subprocess.Popen(
            [program, "--python", python, "--shims", shims, "--fd", str(there.fileno())],
            pass_fds=[there.fileno()],
            env=dict(os.environ if environment is None else environment, TMPDIR=self.folder))
        there.close()
        self.ready = self.channel.receive(300)

    def lane(self):
        here, there = socket.socketpair()
        self.channel.send({"type": "lane", "lane": len(self.lanes)}, [there.fileno()])
        there.close()
        message = self.channel.receive()
        assert message["type"] == "lane_started", message
        self.lanes.append(Lane(Channel(here), message["pid"]))
        return self.lanes[-1]

    def close(self):
        for lane in self.lanes:
            lane.close()
        self.channel.close()
        status = self.process.wait(30)
        for lane in self.lanes:
            lane.remove_folders()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status


def main():
    parser = argparse.ArgumentParser(description="Runs one experiment and prints its result.")
    parser.add_argument("runner")
    parser.add_argument("python")
    parser.add_argument("model", help="TIMM name, or FILE.py:CLASS")
    parser.add_argument("--test", default="performance")
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--precision", default="bfloat16")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--start", default="cold")
    parser.add_argument("--cache-dir", help="kept, instead of a new empty one")
    parser.add_argument("--samples", action="store_true", help="print all samples too")
    asked = parser.parse_args()
    file, _, name = asked.model.rpartition(":")
    runner = Runner(asked.runner, asked.python)
    print(json.dumps(runner.ready), file=sys.stderr)
    if asked.cache_dir:
        os.makedirs(asked.cache_dir, 0o700, exist_ok=True)
    attempt = runner.lane().run(
        experiment(name, asked.test, "path" if file else "timm", batch_size=asked.batch_size,
                   precision=asked.precision, device=asked.device, repeat=asked.repeat,
                   start=asked.start),
        model_file=os.path.abspath(file) if file else "", cache_dir=asked.cache_dir)
    runner.close()
    sys.stderr.write(attempt.stdout + attempt.stderr)
    result = attempt.result or {}
    if not asked.samples:
        result.pop("eager_ns", None), result.pop("compiled_ns", None)
    print(json.dumps(dict(result=result, spans=attempt.spans, exited=attempt.exited), indent=1))


if __name__ == "__main__":
    main()
