"""Every word of the accuracy test, and the tests beside it, with tiny models that earn it.

The real runner, spoken to as the worker does; compilers of judged.py that are wrong on purpose. What
must come from inductor itself is in the classes Diagnostics and Minifier.
"""

import gzip
import json
import os
import tempfile
import unittest

import runner_test
from runner_test import HERE

JUDGED = os.path.join(HERE, "models", "judged.py")


class WithJudgedModels(runner_test.WithRunner):
    def run_model(self, model, backend="eager", test="accuracy", **fields):
        return self.run_small(model, test, backend, model_file=JUDGED, **fields)

    def assert_word(self, attempt, status, outcome="failed", **wanted):
        self.assert_result(attempt, status=status, outcome=outcome, **wanted)
        return attempt.result

    def notes(self, attempt):
        return " ".join(attempt.result["notes"])


class AccuracyWords(WithJudgedModels):
    def test_each_eager_run_fails_or_is_out_of_memory(self):
        for model, status in (("FailsInFirstRun", "eager_1st_run_fail"),
                              ("FailsInSecondRun", "eager_2nd_run_fail"),
                              ("OutOfMemoryInFirstRun", "eager_1st_run_OOM"),
                              ("OutOfMemoryInSecondRun", "eager_2nd_run_OOM")):
            with self.subTest(status):
                self.assert_word(self.run_model(model), status, phase="eager", blame="eager")

    def test_out_of_memory_in_three_phases_is_three_classes(self):
        eager = self.run_model("OutOfMemoryInFirstRun").result
        compiled = self.run_model("Small", "out_of_memory").result
        reference = self.run_model("OutOfMemoryInFloat64").result
        self.assertEqual((eager["status"], eager["phase"]), ("eager_1st_run_OOM", "eager"))
        self.assertEqual((compiled["status"], compiled["phase"]), ("OOM", "compile"))
        self.assertEqual((reference["status"], reference["in_force"]["accuracy.reference"]),
                         ("pass", "out of memory"))
        self.assertIn("no float64 reference (out of memory)", " ".join(reference["notes"]))
        self.assertEqual(compiled["in_force"]["accuracy.reference"], "float64")
        self.assertEqual(eager["in_force"]["accuracy.reference"], "not run")

    def test_without_a_reference_cosine_decides_and_the_row_says_so(self):
        attempt = self.run_model("FailsInFloat64", "adds_one")
        result = self.assert_word(attempt, "fail_accuracy", accuracy_rule="cosine")
        self.assertEqual(result["in_force"]["accuracy.reference"], "failed")
        self.assertEqual(result["in_force"]["accuracy.cosine"], "True")
        self.assertIn("no float64 here", self.notes(attempt))
        # Such a small error changes no direction, so the same failure is let through.
        self.assert_word(self.run_model("FailsInFloat64", "folds_a_convolution"), "pass", "passed",
                         accuracy_rule="cosine")
        self.assert_word(self.run_model("Small", "folds_a_convolution"), "fail_accuracy",
                         accuracy_rule="rmse")

    def test_what_the_row_records(self):
        result = self.assert_word(self.run_model("Small", "adds_one", rules=dict(tolerance=0.02)),
                                  "fail_accuracy", phase="verify", blame="compiler")
        metrics, in_force = result["metrics"], result["in_force"]
        self.assertAlmostEqual(metrics["accuracy_distance"], 1, places=5)
        self.assertEqual(metrics["accuracy_tolerance"], 0.02)
        self.assertEqual(metrics["accuracy_multiplier"], 3)
        self.assertEqual(in_force["accuracy.equal_nan"], "False")
        self.assertEqual(in_force["accuracy.iterations"], "2")
        self.assertEqual(len(result["accuracy_function_hash"]), 16)

    def test_eager_runs_that_differ_say_by_how_much(self):
        attempt = self.run_small("DiffersBetweenRuns", "accuracy")
        self.assert_word(attempt, "eager_two_runs_differ", blame="eager")
        self.assertGreater(attempt.result["metrics"]["accuracy_distance"], 0)
        self.assertIn("differs from eager by up to", attempt.result["error"])

    def test_outputs_that_cannot_be_compared_differ(self):
        attempt = self.run_model("CannotBeCompared")
        self.assert_word(attempt, "eager_two_runs_differ")
        self.assertIn("unsupported type: Strange", attempt.result["error"])

    def test_nan_is_equal_to_itself_unless_float32_was_asked_for(self):
        self.assert_word(self.run_model("GivesNan"), "eager_two_runs_differ")
        self.assert_word(self.run_model("GivesNan", precision="bfloat16",
                                        effective_precision="bfloat16"), "pass", "passed")

    def test_seeds_make_random_models_repeatable(self):
        self.assert_word(self.run_model("RandomWithDropout"), "pass", "passed",
                         accuracy_rule="equal")

    def test_majority_of_several_runs(self):
        # Compilations 2 and 4 are wrong: two of five, then (in another process) one of two.
        five = self.run_model("Small", "wrong_twice", rules=dict(compiled_runs=5))
        self.assert_word(five, "pass", "passed", error="")
        self.assertIn("3 of 5 compiled runs agree", self.notes(five))
        two = self.run_model("Small", "wrong_twice", rules=dict(compiled_runs=2))
        self.assert_word(two, "fail_accuracy", accuracy_rule="rmse")

    def test_large_models_are_passed_over_before_anything_runs(self):
        attempt = self.run_model("NeverLoads", rules=dict(large_model="90 GB"))
        self.assert_word(attempt, "pass_due_to_skip", "passed", blame="none")
        self.assertEqual(attempt.phases, ["prepare", "report"])
        self.assertIn("90 GB", attempt.result["detail"])

    def test_quantized_models_are_not_compared(self):
        attempt = self.run_model("NeverLoads", options=dict(quantization="int8dynamic"))
        if attempt.result["outcome"] == "skipped":  # without torchao there is nothing to pass over
            return self.assertIn("torchao", attempt.result["error"])
        return self.assert_word(attempt, "pass_due_to_skip", "passed", blame="none")

    def test_check_that_is_skipped(self):
        attempt = self.run_model("Small", "adds_one", rules=dict(skip_check=True))
        self.assert_word(attempt, "pass_due_to_skip", "passed", error="")
        self.assertAlmostEqual(attempt.result["metrics"]["accuracy_distance"], 1, places=5)
        self.assertIn("passed over", self.notes(attempt))

    def test_eager_that_differs_counts_as_pass_for_a_model_that_is_not_deterministic(self):
        attempt = self.run_small("DiffersBetweenRuns", "accuracy", rules=dict(non_deterministic=True))
        self.assert_word(attempt, "pass", "passed", error="")
        self.assertIn("eager_two_runs_differ recorded as pass", self.notes(attempt))

    def test_largest_multiplier_for_folded_convolutions(self):
        fields = dict(precision="bfloat16", effective_precision="bfloat16")
        frozen = self.run_model("Small", "folds_a_convolution", options=dict(freezing=True), **fields)
        self.assert_word(frozen, "pass", "passed", accuracy_rule="rmse")
        self.assertEqual(frozen.result["metrics"]["accuracy_multiplier"], 10)
        self.assertEqual(frozen.result["in_force"]["accuracy.force_max_multiplier"], "True")
        self.assert_word(self.run_model("Small", "folds_a_convolution", **fields), "fail_accuracy")

    def test_masks_by_intersection_over_union(self):
        self.assert_word(self.run_model("Mask"), "fail_accuracy", accuracy_rule="bool")
        iou = dict(iou_threshold=0.95)
        attempt = self.run_model("Mask", rules=iou)
        if "knows no intersection over union" in self.notes(attempt):
            return self.assert_word(attempt, "fail_accuracy", accuracy_rule="bool")
        self.assert_word(attempt, "pass", "passed", accuracy_rule="iou")
        return self.assert_word(self.run_model("VeryDifferentMask", rules=iou), "fail_accuracy",
                                accuracy_rule="iou")

    def test_deterministic_algorithms_are_on_unless_a_rule_leaves_them_off(self):
        on = self.run_model("ChecksDeterminism").result
        off = self.run_model("ChecksDeterminism", rules=dict(deterministic_algorithms=False)).result
        self.assertEqual(on["in_force"]["torch.deterministic_algorithms"], "True")
        self.assertEqual(off["in_force"]["torch.deterministic_algorithms"], "False")
        timed = self.run_model("Small", test="performance", repeat=2, deterministic=True).result
        self.assertEqual(timed["in_force"]["torch.deterministic_algorithms"], "True")

    def test_amp(self):
        self.assert_word(self.run_model("Small", precision="amp", effective_precision="amp"), "pass",
                         "passed", accuracy_rule="equal")


    def test_the_reference_of_a_model_that_draws_is_another_draw(self):
        # As upstream, which seeds the runs that are compared and not the reference: so an error of
        # one percent drowns in what eager differs by from it, and shows where nothing is drawn.
        strict = dict(rules=dict(tolerance=1e-3))
        self.assert_word(self.run_model("Small", "folds_a_convolution", **strict), "fail_accuracy")
        self.assert_word(self.run_model("Draws", "folds_a_convolution", **strict), "pass", "passed",
                         accuracy_rule="rmse")


