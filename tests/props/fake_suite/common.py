"""Stand-in for upstream's scripts: takes their flags, imports no torch, and each model does what the
file behaviours.txt beside it says, one `model: behaviour` a line. What is written and printed has
upstream's form: the CSV, the console line, tracebacks through functions of upstream's names.

The behaviours are the functions `do_…` below (`_` for `-`); parameters stand in parentheses. A model
that the file does not name is `ok`. Without --only this is upstream's parent: one child a model.
"""

import argparse
import csv
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import traceback

HERE = pathlib.Path(__file__).resolve().parent
COUNTERS = ["calls_captured", "unique_graphs", "fallbacks_to_eager", "graph_breaks", "unique_graph_breaks",
            "autograd_captures", "autograd_compiles", "cudagraph_skips"]
PERFORMANCE = ["speedup", "abs_latency", "compilation_latency", "compression_ratio", "eager_peak_mem",
               "dynamo_peak_mem", *COUNTERS]
ACCURACY = ["accuracy", *COUNTERS, "compilation_latency"]
DOWNLOAD_TRIES = 6  # upstream's


class OutOfMemoryError(RuntimeError):
    """Its name is what a log of the real one shows."""


def pause(seconds=None):
    threading.Event().wait(seconds)


def behaviours():
    found = {}
    file = HERE / "behaviours.txt"
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        model, _, behaviour = line.partition(":")
        if behaviour.strip() and not line.startswith("#"):
            found[model.strip()] = behaviour.strip()
    return found


def parse(argv):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    test = parser.add_mutually_exclusive_group(required=True)
    for flag in ("--accuracy", "--performance", "--tolerance"):
        test.add_argument(flag, action="store_true")
    mode = parser.add_mutually_exclusive_group(required=True)
    for flag in ("--training", "--inference"):
        mode.add_argument(flag, action="store_true")
    precision = parser.add_mutually_exclusive_group()
    for flag in ("--float32", "--float16", "--bfloat16", "--amp"):
        precision.add_argument(flag, action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--output")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--timeout", type=int, default=2000)
    parser.add_argument("--device", "--devices", "-d", action="append")
    args, args.others = parser.parse_known_args(argv)
    return args


