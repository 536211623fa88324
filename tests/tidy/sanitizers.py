"""Method: build the unit tests with the address and undefined-behaviour sanitizers (preset asan) and
run them; a report of a sanitizer ends a test program with an error. A program whose sources
include what differs from the last merge is always built and run; the others, in an order that each commit
draws anew, until DYNBENCH_SANITIZERS_BUDGET_S has passed, since a tree without objects takes as long as
the build before it. What is built already is run whatever the budget. The nightly check builds and
runs unit, simulation and integration tests of that preset, and those whose code has threads but no
gRPC (which is not instrumented, so that its reports are false) with the thread sanitizer."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from clang_tidy import changed_files, dependencies, drawn  # noqa: E402

TOGETHER = 4  # programs that one call of the build tool gets


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


def out_of_date(programs: list[str]) -> list[str]:
    """Those that ninja would build something for."""
    plan = subprocess.run(["ninja", "-C", "build/asan", "-n", "-v", *programs], capture_output=True, text=True).stdout
    return [name for name in programs if re.search(rf" -o bin/{re.escape(name)} ", plan)]


def about(path: pathlib.Path, sources: dict[str, set[pathlib.Path]]) -> set[str]:
    """Programs that test a changed file: whose own sources include it or the header of its stem; where
    there is none, a header beside it."""
    for signs in ({path, path.with_suffix(".h")}, set(path.parent.glob("*.h"))):
        found = {name for name, files in sources.items() if not signs.isdisjoint(files)}
        if found or path.suffix not in (".cc", ".h"):
            return found
    return set()


def touched(programs: list[str], root: pathlib.Path, changed: set[pathlib.Path],
            needs: dict[str, list[pathlib.Path]]) -> set[str]:
    """Programs that test what differs from the last merge, by `needs` (object -> what it was made of); all
    of them when what differs says how everything is built. One of which nothing is known counts, too."""
    if any(p.name == "CMakePresets.json" or p.suffix in (".cmake", ".proto") or p == root / "CMakeLists.txt"
           for p in changed):
        return set(programs)
    folders = tuple(f"{p.parent.relative_to(root)}/CMakeFiles/" for p in changed if p.name == "CMakeLists.txt")
    sources: dict[str, set[pathlib.Path]] = {}
    found: set[str] = set()
    for name, files in needs.items():
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", name)
        if target and target[1] in programs:
            sources.setdefault(target[1], set()).update(files)
            if folders and name.startswith(folders):
                found.add(target[1])
    return found.union(set(programs) - set(sources), *(about(path, sources) for path in changed))


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


def main(root: str, build: str) -> None:
    os.chdir(root)
    jobs = str(min(2, os.cpu_count() or 1))
    if not os.path.exists("build/asan/build.ninja"):
        run("cmake", "--preset", "asan")
    if os.environ.get("DYNBENCH_NIGHTLY") == "1":
        return run_nightly(jobs)
    programs = unit_programs("asan")
    if not programs:
        sys.exit("no unit test program found in build/asan")
    always = touched(programs, pathlib.Path(root), changed_files(pathlib.Path(root)), dependencies(pathlib.Path(build)))
    always |= set(programs) - set(out_of_date(programs))
    start, budget_s = time.monotonic(), float(os.environ.get("DYNBENCH_SANITIZERS_BUDGET_S", "600"))
    if always:
        run("cmake", "--build", "--preset", "asan", "-j", jobs, "--target", *always)
    rest = sorted(set(programs) - always, key=lambda name: drawn(pathlib.Path(root), name))
    chosen = list(always)
    while rest and time.monotonic() - start < budget_s:
        some, rest = rest[:TOGETHER], rest[TOGETHER:]
        run("cmake", "--build", "--preset", "asan", "-j", jobs, "--target", *some)
        chosen += some
    run("ctest", "--preset", "asan", "-j", jobs, "-R", "^unit\\.(" + "|".join(chosen) + ")$")
    print(f"{len(chosen)} programs run under the sanitizers, {len(rest)} left for other commits "
          "(tools/check --nightly runs all)")


if __name__ == "__main__":
    main(*(str(pathlib.Path(word).resolve()) for word in sys.argv[1:3]))
