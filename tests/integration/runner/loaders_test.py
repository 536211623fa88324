"""The loaders, training steps, options of the model and ranks, through the real runner.

Models of milliseconds and the backend "eager" where the loader is what is proven; inductor where the
compiled step is. Every option is read back from the result's in_force. TorchBench is the small package
in tests/props; HuggingFace models are real classes with tiny configurations.

Needs DYNBENCH_RUNNER (the program) and DYNBENCH_PYTHON (its environment's interpreter).
"""

import json
import os
import sys
import tempfile
import unittest

from runner_driver import ROOT, Runner, experiment
from runner_test import HERE, PROGRAM, PYTHON, SMALL, WithRunner, small

TORCHBENCH = os.path.join(ROOT, "tests", "props", "torchbenchmark")
TRAINABLE = os.path.join(HERE, "models", "trainable.py")

TINY_BERT = dict(
    kind="forward", sequence_length="16", labels="tokens", **{"class": "BertForMaskedLM"},
    config=json.dumps(dict(vocab_size=64, hidden_size=16, num_hidden_layers=2,
                           num_attention_heads=2, intermediate_size=32)))
TINY_LLAMA = dict(
    kind="generate", prompt_length="12", new_tokens="5", prefill="true",
    **{"class": "AutoModelForCausalLM"}, config_class="LlamaConfig",
    config=json.dumps(dict(vocab_size=64, hidden_size=16, num_hidden_layers=2,
                           num_attention_heads=2, num_key_value_heads=2, intermediate_size=32)))


def training(**fields):
    return dict(dict(mode="training", model_mode="train", precision="float32"), **fields)


def of_suite(loader, model, parameters, test="performance", backend="eager", options=None,
             **fields):
    fields = dict(dict(precision="float32", batch_size=2, repeat=2), **fields)
    whole = experiment(model, test, loader, dict(options or {}, backend=backend), **fields)
    whole["source"]["parameters"] = parameters
    return whole


class WithLoaders(WithRunner):
    @classmethod
    def setUpClass(cls):
        os.environ["DYNBENCH_TORCHBENCH"] = TORCHBENCH
        os.environ["HF_HUB_OFFLINE"] = "1"  # whatever asks for a network fails
        super().setUpClass()

    def run_one(self, whole, **more):
        return self.lane.run(whole, work_dir=tempfile.mkdtemp(dir=self.folder), **more)

    def trainable(self, model, test="performance", backend="eager", options=None, **fields):
        return self.run_one(small(model, test, backend, options, **training(**fields)),
                            model_file=TRAINABLE)

    def assert_in_force(self, attempt, **wanted):
        found = attempt.result["in_force"]
        wanted = {name.replace("__", "."): value for name, value in wanted.items()}
        self.assertEqual({name: found.get(name) for name in wanted}, wanted)


