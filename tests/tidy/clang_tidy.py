"""Method: run clang-tidy (.clang-tidy: every finding is an error) on the tree's own sources, two at
a time. A source that was clean is remembered by the content of everything it includes from the tree,
so it is checked again only when that changes. What changed since the last merge is always checked;
the rest for a bounded time (DYNBENCH_TIDY_BUDGET_S), unless DYNBENCH_NIGHTLY=1: then all of it."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

REFERENCE_VERSION = 14  # Debian 12's; other versions have other findings
JOBS = min(2, os.cpu_count() or 1)  # a source that includes gRPC takes about 1 GB


class Source:
    def __init__(self, root: pathlib.Path, path: pathlib.Path, salt: bytes, needs: list[pathlib.Path]):
        self.path = path
        digest = hashlib.sha256(salt)
        for name in sorted({path, *needs}):
            if name.is_relative_to(root) and not name.is_relative_to(root / "build") and name.exists():
                digest.update(str(name.relative_to(root)).encode() + name.read_bytes())
        self.key = digest.hexdigest()


def dependencies(build: pathlib.Path) -> dict[str, list[pathlib.Path]]:
    """Object file -> what it was compiled from, as ninja recorded it."""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
    result: dict[str, list[pathlib.Path]] = {}
    for block in text.split("\n\n"):
        head, *lines = block.strip().splitlines() or [""]
        result[head.split(":")[0]] = [(build / line.strip()).resolve() for line in lines]
    return result


def sources(root: pathlib.Path, build: pathlib.Path, salt: bytes) -> list[Source]:
    needs = dependencies(build)
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if path.is_relative_to(root) and not path.is_relative_to(root / "build"):
            output = re.search(r" -o (\S+)", entry.get("command", ""))
            found[path] = Source(root, path, salt, needs.get(output[1] if output else "", []))
    return list(found.values())


def changed_files(root: pathlib.Path) -> set[pathlib.Path]:
    """Files that differ from the last merge (or from the commit before, on a straight line)."""
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True).stdout

    base = git("rev-list", "-1", "--merges", "HEAD~1").strip() or "HEAD~1"
    names = git("diff", "--name-only", base).split() + git("ls-files", "--others", "--exclude-standard").split()
    return {root / name for name in names}


def check(source: Source, build: pathlib.Path) -> str:
    done = subprocess.run(
        ["clang-tidy", "-p", build, "--quiet", "--extra-arg=-Wno-unknown-warning-option", str(source.path)],
        capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main(root: pathlib.Path, build: pathlib.Path) -> int:
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    found = int(re.search(r"version (\d+)", version)[1])
    if found != REFERENCE_VERSION:
        print(f"clang-tidy {found} is installed; the tree is kept clean with {REFERENCE_VERSION}: skipped")
        return 77
    nightly = os.environ.get("DYNBENCH_NIGHTLY") == "1"
    budget_s = float("inf") if nightly else float(os.environ.get("DYNBENCH_TIDY_BUDGET_S", "420"))
    clean = build / "clang-tidy-clean"
    clean.mkdir(exist_ok=True)
    salt = version.encode() + (root / ".clang-tidy").read_bytes()

    pending = [s for s in sources(root, build, salt) if not (clean / s.key).exists()]
    changed = changed_files(root)
    pending.sort(key=lambda s: (s.path not in changed, s.path))
    start, faulty, late = time.monotonic(), [], []

    def work(source: Source) -> None:
        if source.path not in changed and time.monotonic() - start > budget_s:
            late.append(source)
            return
        findings = check(source, build)
        if findings:
            faulty.append(source)
            print(findings, flush=True)
        else:
            (clean / source.key).touch()

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(work, pending))
    print(f"{len(pending) - len(late)} sources checked in {time.monotonic() - start:.0f} s, {len(faulty)} with "
          f"findings, {len(late)} left for the next run (tools/check --nightly checks all)")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
