"""Stand-in for a model of the command engine: `chaos_model.py FOLDER MODEL [TEST]`. What it does stands in
FOLDER/behaviours.json as a list of steps; nothing there: it just reports. Every step notes itself in
FOLDER/notes.jsonl, one JSON object a line, so that a test can wait for it; a gate is a file
FOLDER/gates/NAME, and a step `gate NAME` blocks until it exists.

Steps: "gate NAME" · "ignore-term" · "session" (a child in a session of its own) · "daemon" (a
double-forked one that keeps stdout open) · "flood MB" · "exit N". Then it reports, unless it exited.
"""

import json
import os
import pathlib
import signal
import sys
import threading
import time

FOLDER, MODEL = pathlib.Path(sys.argv[1]), sys.argv[2]
ACCURACY = sys.argv[3:] == ["accuracy"]
if ACCURACY:
    MODEL += "/accuracy"


def note(event, **what):
    line = json.dumps({"event": event, "model": MODEL, "pid": os.getpid(), "at": time.time(), **what}) + "\n"
    fd = os.open(FOLDER / "notes.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, line.encode())  # one call: lines of several processes do not mix
    os.close(fd)


def tell(**what):
    print("dynbench: " + json.dumps(what), flush=True)


def pause(seconds):
    threading.Event().wait(seconds)


def do_gate(name):
    note("gate", gate=name)
    while not (FOLDER / "gates" / name).exists():
        pause(0.02)


def do_ignore_term():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def do_session():
    if os.fork() == 0:
        os.setsid()
        note("session")
        pause(None)


def do_daemon():
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            note("daemon")
            pause(None)
        os._exit(0)
    os.waitpid(first, 0)


def do_flood(megabytes):
    block = (b"x" * 1023 + b"\n") * 1024
    for _ in range(int(megabytes)):
        view = memoryview(block)
        while view:
            view = view[os.write(1, view):]


def do_exit(code):
    sys.exit(int(code))


def main():
    try:
        behaviours = json.loads((FOLDER / "behaviours.json").read_text(encoding="utf-8"))
    except OSError:
        behaviours = {}
    note("start")
    tell(phase="compile")
    for step in behaviours.get(MODEL, []):
        name, *words = step.split()
        globals()["do_" + name.replace("-", "_")](*words)
    if ACCURACY:
        tell(status="pass")
    else:
        tell(phase="measure")
        tell(sample="eager", ns=[4_000_000] * 5)
        tell(sample="compiled", ns=[2_000_000] * 5)
    note("end")


main()