class Training(WithLoaders):
    def test_step_is_measured_and_updates_the_model(self):
        attempt = self.trainable("Counts", optimizer="sgd", repeat=3)
        self.assert_result(attempt, outcome="passed", status="measured")
        self.assert_in_force(attempt, model__mode="train", grad="True", optimizer="sgd")
        self.assertEqual(len(attempt.result["compiled_ns"]), 3)
        # The window calls both sides three times on one model: its loss falls with every call.
        told = [float(line.split()[1]) for line in attempt.stdout.splitlines()
                if line.startswith("loss")]
        self.assertLess(told[-1], told[0])

    def test_without_optimizer_nothing_moves(self):
        attempt = self.trainable("Counts", repeat=2)
        self.assert_result(attempt, outcome="passed")
        told = {line for line in attempt.stdout.splitlines() if line.startswith("loss")}
        self.assertEqual(len(told), 1, told)

    def test_gradients_that_one_side_left_are_no_guard_miss_of_the_other(self):
        attempt = self.trainable("Depthwise", backend="inductor", precision="amp",
                                 effective_precision="amp", repeat=3)
        self.assert_result(attempt, outcome="passed", status="measured")

    def test_accuracy_compares_loss_gradients_parameters_and_buffers(self):
        for optimizer in ("none", "sgd", "adam"):
            attempt = self.trainable("Normalized", "accuracy", optimizer=optimizer)
            self.assert_result(attempt, outcome="passed", status="pass")
        attempt = self.trainable("WrongGradient", "accuracy")
        self.assert_result(attempt, outcome="failed", status="fail_accuracy", blame="compiler")
        self.assertIn("grad", attempt.result["error"])

    def test_collected_outputs_and_a_model_in_eval_mode(self):
        attempt = self.trainable("Normalized", collect_outputs=True, model_mode="eval", repeat=2)
        self.assert_result(attempt, outcome="passed", status="measured")
        self.assert_in_force(attempt, model__mode="eval")

    def run_timm(self, test, backend):
        whole = experiment("mobilenetv2_100", test, options=dict(backend=backend),
                           rules=dict(tolerance=1e-2),
                           **training(batch_size=2, optimizer="none", repeat=2, iterations=1))
        return self.run_one(whole)

    def test_timm_step(self):
        attempt = self.run_timm("performance", "eager")
        self.assert_result(attempt, outcome="passed", status="measured")
        # The whole step is what is compiled: breaks of it, not one graph for the bare module.
        self.assertGreater(attempt.result["metrics"]["calls_captured"], 100)
        self.assert_in_force(attempt, model__mode="train", grad="True")
        attempt = self.run_timm("accuracy", "eager")
        self.assert_result(attempt, outcome="passed", status="pass")


class TrainingNightly(Training):
    """The same, compiled by inductor."""

    def test_inductor_and_compiled_autograd(self):
        for more in ({}, dict(dynamo_config={"compiled_autograd": "true"})):
            attempt = self.trainable("Normalized", "accuracy", "inductor", more, optimizer="adam",
                                     precision="amp", rules=dict(tolerance=1e-2))
            self.assert_result(attempt, outcome="passed", status="pass")
            if more:
                self.assert_in_force(attempt, dynamo__compiled_autograd="True")
                self.assertGreater(attempt.result["metrics"]["autograd_captures"], 0)

    def test_timm_step(self):
        for test, status in (("performance", "measured"), ("accuracy", "pass")):
            self.assert_result(self.run_timm(test, "inductor"), outcome="passed", status=status)


