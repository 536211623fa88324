"""One model of one of upstream's scripts in its accuracy test, run outside the tree."""
import csv
import os
import subprocess
import tempfile

from peer import scripts_folder

SCRIPTS = {"timm": "timm_models.py", "huggingface": "huggingface.py"}


def run_upstream(python, suite, model, flags, folder):
    """The word in its row, or None when it left no row."""
    output = os.path.join(folder, "upstream.csv")
    if os.path.exists(output):
        os.remove(output)
    command = [python, os.path.join(scripts_folder(), SCRIPTS[suite]), *flags, f"--only={model}",
               f"--output={output}"]
    # Not --cold-start-latency, which is not cold with torch 2.14 (see Upstream.run in peer.py).
    with tempfile.TemporaryDirectory(prefix="cold-", dir=folder) as empty:
        environment = dict(os.environ, HF_HUB_OFFLINE="1", TORCHINDUCTOR_CACHE_DIR=empty,
                           TRITON_CACHE_DIR=os.path.join(empty, "triton"))
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment, check=False)
    if os.path.exists(output):
        with open(output, encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["name"] == model]
        if rows:
            return rows[-1]["accuracy"]
    print(f"bench: {' '.join(command)} left no row:\n{done.stdout.decode(errors='replace')[-1500:]}")
    return None
