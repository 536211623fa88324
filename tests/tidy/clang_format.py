"""Method: run the reference clang-format over every tracked C++ and proto source without writing;
any difference fails and is shown as the command that mends it. Another version than the reference
formats differently, so it is skipped (exit 77)."""

import re
import subprocess
import sys

REFERENCE_VERSION = 14  # Debian 12's


def main(root: str) -> int:
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True)
    found = int(re.search(r"version (\d+)", version.stdout)[1])
    if found != REFERENCE_VERSION:
        print(f"clang-format {found} is installed; the tree is formatted with {REFERENCE_VERSION}: skipped")
        return 77
    files = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.cc", "*.h"],
        capture_output=True, text=True, check=True).stdout.split()
    done = subprocess.run(["clang-format", "--dry-run", "--Werror", *files], cwd=root, capture_output=True, text=True)
    if done.returncode:
        places = sorted(set(re.findall(r"^(\S+):\d+:\d+: error", done.stderr, re.M)))
        print(f"not formatted: {', '.join(places) or done.stderr}")
        print("mend with: git ls-files '*.cc' '*.h' | xargs clang-format -i")
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