class ModelOptions(WithLoaders):
    def small(self, **fields):
        return self.run_one(small("Small", fields.pop("test", "performance"), **dict(
            dict(repeat=1), **fields)), model_file=SMALL)

    def test_precision_is_the_effective_one(self):
        attempt = self.small(precision="bfloat16", effective_precision="float32")
        self.assert_result(attempt, outcome="passed")
        self.assert_in_force(attempt, model__parameters="float32", autocast__dtype=None)
        self.assertIn("the suite's rule makes it float32", " ".join(attempt.result["notes"]))
        for word, wanted in (("", "bfloat16"), ("float16", "float16")):
            attempt = self.small(precision="amp", amp_dtype=word)
            self.assert_result(attempt, outcome="passed")
            self.assert_in_force(attempt, model__parameters="float32", autocast__dtype=wanted)

    def test_requirements(self):
        attempt = self.small(requirements=["torch>=99", "numpy>=1", "no-such-library"])
        self.assert_result(attempt, outcome="skipped", blame="none", phase="load")
        for words in ("needs torch>=99, found torch 2.", "no-such-library, which is not installed"):
            self.assertIn(words, attempt.result["error"])
        self.assertNotIn("numpy", attempt.result["error"])
        self.assert_result(self.small(requirements=["torch>=2.1"]), outcome="passed")

    def test_functorch_config_and_deterministic_performance(self):
        attempt = self.small(deterministic=True, options=dict(
            functorch_config={"fake_tensor_allow_unsafe_data_ptr_access": "false"}))
        self.assert_result(attempt, outcome="passed")
        self.assert_in_force(attempt, functorch__fake_tensor_allow_unsafe_data_ptr_access="False",
                             torch__deterministic_algorithms="True")
        attempt = self.small(options=dict(functorch_config={"no_such": "1"}))
        self.assert_result(attempt, status="option_refused")

    def test_batch_is_marked(self):
        for word in ("dynamic", "unbacked"):
            options = {"dynamic_shapes": True, word + "_batch_only": True}
            for test in ("performance", "accuracy"):
                attempt = self.small(test=test, backend="dynamic_only", batch_size=4, options=options)
                self.assert_result(attempt, outcome="passed")
                self.assert_in_force(attempt, **{"batch__" + word: "4x16",
                                                 "dynamo__assume_static_by_default": "True"})
            attempt = self.small(batch_size=4, options=options, mark_batch=False)
            self.assert_result(attempt, outcome="passed")
            self.assertIn("exempts", " ".join(attempt.result["notes"]))

    def test_unbacked_batch_with_inductor(self):
        attempt = self.small(test="accuracy", backend="inductor", batch_size=4, options=dict(
            dynamic_shapes=True, unbacked_batch_only=True))
        self.assert_result(attempt, outcome="passed", status="pass")

    def test_channels_last(self):
        attempt = self.run_one(small("Picture", channels_last=True, repeat=1), model_file=TRAINABLE)
        self.assert_result(attempt, outcome="passed")
        self.assert_in_force(attempt, inputs__channels_last="True")

    def test_options_of_other_loaders_are_refused(self):
        self.assert_result(self.small(layers=2), outcome="failed", status="option_refused")
        self.assert_result(self.small(part="x"), outcome="failed", status="option_refused")
        # As upstream has it.
        self.assert_result(self.small(activation_checkpointing=True), status="model_fail_to_load")


