"""One model of one of upstream's scripts in its accuracy test, run outside the tree."""
import csv
import os
import subprocess

from peer import scripts_folder

SCRIPTS = {"timm": "timm_models.py", "huggingface": "huggingface.py"}


def run_upstream(python, suite, model, flags, folder):
    """The word in its row, or None when it left no row."""
    output = os.path.join(folder, "upstream.csv")
    if os.path.exists(output):
        os.remove(output)
    command = [python, os.path.join(scripts_folder(), SCRIPTS[suite]), *flags, f"--only={model}",
               f"--output={output}", "--cold-start-latency"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, HF_HUB_OFFLINE="1"), check=False)
    if os.path.exists(output):
        with open(output, encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["name"] == model]
        if rows:
            return rows[-1]["accuracy"]
    print(f"bench: {' '.join(command)} left no row:\n{done.stdout.decode(errors='replace')[-1500:]}")
    return None
