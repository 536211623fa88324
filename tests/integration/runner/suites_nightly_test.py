"""The suites HuggingFace and TorchBench through the real runner: how many models run on a CPU.

Each model of the suite file is one accuracy test with the backend "eager", batch 1 (HuggingFace) or
the suite's own (TorchBench), without a network. What fails is printed with its reason; the number that
must pass is asserted. TorchBench needs a checkout of pytorch/benchmark in
DYNBENCH_TORCHBENCH_CHECKOUT, else it is skipped.

Needs DYNBENCH_RUNNER and DYNBENCH_PYTHON, whose yaml reads the suite files. DYNBENCH_MODELS=A,B,…
chooses models, which then must all pass.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from runner_driver import ROOT, experiment
from runner_test import PYTHON, WithRunner

# Models whose three copies in two precisions would not fit a small host: so many layers instead.
LAYERS = {name: 2 for name in (
    "BlenderbotForCausalLM", "BlenderbotForConditionalGeneration", "DebertaV2ForMaskedLM",
    "GPTJForCausalLM", "GPTJForQuestionAnswering", "GPTNeoForCausalLM",
    "GPTNeoForSequenceClassification", "M2M100ForConditionalGeneration", "MegatronBertForCausalLM",
    "PegasusForCausalLM", "Qwen/Qwen3-0.6B", "Qwen/Qwen3.5-0.8B", "XGLMForCausalLM",
    "google/gemma-2-2b", "meta-llama/Llama-3.2-1B")}
LAYERS.update({name: 1 for name in ("google/gemma-3-4b-it", "mistralai/Mistral-7B-Instruct-v0.3",
                                    "openai/gpt-oss-20b")})
LIMIT_S = 600
# Where a download would go: nobody listens there, so it fails at once.
NO_NETWORK = dict(HF_HUB_OFFLINE="1", http_proxy="http://127.0.0.1:9",
                  https_proxy="http://127.0.0.1:9")


def models_of(suite):
    """The suite file's models, read by the environment's yaml."""
    path = os.path.join(ROOT, "suites", suite + ".yaml")
    program = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
    return json.loads(subprocess.run([PYTHON, "-c", program, path], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout)["models"]


def chosen(models):
    names = [name for name in os.environ.get("DYNBENCH_MODELS", "").split(",") if name]
    unknown = set(names) - {model["name"] for model in models}
    assert not unknown, unknown
    return [model for model in models if not names or model["name"] in names]


def text_of(value):
    """A parameter as the plan writes it."""
    return value if isinstance(value, str) else json.dumps(value)


class Suite(WithRunner):
    @classmethod
    def setUpClass(cls):
        os.environ.update(NO_NETWORK)
        super().setUpClass()

    def passed(self, suite, models, **fields):
        """Names of the models that pass; says why of the others."""
        names = []
        for model in models:
            whole = experiment(model["name"], "accuracy", suite, dict(backend="eager"),
                               precision="float32", iterations=1, rules=dict(
                                   deterministic_algorithms=model.get("deterministic_algorithms",
                                                                      True)),
                               **{k: f(model) for k, f in fields.items()})
            whole["source"]["parameters"] = {k: text_of(v)
                                             for k, v in model["parameters"].items()}
            attempt = self.lane.start(whole, work_dir=tempfile.mkdtemp(dir=self.folder))
            try:
                attempt.finish(LIMIT_S)
            except TimeoutError:
                attempt.kill(0)
                attempt.finish(60)
            result = attempt.result or {"error": "no result: %s" % attempt.exited}
            if result.get("outcome") == "passed":
                names.append(model["name"])
            print("%-40s %-20s %s" % (model["name"], result.get("status"), result["error"][:120]),
                  flush=True)
        return names


class HuggingFaceNightly(Suite):
    def test_all_but_a_few_run(self):
        models = models_of("huggingface")
        self.assertEqual(sum(not model.get("newer", False) for model in models), 40)
        models = chosen(models)
        passed = self.passed("huggingface", models, batch_size=lambda model: 1,
                             layers=lambda model: LAYERS.get(model["name"], 0))
        self.assertGreaterEqual(len(passed), min(36, len(models)), passed)


@unittest.skipUnless(os.environ.get("DYNBENCH_TORCHBENCH_CHECKOUT"), "no checkout of TorchBench")
class TorchBenchNightly(Suite):
    @classmethod
    def setUpClass(cls):
        os.environ["DYNBENCH_TORCHBENCH"] = os.environ["DYNBENCH_TORCHBENCH_CHECKOUT"]
        super().setUpClass()

    def test_at_least_twenty_run(self):
        models = chosen(models_of("torchbench"))
        passed = self.passed("torchbench", models, batch_size=lambda model: (
            model["batch_size"] if model.get("batch_size_fixed") else 4))
        self.assertGreaterEqual(len(passed), min(20, len(models)), passed)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