class HuggingFace(WithLoaders):
    def hf(self, parameters, test="performance", backend="eager", options=None, **fields):
        return self.run_one(of_suite("huggingface", "Tiny", parameters, test, backend, options,
                                     **fields))

    def test_forward(self):
        attempt = self.hf(TINY_BERT, layers=1, batch_size=3)
        self.assert_result(attempt, outcome="passed", status="measured", batch_size=3,
                           weights="random")
        self.assert_in_force(attempt, model__class="BertForMaskedLM",
                             inputs="input_ids 3x16, labels 3x16")
        self.assertIn("layers cut: num_hidden_layers=1", attempt.result["notes"])
        attempt = self.hf(TINY_BERT, "accuracy", "inductor", batch_size=1)
        self.assert_result(attempt, outcome="passed", status="pass")

    def test_training_with_activation_checkpointing(self):
        # Without dropout: dynamo does not replay its random numbers when it computes a layer again.
        config = dict(json.loads(TINY_BERT["config"]), hidden_dropout_prob=0.0,
                      attention_probs_dropout_prob=0.0)
        attempt = self.hf(dict(TINY_BERT, config=json.dumps(config)), "accuracy",
                          activation_checkpointing=True, optimizer="adam", **training())
        self.assert_result(attempt, outcome="passed", status="pass")
        self.assert_in_force(attempt, activation_checkpointing="True")

    def test_a_training_step_compiles_its_forward_once(self):
        # The second step finds gradients and the first none: neither may be seen by the graphs.
        for optimizer, graphs in (("none", 1), ("adam", 2)):
            attempt = self.hf(TINY_BERT, repeat=1, **training(optimizer=optimizer))
            self.assert_result(attempt, outcome="passed", status="measured")
            self.assertEqual(attempt.result["metrics"]["unique_graphs"], graphs, optimizer)

    def test_parts_that_hold_a_configuration_of_their_own_have_no_cache(self):
        config = dict(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2)
        attempt = self.hf(dict(kind="forward", sequence_length="8", labels="tokens",
                               decoder_input_ids="same", config=json.dumps(config),
                               **{"class": "MT5ForConditionalGeneration"}), "accuracy")
        self.assert_result(attempt, outcome="passed", status="pass")

    def test_inputs_by_the_rules(self):
        for more, wanted in (
                (dict(labels="classes", **{"class": "BertForSequenceClassification"}),
                 "input_ids 2x16, labels 2"),
                (dict(labels="span", **{"class": "BertForQuestionAnswering"}),
                 "input_ids 2x16, start_positions 2, end_positions 2")):
            attempt = self.hf(dict(TINY_BERT, input_ids="zeros", **more))
            self.assert_result(attempt, outcome="passed")
            self.assert_in_force(attempt, inputs=wanted)

    def test_generation_runs_what_was_compiled(self):
        attempt = self.hf(TINY_LLAMA, generation="generate", repeat=1)
        self.assert_result(attempt, outcome="passed", status="measured", batch_size=1)
        # One graph for the prompt and one for a token, and nothing compiled by transformers.
        self.assertEqual(attempt.result["metrics"]["unique_graphs"], 2)
        self.assertGreater(attempt.result["metrics"]["calls_captured"], 10)
        attempt = self.hf(TINY_LLAMA, "accuracy", generation="generate", prompt_length=9)
        self.assert_result(attempt, outcome="passed", status="pass")
        self.assert_in_force(attempt, inputs="input_ids 1x9")

    def test_prefill_has_its_columns(self):
        attempt = self.hf(TINY_LLAMA, generation="prefill", batch_size=2, prompt_length=8)
        self.assert_result(attempt, outcome="passed", status="measured", batch_size=2)
        metrics = attempt.result["metrics"]
        self.assertEqual(metrics["eager_prefill_latency_ms"], metrics["eager_latency_ms"])
        self.assertAlmostEqual(metrics["input_tokens_per_second"],
                               16 / (metrics["abs_latency_ms"] / 1e3), places=3)

    def test_what_cannot_be_loaded(self):
        attempt = self.hf(dict(TINY_BERT, **{"class": "NoSuchModel"}))
        self.assert_result(attempt, outcome="skipped", blame="none")
        self.assertIn("has no class NoSuchModel", attempt.result["error"])
        attempt = self.hf(dict(TINY_BERT, no_such="1"))
        self.assert_result(attempt, status="option_refused")
        attempt = self.hf(TINY_BERT, layers=1, options=dict(), weights="random",
                          requirements=["transformers>=99"])
        self.assert_result(attempt, outcome="skipped")


class TorchBench(WithLoaders):
    def bench(self, model, parameters=None, test="performance", backend="eager", **fields):
        return self.run_one(of_suite("torchbench", model, parameters or {}, test, backend, **fields))

    def test_inputs_by_position_and_by_name(self):
        attempt = self.bench("positional", dict(package="torchbenchmark.models.positional"))
        self.assert_result(attempt, outcome="passed", batch_size=2)
        self.assert_in_force(attempt, torchbenchmark=os.path.join(TORCHBENCH, "torchbenchmark"))
        for mode in ({}, training()):
            attempt = self.bench("by_name", dict(use_cache="false"), "accuracy", **mode)
            self.assert_result(attempt, outcome="passed", status="pass")
        self.assert_result(self.bench("by_name"), status="eager_fail_to_run", blame="model")

    def test_batch_size_of_its_own(self):
        self.assert_result(self.bench("positional", batch_size=0), outcome="passed", batch_size=4)
        attempt = self.bench("fixed_batch", batch_size=7)
        self.assert_result(attempt, outcome="passed", batch_size=3)
        self.assertIn("the model's own is 3", " ".join(attempt.result["notes"]))

    def test_special_inputs(self):
        attempt = self.bench("image", dict(input_shape="3,8,9"), batch_size=2)
        self.assert_result(attempt, outcome="passed", batch_size=2)
        attempt = self.bench("canary", dict(inputs="named_tuples"), "accuracy", backend="inductor")
        self.assert_result(attempt, outcome="passed", status="pass")
        self.assert_result(self.bench("own_gradients", dict(keeps_grad="true")), outcome="passed")
        self.assert_result(self.bench("own_gradients"), status="eager_fail_to_run")

    def test_weights(self):
        for weights in ("random", "auto"):
            attempt = self.bench("pretrained", weights=weights)
            self.assert_result(attempt, outcome="passed", weights="random")
        self.assert_result(self.bench("pretrained", weights="pretrained"), outcome="lost",
                           status="download_failed")

    def test_parts_and_arguments_for_training(self):
        attempt = self.bench("parts", dict(training_arguments='{"width": 3}'), **training())
        self.assert_result(attempt, outcome="passed")
        self.assert_result(self.bench("parts", **training()), status="eager_fail_to_run")
        self.assert_result(self.bench("parts", part="first"), outcome="passed")

    def test_what_cannot_be_loaded(self):
        self.assert_result(self.bench("no_class"), status="model_fail_to_load", blame="model")
        self.assert_result(self.bench("not_here"), status="model_fail_to_load", blame="model")
        attempt = self.bench("needs_library")
        self.assert_result(attempt, status="eager_fail_to_run", blame="model")
        self.assertIn("a_library_that_nobody_has", attempt.result["error"])
        attempt = self.bench("no_such_model")
        self.assert_result(attempt, status="eager_fail_to_run")
        self.assertIn("canary_models.no_such_model", attempt.result["error"])


