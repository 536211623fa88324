"""Method: build the unit tests with the address and undefined-behaviour sanitizers (preset asan) and
run them; a report of a sanitizer ends a test program with an error. The nightly check builds and
runs everything else of that preset as well."""

import json
import os
import subprocess
import sys


def run(*words: str) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)


def unit_programs() -> list[str]:
    listing = subprocess.run(["ctest", "--preset", "asan", "--show-only=json-v1"],
                             capture_output=True, text=True, check=True).stdout
    listing = listing[listing.index("{"):]  # ctest prints the preset's variables first
    names = [test["name"] for test in json.loads(listing)["tests"]]
    targets = subprocess.run(["ninja", "-C", "build/asan", "-t", "targets", "all"],
                             capture_output=True, text=True, check=True).stdout
    known = {line.split(":")[0] for line in targets.splitlines()}
    return [name[len("unit."):] for name in names if name.startswith("unit.") and name[len("unit."):] in known]


def main(root: str) -> None:
    os.chdir(root)
    jobs = str(min(2, os.cpu_count() or 1))
    if not os.path.exists("build/asan/build.ninja"):
        run("cmake", "--preset", "asan")
    if os.environ.get("DYNBENCH_NIGHTLY") == "1":
        run("cmake", "--build", "--preset", "asan", "-j", jobs)
        run("ctest", "--preset", "asan", "-j", jobs, "-E", "tidy")
        return
    programs = unit_programs()
    if not programs:
        sys.exit("no unit test program found in build/asan")
    run("cmake", "--build", "--preset", "asan", "-j", jobs, "--target", *programs)
    run("ctest", "--preset", "asan", "-j", jobs, "-R", "^unit\\.(" + "|".join(programs) + ")$")


if __name__ == "__main__":
    main(sys.argv[1])
