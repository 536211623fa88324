"""Method: build the unit tests with the address and undefined-behaviour sanitizers (preset asan) and
run them; a report of a sanitizer ends a test program with an error. The nightly check builds and
runs unit, simulation and integration tests of that preset, and those whose code has threads but no
gRPC (which is not instrumented, so that its reports are false) with the thread sanitizer."""

import json
import os
import re
import subprocess
import sys


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
        "-L", "unit|simulation|integration", "-LE", "nightly", "-E", "tidy")
    if not os.path.exists("build/tsan/build.ninja"):
        run("cmake", "--preset", "tsan")
    programs = [name for name in unit_programs("tsan") if re.search(THREADED, "unit." + name)]
    run("cmake", "--build", "--preset", "tsan", "-j", jobs, "--target", *programs)
    run("ctest", "--test-dir", "build/tsan", "--output-on-failure", "-j", jobs, "-R", THREADED)


def main(root: str) -> None:
    os.chdir(root)
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