class TorchBenchMissing(WithRunner):
    @classmethod
    def setUpClass(cls):
        os.environ["DYNBENCH_TORCHBENCH"] = HERE
        super().setUpClass()

    def test_is_skipped_with_the_reason(self):
        attempt = self.lane.run(of_suite("torchbench", "positional", {}),
                                work_dir=tempfile.mkdtemp(dir=self.folder))
        self.assert_result(attempt, outcome="skipped", blame="none")
        self.assertIn("holds no folder torchbenchmark", attempt.result["error"])


class Distributed(WithLoaders):
    def ranks(self, kind, test="performance", backend="eager", options=None, **fields):
        fields = dict(dict(distributed=kind, world_size=2, batch_size=4, repeat=2), **fields)
        return self.trainable("Normalized", test, backend, options, **fields)

    def test_both_ranks_make_every_call(self):
        attempt = self.trainable("TellsRank", distributed="ddp", world_size=2, repeat=2)
        self.assert_result(attempt, outcome="passed", status="measured")
        self.assert_in_force(attempt, distributed__backend="gloo", distributed__world_size="2")
        calls = [line for line in attempt.stdout.splitlines() if line.startswith("called in rank")]
        self.assertEqual(calls.count("called in rank 0"), calls.count("called in rank 1"))
        # Validation, five warm-up calls, an untimed pair, two timed ones in each pass; what is compiled says nothing.
        windows = 1 + attempt.result["metrics"]["window_repeats"]
        self.assertEqual(calls.count("called in rank 1"), 1 + 5 + 1 + 2 * windows)
        self.assertEqual(attempt.exited["code"], 0)

    def test_every_kind(self):
        for kind in ("multiprocess", "ddp", "fsdp"):
            for test, status in (("performance", "measured"), ("accuracy", "pass")):
                with self.subTest(kind=kind, test=test):
                    attempt = self.ranks(kind, test, optimizer="sgd")
                    self.assert_result(attempt, outcome="passed", status=status)

    def test_optimize_ddp(self):
        attempt = self.ranks("ddp", backend="inductor", optimize_ddp="no_optimization")
        self.assert_result(attempt, outcome="passed", status="measured")
        self.assert_in_force(attempt, dynamo__optimize_ddp="no_optimization")
        self.assert_result(self.ranks("ddp", optimize_ddp="nonsense"), status="option_refused")

    def test_a_rank_that_dies_fails_the_experiment(self):
        attempt = self.trainable("DiesInRankOne", distributed="ddp", world_size=2)
        self.assert_result(attempt, outcome="failed")
        self.assertIn("this rank has had enough", attempt.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
