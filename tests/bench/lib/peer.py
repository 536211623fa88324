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

    def run(self, test: str, models, cache: str | None):
        """Returns (wall seconds, {model: row as dict}). Upstream's parent starts one child a model."""
        output = os.path.join(self.folder, f"{test}-{time.monotonic_ns()}.csv")
        environment = dict(os.environ, TORCHBENCH_ONLY_MODELS=",".join(models))
        extra = [f"--output={output}"]
        if cache is not None:
            environment["TORCHINDUCTOR_CACHE_DIR"] = cache
        # A cold run of several models shares one cache in upstream; one model a call is really cold.
        calls = [[f"--only={m}"] for m in models] if cache is None else [[]]
        wall_s = 0.0
        rows = {}
        for call in calls:
            if cache is None:
                # Not --cold-start-latency: with torch 2.14 the script's own fresh cache was hit by
                # earlier calls' entries (3 s where an empty folder takes 23 s).
                empty = tempfile.mkdtemp(prefix="cold-", dir=self.folder)
                environment["TORCHINDUCTOR_CACHE_DIR"] = empty
                environment["TRITON_CACHE_DIR"] = os.path.join(empty, "triton")
            begun = time.monotonic()
            done = subprocess.run(self.arguments(test, extra + call), env=environment,
                                  cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False)
            wall_s += time.monotonic() - begun
            if done.returncode != 0:
                raise SystemExit(f"bench: upstream's script failed:\n{done.stdout.decode()[-2000:]}")
            with open(output, encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    rows[row["name"]] = row
            if call:
                os.remove(output)
        return wall_s, rows