class Run:
    """One child: its arguments, and the file that it writes."""

    def __init__(self, args):
        self.args = args
        self.model = args.only
        self.device = (args.device or ["cpu"])[0]

    @property
    def columns(self):
        return ACCURACY if self.args.accuracy else PERFORMANCE

    def write(self, columns, cells):
        """As upstream: the file is read and rewritten, a longer header replaces the first line, and
        short rows are padded."""
        header = ["dev", "name", "batch_size", *columns]
        rows = []
        if os.path.exists(self.args.output):
            with open(self.args.output, newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file)) or [header]
            if len(rows[0]) < len(header):
                rows[0] = header
        else:
            rows = [header]
        rows.append([f"{cell:.6f}" if isinstance(cell, float) else cell for cell in cells])
        with open(self.args.output, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            for row in rows:
                writer.writerow([*row, *["0"] * (len(rows[0]) - len(row))])

    def values(self, latency=1.5, noise=0.0, drift=0.0, status="pass"):
        draw = random.Random(1337)
        samples = sorted(latency * (1 + draw.uniform(-noise, noise)) + drift * i for i in range(30))
        median = (samples[14] + samples[15]) / 2
        counters = [21, 1, 0, 0, 0, 0, 0, 0]
        if self.args.accuracy:
            return [status, *counters, 3.25]
        return [1.5, median, 4.5, 0.9, 0.5, 0.55, *counters]

    def row(self, extra=None, **how):
        extra = extra or {}
        self.write([*self.columns, *extra],
                   [self.device, self.model, self.args.batch_size, *self.values(**how), *extra.values()])
        print(how.get("status", "pass") if self.args.accuracy else "1.500x", flush=True)

    def failure_row(self, status):
        cells = [status] if self.args.accuracy else [0.0, 0.0]
        self.write(self.columns[:len(cells)], [self.device, self.model, 0, *cells])

    def console(self):
        mode = "train" if self.args.training else "eval"
        print(f"{self.device:4} {mode:5} {self.model:34} ", end="", flush=True)


# ---- what upstream's code does around a model ----
def load_model(error):
    raise error


def warmup(fn):
    fn()


def cast_to_fp64(error):
    raise error


def raise_in_compiler(error):
    space = {"error": error}
    exec(compile("def compile_fx(e):\n    raise e\n", "/site/torch/_inductor/compile_fx.py", "exec"), space)
    space["compile_fx"](error)


def raise_eagerly(error):
    raise error


def speedup_experiment(error):
    raise error


def raise_at(phase, error):
    if phase == "load":
        load_model(error)
    elif phase == "eager":
        warmup(lambda: raise_eagerly(error))
    elif phase == "fp64":
        cast_to_fp64(error)
    elif phase == "compile":
        warmup(lambda: raise_in_compiler(error))
    else:
        speedup_experiment(error)


def fail(run, phase, error, word):
    """Upstream's own handling: a row of zeros or a word where it catches, a traceback where not."""
    try:
        raise_at(phase, error)
    except Exception:
        traceback.print_exc()
        caught = phase in ("load", "eager", "compile") or run.args.accuracy
        if phase == "load":
            run.failure_row("eager_fail_to_run")
            print("eager_fail_to_run", flush=True)
            sys.exit(0)
        if phase == "fp64" or not caught:
            sys.exit(1)
        run.failure_row(word)
        print(word if run.args.accuracy else "warmup_failed", flush=True)
        sys.exit(0 if run.args.accuracy else 255)


# ---- the behaviours ----
def do_ok(run, latency="1.5", noise="0", drift="0"):
    run.row(latency=float(latency), noise=float(noise), drift=float(drift))


def do_status(run, word):
    run.row(status=word)


def do_slow(run, seconds):
    pause(float(seconds))
    run.row()


def do_exit(_, code):
    sys.exit(int(code))


def do_exit0_no_row(_):
    sys.exit(0)


def do_row_then_crash(run):
    run.row()
    os.kill(os.getpid(), signal.SIGSEGV)


def do_dup_row(run):
    run.row()
    run.row()


def do_dup_header(run):
    run.row()
    with open(run.args.output, encoding="utf-8") as file:
        text = file.read()
    with open(run.args.output, "a", encoding="utf-8") as file:
        file.write(text)


def do_cut_row(run):
    run.row()
    size = os.path.getsize(run.args.output)
    os.truncate(run.args.output, size - 25)


def do_empty_file(run):
    pathlib.Path(run.args.output).touch()


def do_segv(_):
    os.kill(os.getpid(), signal.SIGSEGV)


def do_abort(_):
    os.abort()


def do_kill9(_):
    os.kill(os.getpid(), signal.SIGKILL)


def do_hang(_):
    warmup(lambda: exec(compile("import threading\nthreading.Event().wait()",
                                "/site/torch/_inductor/codecache.py", "exec")))


def do_hang_ignore_term(run):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    do_hang(run)


def leave_behind(keep_output):
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        if not keep_output:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            os.dup2(null, 2)
        pause()
    os.wait()


def do_setsid_child(run):
    leave_behind(keep_output=False)
    run.row()


def do_daemon_holds_stdout(run):
    leave_behind(keep_output=True)
    run.row()


def do_print(run, hexadecimal):
    os.write(1, bytes.fromhex(hexadecimal) + b"\n")
    run.row()


def do_print_then_exit(_, hexadecimal, code):
    os.write(1, bytes.fromhex(hexadecimal) + b"\n")
    sys.exit(int(code))


def do_flood(run, megabytes):
    line = b"x" * 1023 + b"\n"
    for _ in range(int(megabytes) * 1024):
        os.write(1, line)
    run.console()
    run.row()


def do_oom_text(run, phase):
    word = "eager_1st_run_OOM" if phase == "eager" else "OOM"
    fail(run, phase, OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), word)