class AccuracyTraining(WithJudgedModels):
    def train(self, model, backend="eager", optimizer="sgd", **fields):
        return self.run_model(model, backend, mode="training", model_mode="train",
                              optimizer=optimizer, **fields)

    def test_pass_with_and_without_an_optimizer(self):
        for optimizer in ("none", "sgd", "adam"):
            with self.subTest(optimizer):
                attempt = self.train("Small", optimizer=optimizer)
                self.assert_word(attempt, "pass", "passed")
                self.assertEqual(attempt.result["in_force"]["accuracy.reference"], "float64")

    def test_every_kind_of_result_is_compared(self):
        # Without an optimizer nothing but the kind itself can differ.
        for model, path in (("WrongLoss", "loss"), ("WrongGradient", "gradients.layer."),
                            ("WrongBuffer", "buffers.seen"),
                            ("WrongInputGradient", "input_gradients[0]")):
            with self.subTest(model):
                attempt = self.train(model, optimizer="none", rules=dict(tolerance=1e-4))
                result = self.assert_word(attempt, "fail_accuracy", blame="compiler")
                self.assertTrue(result["error"].startswith(path), result["error"])

    def test_wrong_gradient_reaches_the_parameters_through_the_optimizer(self):
        result = self.assert_word(self.train("WrongGradient", optimizer="sgd",
                                             rules=dict(tolerance=1e-6)), "fail_accuracy")
        self.assertRegex(result["error"], "^(gradients|parameters)")

    def test_inference_does_not_see_a_wrong_gradient(self):
        self.assert_word(self.run_model("WrongGradient"), "pass", "passed")


