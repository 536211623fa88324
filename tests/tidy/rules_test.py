"""Method: make a small tree with exactly one fault for each rule (and one line that only looks like
a fault), and expect that rules.py names each faulty file once and nothing else."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import rules  # noqa: E402

FAULTS = {
    "common/base/long.cc": "int x;\n" * (rules.MAX_LINES + 1),
    "common/base/todo.cc": "// TODO: later\n",
    "common/base/fixme.cc": "// FIXME wrong\n",
    "tests/unit/base/sleepy_test.cc": "// Method.\nstd::this_thread::sleep_for(x);\n",
    "tests/integration/sleepy_test.py": '"""Method."""\ntime.sleep(1)\n',
    "worker/agent/shell.cc": 'int r = system("ls");\n',
    "worker/agent/locks.cc": "std::mutex mu;\n",
    "coordinator/scheduler/clock.cc": "auto now = std::chrono::steady_clock::now();\n",
    "common/plan/upward.cc": '#include "coordinator/scheduler/scheduler.h"\n',
    "coordinator/scheduler/wide.cc": '#include "common/store/store.h"\n',
    "worker/host/sideways.cc": '#include "coordinator/ingest/ingest.h"\n',
    "tests/unit/base/silent_test.cc": "int main() {}\n",
    "tools/broken.py": "print(f'{x[')\n",
    "tools/broken": "#!/usr/bin/env python3\nif True print(1)\n",
    "docs/path.md": "see " + "/home/" + "somebody/notes\n",
    "docs/link.md": "[gone](nowhere.md)\n",
    "docs/anchor.md": "# One\n[two](#two)\n",
}
FINE = {
    "common/base/fine.cc": "// TODO(anna): measure\n// never sleep(1) here\nint filesystem(int);\nint f = filesystem(1);\n",
    "coordinator/scheduler/fine.cc": '#include "common/plan/words.h"\n#include "common/base/ids.h"\n',
    "worker/agent/fine.cc": "sched.system_clock(3);\n",
    "tools/fine.py": "match 1:\n    case 1:\n        pass\n",
    "docs/fine.md": "# A heading, `quoted`\n[itself](#a-heading-quoted) [other](../docs/link.md)\n",
}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        for name, text in {**FAULTS, **FINE}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = [path for path, _, _ in rules.findings(root)]
    problems = [f"not found: {name}" for name in FAULTS if name not in found]
    problems += [f"found twice: {name}" for name in FAULTS if found.count(name) > 1]
    problems += [f"wrongly found: {name}" for name in FINE if name in found]
    print("\n".join(problems) or f"each of {len(FAULTS)} faults was found once, {len(FINE)} fine files passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