def do_429(run, times):
    for attempt in range(min(int(times), DOWNLOAD_TRIES)):
        print(f"429 Client Error: Too Many Requests for the weights; try {attempt + 1}", flush=True)
    if int(times) < DOWNLOAD_TRIES:
        return run.row()
    fail(run, "load", RuntimeError("Failed to load model: 429 Client Error: Too Many Requests"), "")


def do_device_lost(run):
    fail(run, "compile", RuntimeError("CUDA error: the GPU is lost. Reboot the system to recover it"), "fail_to_run")


def do_gpu_hang(_):
    """As ROCm's runtime: a line on stderr, then abort; with a core of any size, were one allowed."""
    os.write(2, b"HW Exception by GPU node-1 (Agent handle: 0x5ab48bbcc960) reason :GPU Hang\n")
    os.abort()


def do_gpu_hang_caught(run):
    fail(run, "compile", RuntimeError("CUDA error: the launch timed out and was terminated"), "fail_to_run")


def do_gpu_hang_words(run):
    print("HW Exception by GPU node-1 (Agent handle: 0x1) reason :GPU Hang", flush=True)
    run.row()


def do_infra_word(run):
    print("Traceback of another day: no space left on device, GPU is lost, 429 Client Error, infra_error", flush=True)
    run.console()
    run.row()


def do_infra_word_then_exit(run, code):
    print("no space left on device, GPU is lost, 429 Client Error, out of memory", flush=True)
    sys.exit(int(code))


def do_chdir(run):
    os.chdir("/")
    run.row()


def do_fd_list(run):
    fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
    run.row(extra={"fds": " ".join(str(fd) for fd in fds if os.path.exists(f"/proc/self/fd/{fd}"))})


def do_affinity(run):
    run.row(extra={"affinity": " ".join(map(str, sorted(os.sched_getaffinity(0))))})


def do_env_dump(run):
    print("\nENVIRONMENT " + json.dumps(dict(os.environ)) + "\nARGV " + json.dumps(sys.argv), flush=True)
    run.row(extra={"cwd": os.getcwd()})


def do_flip(run, share):
    """Fails that share of its runs, evenly, so that a test knows which."""
    file = HERE / f"{run.model}.runs"
    count = int(file.read_text()) if file.exists() else 0
    file.write_text(str(count + 1))
    fails = int((count + 1) * float(share)) > int(count * float(share))
    run.row(status="eager_two_runs_differ" if fails else "pass")


def do_torch_version(run, version):
    run.row(extra={"torch_version": version})


def do_rule(run):
    run.row(extra={"rule": "rmse", "tolerance": 0.001, "distance": 0.0005})


def do_key_error(run):
    fail(run, "load", KeyError("emulate_precision_casts"), "")


def do_warmup_failed(run):
    fail(run, "eager", ValueError("shapes do not fit"), "eager_1st_run_fail")


def do_old_header(run):
    """Before fallbacks_to_eager came."""
    columns = [c for c in run.columns if c != "fallbacks_to_eager"]
    values = dict(zip(run.columns, run.values()))
    run.write(columns, [run.device, run.model, run.args.batch_size, *(values[c] for c in columns)])


def do_mixed_header(run):
    """A tagged file, and the row of a failure that knows nothing of the tag."""
    run.write(["tag", *run.columns], [run.device, "another", 4, "base", *run.values()])
    run.failure_row("fail_to_run")


def do_wrong_name(run):
    run.model = "another"
    run.row()


def child(run):
    name, _, rest = behaviours().get(run.model, "ok").partition("(")
    words = [word.strip() for word in rest.rstrip(")").split(",") if word.strip()]
    behaviour = globals()["do_" + name.strip().replace("-", "_")]
    if name.strip() not in ("429", "key-error", "flood", "infra-word"):
        run.console()
    behaviour(run, *words)


def parent(args):
    """One child a model with the same arguments; a row for those that take too long."""
    for model in sorted(behaviours()):
        try:
            subprocess.run([sys.executable, *sys.argv, f"--only={model}"], timeout=args.timeout, check=False)
        except subprocess.TimeoutExpired:
            args.only = model
            Run(args).failure_row("timeout")


def main(_suite):
    args = parse(sys.argv[1:])
    if args.only is None:
        parent(args)
    else:
        child(Run(args))
