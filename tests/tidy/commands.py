"""Method: take every command out of the code blocks of README.md and docs/, and hold it to what is
there: a script under tools/ exists, is executable and answers --help; a dynbenchctl verb and each of
its flags is in that verb's own help. So no document names a command that does not exist."""

import functools
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAMS = ("dynbenchctl", "dynbench-coordinator", "dynbench-worker")


def code_lines(text: str):
    """(line number, command) of blocks marked as shell, continuation lines joined, prompts cut. A
    command whose answer is shown to be an error is an example of what is refused."""
    fenced, pending, first = False, "", 0
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced, pending = not fenced and line.strip() in ("```sh", "```bash", "```console"), ""
            continue
        if not fenced:
            continue
        first = first if pending else number
        pending += line.removeprefix("$ ").strip()
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        if not (number < len(lines) and lines[number].startswith("dynbenchctl: ")):
            yield first, pending
        pending = ""


@functools.cache
def help_text(command: tuple[str, ...]) -> str | None:
    done = subprocess.run([*command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    return done.stdout if done.returncode == 0 else None


def check_program(words: list[str], bin_folder: pathlib.Path):
    program = pathlib.Path(words[0]).name
    verbs: list[str] = []
    for word in words[1:]:
        # Verbs nest two deep at most ("local up"); a word that is no verb is an argument.
        if word.startswith("-") or len(verbs) == 2 or not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        if help_text((str(bin_folder / program), *verbs, word)) is None:
            break
        verbs.append(word)
    text = help_text((str(bin_folder / program), *verbs))
    if text is None:
        yield f"{program} does not answer --help"
        return
    if program == "dynbenchctl" and len(words) > 1 and not words[1].startswith("-") and not verbs:
        yield f"dynbenchctl has no verb {words[1]}"
        return
    for word in words[1:]:
        flag = word.split("=")[0]
        if flag.startswith("--") and flag != "--help" and not re.search(re.escape(flag) + r"(?![\w-])", text):
            yield f"{program} {' '.join(verbs)} has no flag {flag}"


def check(line: str, root: pathlib.Path, bin_folder: pathlib.Path):
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return
    while words and re.fullmatch(r"[A-Z_]+=.*|sudo|time|nice", words[0]):
        words = words[1:]
    if not words:
        return
    if words[0].removeprefix("./").startswith("tools/"):
        script = root / words[0]
        if not script.is_file() or not script.stat().st_mode & 0o100:
            yield f"{words[0]} is not an executable file"
        elif (text := help_text((str(script),))) is None:
            yield f"{words[0]} --help fails"
        else:
            for flag in (w.split("=")[0] for w in words[1:] if w.startswith("--")):
                if flag != "--help" and flag not in text:
                    yield f"{words[0]} has no flag {flag}"
    elif pathlib.Path(words[0]).name in PROGRAMS:
        yield from check_program(words, bin_folder)


def main(root: pathlib.Path, bin_folder: pathlib.Path) -> int:
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    count, bad = 0, 0
    for page in pages:
        for number, line in code_lines(page.read_text(encoding="utf-8")):
            count += 1
            for problem in check(line, root, bin_folder):
                bad += 1
                print(f"{page.relative_to(root)}:{number}: {problem}: {line}")
    print(f"{count} lines of code blocks read, {bad} findings")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
