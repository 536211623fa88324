"""Method: build the unit tests with the address and undefined-behaviour sanitizers (preset asan) and
run them. A report of a sanitizer fails the gate, whichever process made it: a coordinator that a
test stops tells of a leak at its end, when nobody looks at it. The nightly check builds and runs
unit, simulation and integration tests of that preset (but not those of the runner alone, which a
worker builds by itself, without sanitizers), and those whose code has threads but no gRPC (which is
not instrumented, so that its reports are false) with the thread sanitizer."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*words: str) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)


def unit_programs(preset: str) -> list[str]:
    listing = subprocess.run(["ctest", "--preset", preset, "--show-only=json-v1"],
                             capture_output=True, text=True, check=True).stdout
    listing = listing[listing.index("{"):]  # ctest prints the preset's variables first
    names = [test["name"] for test in json.loads(listing)["tests"]]
    targets = subprocess.run(["ninja", "-C", f"build/{preset}", "-t", "targets", "all"],
                             capture_output=True, text=True, check=True).stdout
    known = {line.split(":")[0] for line in targets.splitlines()}
    return [name[len("unit."):] for name in names if name.startswith("unit.") and name[len("unit."):] in known]


# Programs with threads of our own and without gRPC's.
THREADED = r"^unit\.(ingest_test|store_test|coordinator_(change_feed|event_loop|live_jobs|predictions)_test|worker_process_test)$"


def run_nightly(jobs: str) -> None:
    run("cmake", "--build", "--preset", "asan", "-j", jobs)
    run("ctest", "--test-dir", "build/asan", "--output-on-failure", "-j", jobs,
        "-L", "unit|simulation|integration", "-LE", "nightly", "-E", r"tidy|^integration\.runner\.")
    if not os.path.exists("build/tsan/build.ninja"):
        run("cmake", "--preset", "tsan")
    os.environ["TSAN_OPTIONS"] += f":suppressions={os.getcwd()}/tests/tidy/tsan_suppressions.txt"
    programs = [name for name in unit_programs("tsan") if re.search(THREADED, "unit." + name)]
    run("cmake", "--build", "--preset", "tsan", "-j", jobs, "--target", *programs)
    run("ctest", "--test-dir", "build/tsan", "--output-on-failure", "-j", jobs, "-R", THREADED)


def report_into(folder: str) -> None:
    """Sanitizers of what is run from now on write there, a file each process."""
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        given = os.environ.get(name)
        os.environ[name] = f"{given + ':' if given else ''}log_path={folder}/{name.split('_')[0].lower()}"


def main(root: str) -> None:
    os.chdir(root)
    with tempfile.TemporaryDirectory(prefix="dynbench-sanitizers-") as folder:
        report_into(folder)
        try:
            check()
        finally:
            reports = [path for path in sorted(pathlib.Path(folder).iterdir()) if path.stat().st_size]
            for path in reports:
                print(f"== {path.name}", path.read_text(encoding="utf-8", errors="replace")[:8000], sep="\n")
        if reports:
            sys.exit(f"{len(reports)} processes were reported by a sanitizer")


def check() -> None:
    jobs = str(min(2, os.cpu_count() or 1))
    if not os.path.exists("build/asan/build.ninja"):
        run("cmake", "--preset", "asan")
    if os.environ.get("DYNBENCH_NIGHTLY") == "1":
        return run_nightly(jobs)
    programs = unit_programs("asan")
    if not programs:
        sys.exit("no unit test program found in build/asan")
    run("cmake", "--build", "--preset", "asan", "-j", jobs, "--target", *programs)
    run("ctest", "--preset", "asan", "-j", jobs, "-R", "^unit\\.(" + "|".join(programs) + ")$")


if __name__ == "__main__":
    main(sys.argv[1])
