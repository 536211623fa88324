"""Upstream's TIMM script as a peer, run outside the tree.

DYNBENCH_UPSTREAM_SCRIPTS names a folder with upstream's `timm_models.py` (and what it imports),
patched to load no weights (`pretrained=False`), with a `timm_models.yaml`. Nothing of it is ours.
"""
import csv
import os
import shutil
import subprocess
import tempfile
import time

MODELS = [
    "mobilenetv2_100",
    "mobilenetv3_large_100",
    "ghostnet_100",
    "deit_tiny_patch16_224.fb_in1k",
    "repvgg_a2",
    "tf_efficientnet_b0",
]
FLAGS = ["--inference", "--bfloat16", "--backend=inductor", "--disable-cudagraphs", "--device=cpu"]
BATCH = ["--batch-size=2"]


def scripts_folder() -> str:
    folder = os.environ.get("DYNBENCH_UPSTREAM_SCRIPTS", "")
    if not os.path.exists(os.path.join(folder, "timm_models.py")):
        raise SystemExit(
            "bench: DYNBENCH_UPSTREAM_SCRIPTS must name a folder with upstream's timm_models.py "
            "(see docs/benchmarks.md)")
    return folder


class Upstream:
    """Runs the script with one python; `cache` is kept over runs when given, else cold."""

    def __init__(self, python: str, threads: int, device: str = "cpu", batch: int = 2):
        self.python = python
        self.flags = [*FLAGS[:-1], f"--device={device}", f"--batch-size={batch}"]
        if device == "cpu":
            self.flags.append(f"--threads={threads}")
        self.folder = tempfile.mkdtemp(prefix="bench-upstream-")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def arguments(self, test: str, extra) -> list:
        return ([self.python, os.path.join(scripts_folder(), "timm_models.py"), f"--{test}"]
                + self.flags + list(extra))

    def call(self, test: str, models, caches: dict, extra=()):
        """One process of the script: (wall seconds, {model: row}, the end of what it printed)."""
        output = os.path.join(self.folder, f"{test}-{time.monotonic_ns()}.csv")
        environment = dict(os.environ, TORCHBENCH_ONLY_MODELS=",".join(models), **caches)
        begun = time.monotonic()
        done = subprocess.run(self.arguments(test, [f"--output={output}", *extra]), env=environment,
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        wall_s = time.monotonic() - begun
        rows = {}
        if done.returncode == 0 and os.path.exists(output):
            with open(output, encoding="utf-8", newline="") as file:
                rows = {row["name"]: row for row in csv.DictReader(file)}
        return wall_s, rows, done.stdout.decode(errors="replace")[-2000:]

    def cold(self, test: str, model: str):
        """One model from empty caches: (wall seconds, its row or None, the end of what was printed)."""
        # Not --cold-start-latency: with torch 2.14 the script's own fresh cache was hit by
        # earlier calls' entries (3 s where an empty folder takes 23 s).
        with tempfile.TemporaryDirectory(prefix="cold-", dir=self.folder) as empty:
            wall_s, rows, told = self.call(test, [model], {
                "TORCHINDUCTOR_CACHE_DIR": empty,
                "TRITON_CACHE_DIR": os.path.join(empty, "triton")}, [f"--only={model}"])
        return wall_s, rows.get(model), told

    def run(self, test: str, models, cache: str | None):
        """Returns (wall seconds, {model: row as dict}). Upstream's parent starts one child a model."""
        if cache is not None:
            wall_s, rows, told = self.call(test, models, {"TORCHINDUCTOR_CACHE_DIR": cache})
            if not rows:
                raise SystemExit(f"bench: upstream's script failed:\n{told}")
            return wall_s, rows
        # A cold run of several models shares one cache in upstream; one model a call is really cold.
        total_s = 0.0
        rows = {}
        for model in models:
            wall_s, rows[model], told = self.cold(test, model)
            total_s += wall_s
            if rows[model] is None:
                raise SystemExit(f"bench: upstream's script failed:\n{told}")
        return total_s, rows