class BatchInvariance(WithJudgedModels):
    def run_model(self, model, backend="eager", batch_size=8, **fields):
        return super().run_model(model, backend, batch_invariant=True, batch_size=batch_size,
                                 **fields)

    def test_words(self):
        self.assert_word(self.run_model("DoesNotDependOnBatch"), "pass", "passed",
                         accuracy_rule="bitwise")
        attempt = self.run_model("DependsOnBatch")
        self.assert_word(attempt, "fail_batch_invariance_at_4", blame="compiler",
                         accuracy_rule="bitwise")
        self.assertGreater(attempt.result["metrics"]["accuracy_distance"], 0)
        attempt = self.run_model("DoesNotDependOnBatch", "not_for_one")
        self.assert_word(attempt, "fail_to_run_at_batch_1", blame="compiler", phase="compile")

    def test_odd_sizes_are_halved_downwards(self):
        self.assert_word(self.run_model("DependsOnBatch", batch_size=7), "fail_batch_invariance_at_3")

    def test_what_is_passed_over(self):
        for model, fields, reason in (
                ("DependsOnBatch", dict(batch_size=1), "batch size 1"),
                ("DependsOnBatch", dict(rules=dict(eager_not_deterministic=True)),
                 "not deterministic"),
                ("DependsOnBatch", dict(rules=dict(non_deterministic=True)), "not deterministic")):
            with self.subTest(str(fields)):
                attempt = self.run_model(model, **fields)
                self.assert_word(attempt, "pass_due_to_skip", "passed")
                self.assertIn(reason, attempt.result["detail"])


