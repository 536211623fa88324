"""Accuracy words of dynbench against those of upstream's scripts: same models, flags, machine.

TIMM and HuggingFace, inference and training, batch as upstream's accuracy test has it. Every model is
one cold process on upstream's side. DYNBENCH_UPSTREAM_SCRIPTS names the folder with upstream's scripts,
as for the bench `upstream`; its huggingface.py needs an empty HF_LLM_MODELS in a module
huggingface_llm_models and default configurations there, outside of this tree.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

import report
from accuracy_peer import run_upstream
from dynbench_side import Fleet

# Small ones of each suite, on a CPU minutes in all.
MODELS = {
    "timm": ["mobilenetv2_100", "mobilenetv3_large_100", "ghostnet_100",
             "deit_tiny_patch16_224.fb_in1k", "repvgg_a2", "tf_efficientnet_b0"],
    "huggingface": ["DistilBertForMaskedLM", "DistillGPT2", "T5Small", "PLBartForCausalLM",
                    "ElectraForCausalLM", "LayoutLMForMaskedLM"],
}
PRECISION = {"inference": "--bfloat16", "training": "--float32"}


def parse():
    parser = argparse.ArgumentParser(prog="tools/bench accuracy_words", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--suites", default="timm,huggingface")
    parser.add_argument("--modes", default="inference,training")
    parser.add_argument("--models", help="only these, of any suite")
    parser.add_argument("--batch-size", type=int, help="instead of each suite's own for accuracy")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--threads", type=int, help="of both sides; fewer where others share the machine")
    parser.add_argument("--python", default=os.path.join(
        os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share")),
        "dynbench/environments/default/bin/python"))
    return parser.parse_args()


def flags_for(mode, args):
    flags = ["--accuracy", f"--{mode}", PRECISION[mode], f"--backend={args.backend}", "--device=cpu"]
    # With another backend it would have no effect, and dynbench says so and refuses.
    flags += ["--disable-cudagraphs"] if args.backend == "inductor" else []
    flags += [f"--threads={args.threads}"] if args.threads else []
    return flags + ([f"--batch-size={args.batch_size}"] if args.batch_size else [])


def ours(fleet, suite, models, flags):
    results = fleet.submit_suite(suite, *flags, "--models", ",".join(models), "--no-skip")[1]
    return {r["experiment"]["model"]: r for r in results["results"]}


def row_of(suite, mode, model, word, result):
    return {"suite": suite, "mode": mode, "model": model, "upstream": word,
            "dynbench": result.get("status"), "rule": result.get("accuracy_rule"),
            "distance": result.get("metrics", {}).get("accuracy_distance"),
            "error": result.get("error")}


def line_of(row):
    mark = " " if row["upstream"] == row["dynbench"] else "≠"
    return (f"{mark} {row['suite']:12} {row['mode']:10} {row['model']:32} "
            f"{row['upstream'] or 'no row':24} {row['dynbench']} {row['error'] or ''}")


def main():
    args = parse()
    only = set(args.models.split(",")) if args.models else None
    rows = []
    fleet = Fleet(args.python)
    try:
        with tempfile.TemporaryDirectory(prefix="bench-words-") as folder:
            for suite in args.suites.split(","):
                models = [m for m in MODELS[suite] if only is None or m in only]
                for mode in args.modes.split(",") if models else ():
                    flags = flags_for(mode, args)
                    mine = ours(fleet, suite, models, flags)
                    for model in models:
                        word = run_upstream(args.python, suite, model, flags, folder)
                        rows.append(row_of(suite, mode, model, word, mine.get(model, {})))
                        if not args.json:
                            print(line_of(rows[-1]), flush=True)
    finally:
        fleet.close()
    figures = {"accuracy_words": len(rows),
               "accuracy_words_equal": sum(r["upstream"] == r["dynbench"] for r in rows)}
    report.print_report(report.report("accuracy_words", figures, {"rows": rows}), args.json)
    return 0 if rows and figures["accuracy_words_equal"] == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
