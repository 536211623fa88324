"""Method: read every tracked text file and hold it to the house's own rules, which no compiler
checks: length, owners of TODOs, banned calls, who may include whom, a method at the head of each
test, Python that parses, links that resolve. rules_test.py proves that each rule finds a fault."""

import pathlib
import re
import subprocess
import sys
from typing import Callable, Iterator

MAX_LINES = 600
SOURCES = {".cc", ".h", ".py", ".proto", ".sh"}
CPP = {".cc", ".h"}

Finding = tuple[str, int, str]  # path, line, what and how to mend it

# Models under test may do anything: they are what is measured or killed.
MODELS = r"^tests/integration/(.*/)?models(/|\.py$)"

# (where it holds, what is banned, why and what instead). A line with "tidy: allow" and a reason passes.
BANNED = [
    (r"^(tests|common|coordinator)/.*\.(cc|h|py)$", r"(?<![\w.])(sleep|usleep|nanosleep)\(|sleep_for\(|sleep_until\(|time\.sleep\(",
     "sleeps; wait for a condition with a deadline, or inject the time"),
    (r"^(common|coordinator|worker|tools)/.*\.(cc|h)$", r"(?<![\w.:>])(system|popen|tmpnam|mktemp)\(",
     "runs a shell or races; use worker/process"),
    (r"\.(cc|h)$", r"(?<!\w)(sprintf|strcpy|strcat|gets|strtok|atoi|atol|atof)\(", "is unsafe or hides errors"),
    (r"^(common|coordinator|worker|tools)/(?!base/mutex\.h).*\.(cc|h)$", r"std::(mutex|shared_mutex|lock_guard|unique_lock|condition_variable)\b",
     "is invisible to the thread-safety analysis; use common/base/mutex.h"),
    (r"^(common/(plan|stats|judge)|coordinator/scheduler)/.*\.(cc|h)$", r"(steady_clock|system_clock)::now|<thread>|<mutex>|<sqlite3\.h>|grpcpp",
     "makes a pure core depend on time, threads, SQL or sockets"),
    (r"\.(cc|h)$", r"absl/log/", "is not in Debian 12's Abseil; use common/base/check.h or spdlog"),
    (r"\.(cc|h)$", r"torch/(extension|torch)\.h", "compiles in 20 s; include the ATen header that is needed"),
]

# Who may include whom: a folder and what it must not know.
LAYERS = [
    (r"^common/", r"^(coordinator|worker|tools|proto)/"),
    (r"^coordinator/", r"^(worker|tools)/"),
    (r"^worker/", r"^(coordinator|tools)/"),
    (r"^coordinator/scheduler/", r"^(common/(?!plan/|base/)|coordinator/(?!scheduler/)|proto/)"),
    (r"^common/base/", r"^common/(?!base/)"),
]


def tracked(root: pathlib.Path) -> list[str]:
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True, check=True).stdout.decode()
    return sorted(name for name in set(listing.split("\0")) if name and (root / name).is_file())


def check_length(path: str, lines: list[str]) -> Iterator[Finding]:
    if pathlib.Path(path).suffix in SOURCES and len(lines) > MAX_LINES:
        yield path, len(lines), f"has more than {MAX_LINES} lines; split it by what its parts know"


def check_todo(path: str, lines: list[str]) -> Iterator[Finding]:
    if pathlib.Path(path).suffix not in SOURCES or path.startswith("tests/tidy/"):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r"\b(FIXME|XXX|HACK)\b", line):
            yield path, number, "marks unfinished work; finish it or write TODO(owner): what"
        elif re.search(r"\bTODO\b(?!\([\w.@-]+\): \w)", line):
            yield path, number, "is a TODO without an owner; write TODO(owner): what"


def check_banned(path: str, lines: list[str]) -> Iterator[Finding]:
    if path.startswith("tests/tidy/") or re.search(MODELS, path):
        return
    for where, pattern, why in BANNED:
        if re.search(where, path):
            for number, line in enumerate(lines, 1):
                found = re.search(pattern, re.sub(r"^\s*(//|#).*|\s//.*", "", line) if "#include" not in line else line)
                if found and "tidy: allow" not in line:
                    yield path, number, f"'{found[0]}' {why}"


def check_layers(path: str, lines: list[str]) -> Iterator[Finding]:
    if pathlib.Path(path).suffix not in CPP:
        return
    for number, line in enumerate(lines, 1):
        include = re.match(r'#include "([^"]+)"', line)
        for who, not_whom in LAYERS:
            if include and re.search(who, path) and re.search(not_whom, include[1]):
                yield path, number, f"includes {include[1]}, which {who.strip('^')} must not know"


def check_test_method(path: str, lines: list[str]) -> Iterator[Finding]:
    name = pathlib.Path(path).name
    if path.startswith("tests/") and (name.endswith("_test.cc") or name.endswith("_test.py")):
        if not (lines and lines[0].lstrip().startswith(("//", '"""', "#"))):
            yield path, 1, "does not open with its method; say in two or three lines how it tests what"


def check_own_paths(path: str, lines: list[str]) -> Iterator[Finding]:
    for number, line in enumerate(lines, 1):
        found = re.search(r"(?<![\w./$}-])/(root|home/[a-z]+|work)/", line)
        if found and not path.startswith("tests/tidy/"):
            yield path, number, f"'{found[0]}' is a path of somebody's machine"


def check_python(path: str, lines: list[str]) -> Iterator[Finding]:
    """The grammar is that of the interpreter that runs this: in CI the oldest one that is supported."""
    if path.endswith(".py") or (lines and re.match(r"#!.*\bpython", lines[0])):
        try:
            compile("\n".join(lines) + "\n", path, "exec", dont_inherit=True)
        except SyntaxError as fault:
            yield path, fault.lineno or 1, f"is not Python {sys.version_info[0]}.{sys.version_info[1]}: {fault.msg}"


def anchors(text: str) -> set[str]:
    result = set()
    for heading in re.findall(r"^#+\s+(.*)$", text, re.M):
        plain = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        result.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain)))
    return result


def check_links(root: pathlib.Path) -> Callable[[str, list[str]], Iterator[Finding]]:
    def check(path: str, lines: list[str]) -> Iterator[Finding]:
        if not path.endswith(".md"):
            return
        fenced = False
        for number, line in enumerate(lines, 1):
            if line.startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                file = (root / path).parent / name if name else root / path
                if not file.exists():
                    yield path, number, f"links to {target}, which does not exist"
                elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
                    yield path, number, f"links to {target}, but that page has no such heading"
    return check


def findings(root: pathlib.Path) -> Iterator[Finding]:
    rules = [check_length, check_todo, check_banned, check_layers, check_test_method, check_own_paths,
             check_python, check_links(root)]
    for path in tracked(root):
        try:
            lines = (root / path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        for rule in rules:
            yield from rule(path, lines)


def main(root: pathlib.Path) -> int:
    found = list(findings(root))
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    print(f"{len(found)} findings in {len(tracked(root))} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