class SavedOutputs(WithJudgedModels):
    def test_bit_by_bit_across_runs(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        loose = dict(rules=dict(tolerance=1e-2), compare_outputs_with=folder)
        missing = self.run_model("Small", compare_outputs_with=folder)
        self.assert_word(missing, "option_refused", blame="none")
        self.assertIn("save outputs of this model there first", missing.result["error"])
        self.assert_word(self.run_model("Small", save_outputs_to=folder), "pass", "passed")
        self.assertEqual(len(os.listdir(folder)), 1)
        self.assert_word(self.run_model("Small", **loose), "pass", "passed")
        other = self.run_model("Small", "last_bit", **loose)
        self.assert_word(other, "not_bitwise_equivalent", blame="compiler", phase="verify")
        self.assertRegex(other.result["error"], r"output.* differs in \d+ of \d+ bytes")
        # Within the tolerance it is: only the bits differ.
        self.assert_word(self.run_model("Small", "last_bit", rules=dict(tolerance=1e-2)), "pass",
                         "passed")

    def test_training_outputs(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        fields = dict(mode="training", model_mode="train", rules=dict(tolerance=10.0))
        self.assert_word(self.run_model("WrongGradient", save_outputs_to=folder, **fields), "pass",
                         "passed")
        self.assert_word(self.run_model("WrongGradient", compare_outputs_with=folder, **fields),
                         "pass", "passed")
        other = self.run_model("WrongGradient", "nothing", compare_outputs_with=folder, **fields)
        self.assert_word(other, "not_bitwise_equivalent")
        # Another model's outputs are no answer.
        self.assert_word(self.run_model("Small", compare_outputs_with=folder, **fields),
                         "option_refused")

    def test_relative_folder_is_refused(self):
        self.assert_word(self.run_model("Small", save_outputs_to="here"), "option_refused")


class Distances(WithJudgedModels):
    def test_tolerance(self):
        same = self.run_model("Small", test="tolerance")
        self.assert_word(same, "measured", "passed", blame="none")
        self.assertEqual({k: same.result["metrics"][k] for k in (
            "tolerance_max", "tolerance_mean", "tolerance_std")},
            dict(tolerance_max=0, tolerance_mean=0, tolerance_std=0))
        wrong = self.run_model("Small", "adds_one", test="tolerance").result["metrics"]
        # |a - b| is 1 everywhere, and about half of a relu's outputs are 0.
        self.assertAlmostEqual(wrong["tolerance_max"], 1, places=5)
        self.assertTrue(0.5 < wrong["tolerance_mean"] < 1, wrong)
        self.assertGreater(wrong["tolerance_std"], 0)
        self.assertNotIn("eager_ns", same.result)

    def test_tolerance_of_a_compiler_that_raises(self):
        self.assert_word(self.run_model("Small", "out_of_memory", test="tolerance"), "OOM",
                         phase="compile", blame="compiler")

    def test_batch_size(self):
        for model, size in (("LargestBatch", 16), ("LargestBatchOfThree", 3)):
            with self.subTest(model):
                attempt = self.run_model(model, test="batch_size", batch_size=64)
                self.assert_word(attempt, "measured", "passed", batch_size=size, weights="random")
                self.assertIn("batch size 1024: RuntimeError", self.notes(attempt))

    def test_no_batch_size(self):
        attempt = self.run_model("NoBatchFits", test="batch_size")
        self.assert_word(attempt, "eager_1st_run_OOM", blame="eager", phase="eager")


class Diagnostics(WithJudgedModels):
    KINDS = ["trace", "logs", "compile_debug", "profiler", "memory_snapshot", "operator_inputs"]

    def files(self, attempt):
        return [path.partition("/artifacts/")[2] for path in attempt.result["artifacts"]]

    def test_every_kind_leaves_its_files_and_no_samples(self):
        attempt = self.run_model("Small", "inductor", test="performance", diagnostics=self.KINDS)
        result = self.assert_word(attempt, "diagnosed", "passed")
        self.assertNotIn("eager_ns", result)
        self.assertNotIn("speedup", result["metrics"])
        self.assertEqual(result["metrics"]["unique_graphs"], 1)
        files = self.files(attempt)
        for start, word in (("trace/", ".log"), ("logs/", "torch.log"),
                            ("compile_debug/", "output_code.py"), ("profiler/", "compiled.trace"),
                            ("operator_inputs/", ".json")):
            self.assertTrue(any(f.startswith(start) and word in f for f in files), (start, files))
        self.assertIn("memory_snapshot: only CUDA", self.notes(attempt))
        self.assertNotIn("[__output_code]", attempt.stderr)
        path = {f: p for f, p in zip(files, result["artifacts"])}
        with open(path["operator_inputs/operator_inputs.json"]) as file:
            self.assertIn("aten.addmm.default", json.load(file))
        with gzip.open(path["profiler/compiled.trace.json.gz"]) as file:
            self.assertTrue(json.load(file)["traceEvents"])

    def test_what_was_recorded_before_a_failure_is_there(self):
        attempt = self.run_model("Small", "out_of_memory", diagnostics=["trace"])
        self.assert_word(attempt, "OOM")
        self.assertTrue(self.files(attempt), "no trace")

    def test_accuracy_keeps_its_word(self):
        attempt = self.run_model("Small", "adds_one", diagnostics=["operator_inputs"])
        self.assert_word(attempt, "fail_accuracy")
        self.assertEqual(self.files(attempt), ["operator_inputs/operator_inputs.json"])

    def test_cache_alone_is_timed(self):
        attempt = self.run_model("Small", test="performance", repeat=2, diagnostics=["cache"])
        self.assert_word(attempt, "measured", "passed")

    def test_unknown_kind(self):
        attempt = self.run_model("Small", diagnostics=["traces"])
        self.assert_word(attempt, "option_refused")
        self.assertIn("memory_snapshot", attempt.result["error"])


class Minifier(WithJudgedModels):
    def test_repro_of_a_wrong_kernel(self):
        """Inductor's own test fault: its C++ relu is wrong."""
        attempt = self.run_model(
            "Small", "inductor", minify=True,
            options=dict(inductor_config={"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}))
        self.assert_word(attempt, "fail_accuracy", blame="compiler", phase="verify")
        self.assertIn("minifier: repro.py is kept", self.notes(attempt))
        repro = next(p for p in attempt.result["artifacts"] if p.endswith("minifier/repro.py"))
        with open(repro) as file:
            self.assertIn("relu", file.read())

    def test_compiler_that_only_this_process_knows(self):
        attempt = self.run_model("Small", "adds_one", minify=True)
        self.assert_word(attempt, "fail_accuracy")
        self.assertIn("minifier: it made no repro", self.notes(attempt))
        self.assertTrue(any("minifier_launcher.py" in p for p in attempt.result["artifacts"]))

    def test_nothing_to_minify_after_a_pass(self):
        attempt = self.run_model("Small", minify=True)
        self.assert_word(attempt, "pass", "passed")
        self.assertEqual(attempt.result["artifacts"], [])


class Comparisons(WithJudgedModels):
    """As many generated comparisons as DYNBENCH_COMPARISONS says: both judges agree on each."""

    def test_generated_comparisons_agree_with_same(self):
        count = os.environ.get("DYNBENCH_COMPARISONS", "2000")
        seed = os.environ.get("DYNBENCH_SEED", str(int.from_bytes(os.urandom(3), "big")))
        print("seed %s: DYNBENCH_SEED=%s repeats this run" % (seed, seed))
        attempt = self.run_small(
            "Compared", repeat=2, model_file=os.path.join(HERE, "models", "generated_comparisons.py"),
            set_env={"DYNBENCH_MODEL_COMPARISONS": count, "DYNBENCH_MODEL_SEED": seed})
        self.assert_word(attempt, "measured", "passed")
        print(attempt.stdout)
        self.assertIn("compared %s outputs" % count, attempt.stdout)


if __name__ == "__main__":
    unittest.main()
