"""The real runner with real models, spoken to as the worker does.

Most tests use models of milliseconds and the compiler backend "eager", because what they prove is
the runner's: phases, statuses, process trees, options. One class uses inductor and a TIMM model.

Needs DYNBENCH_RUNNER (the program) and DYNBENCH_PYTHON (its environment's interpreter).
"""

import os
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest

import runner_driver
from runner_driver import Runner, experiment

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = os.path.join(HERE, "..", "..", "..", "suites")
SMALL = os.path.join(HERE, "models", "small.py")
PROGRAM, PYTHON = os.environ["DYNBENCH_RUNNER"], os.environ["DYNBENCH_PYTHON"]


def small(model, test="performance", backend="eager", options=None, **fields):
    fields.setdefault("precision", "float32")
    return experiment(model, test, "path", dict(options or {}, backend=backend), **fields)


def state(pid):
    """The letter in /proc, "X" when there is no such process."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def alive(pid):
    return state(pid) not in "ZX"


def until(condition, limit_s=20):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)  # tidy: allow, the pause of the polling loop
    return True


class WithRunner(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = Runner(PROGRAM, PYTHON)
        if cls.runner.ready["type"] != "ready":
            raise AssertionError(cls.runner.ready)
        cls.lane = cls.runner.lane()
        cls.folder = tempfile.mkdtemp(prefix="dynbench runner ü ")

    @classmethod
    def tearDownClass(cls):
        status = cls.runner.close()
        shutil.rmtree(cls.folder)
        if status != 0:
            raise AssertionError("the zygote ended with %s" % status)

    def run_small(self, model, *args, model_file=SMALL, lane=None, more=None, **fields):
        work_dir = tempfile.mkdtemp(dir=self.folder)
        return (lane or self.lane).run(small(model, *args, **fields), model_file=model_file,
                                       work_dir=work_dir, **(more or {}))

    def assert_result(self, attempt, **wanted):
        self.assertIsNotNone(attempt.result, attempt.stderr)
        found = {k: attempt.result.get(k) for k in wanted}
        self.assertEqual(found, wanted, attempt.result.get("detail") or attempt.stderr)


class Performance(WithRunner):
    def test_thirty_pairs_and_every_figure(self):
        attempt = self.run_small("Small")
        self.assert_result(attempt, outcome="passed", status="measured", blame="none",
                           phase="report", batch_size=2, weights="random")
        result, metrics = attempt.result, attempt.result["metrics"]
        self.assertEqual(attempt.phases, ["prepare", "load", "eager", "compile", "ready",
                                          "measure", "report"])
        self.assertEqual([p["phase"] for p in result["phases"]], attempt.phases)
        self.assertEqual((len(result["eager_ns"]), len(result["compiled_ns"])), (30, 30))
        self.assertTrue(all(ns > 0 for ns in result["eager_ns"] + result["compiled_ns"]))
        eager, compiled = sorted(result["eager_ns"]), sorted(result["compiled_ns"])
        self.assertAlmostEqual(metrics["abs_latency_ms"], (compiled[14] + compiled[15]) / 2e6)
        self.assertAlmostEqual(metrics["speedup"],
                               (eager[14] + eager[15]) / (compiled[14] + compiled[15]))
        for name in ("compilation_latency_s", "compile_synchronized_s", "compression_ratio",
                     "eager_peak_memory_bytes", "compiled_peak_memory_bytes",
                     "eager_phase_peak_bytes", "compiled_phase_peak_bytes", "eager_spread",
                     "compiled_spread", "cudagraph_skips", "fallbacks_to_eager"):
            self.assertIn(name, metrics)
        self.assertEqual((metrics["unique_graphs"], metrics["graph_breaks"]), (1, 0))
        self.assertEqual(attempt.exited["code"], 0)
        self.assertGreater(attempt.exited["max_rss_bytes"], 50e6)
        begin, end = attempt.spans["compiled_warm_up"]
        self.assertGreater(end, begin)

    def test_fields_of_the_experiment_are_obeyed(self):
        attempt = self.run_small("Small", repeat=3, batch_size=5, threads=1, precision="bfloat16",
                                 iterations_per_run=2, randomize_input=True)
        self.assert_result(attempt, outcome="passed", batch_size=5, threads=1)
        self.assertEqual(len(attempt.result["compiled_ns"]), 3)
        self.assertEqual(attempt.result["in_force"]["torch.num_threads"], "1")

    def test_pairs_are_added_until_the_target_is_met(self):
        attempt = self.run_small("Small", target_precision=0.5, precision_budget_ms=20_000)
        self.assert_result(attempt, outcome="passed", status="measured")
        metrics = attempt.result["metrics"]
        self.assertLessEqual(metrics["precision_reached"], 0.5)
        self.assertEqual(metrics["precision_budget_spent"], 0)
        self.assertEqual(metrics["timed_pairs"], len(attempt.result["eager_ns"]))
        # Two pairs have no interval at all, so blocks of two follow.
        attempt = self.run_small("Small", repeat=2, target_precision=0.5,
                                 precision_budget_ms=20_000)
        metrics, result = attempt.result["metrics"], attempt.result
        self.assertLessEqual(metrics["precision_reached"], 0.5, result["notes"])
        self.assertGreaterEqual(metrics["timed_pairs"], 6)
        self.assertEqual(len(result["compiled_ns"]), metrics["timed_pairs"])
        self.assertEqual(metrics["timed_pairs"] % 2, 0)
        self.assertEqual(attempt.windows, ["ready"], "all of it is in one window")

    def test_page_faults_of_a_call_and_the_profile_without_them(self):
        by_default = self.run_small("TakesMemory")
        self.assert_result(by_default, outcome="passed", status="measured")
        profile = os.path.join(SUITES, "profiles", "steady-heap.yaml")
        with open(profile, encoding="utf-8") as file:
            settings = dict(re.findall(r'^  (\w+): "(\d+)"$', file.read(), re.M))
        self.assertIn("MALLOC_MMAP_MAX_", settings)
        runner = Runner(PROGRAM, PYTHON, environment={**os.environ, **settings})
        try:
            steady = self.run_small("TakesMemory", lane=runner.lane())
        finally:
            self.assertEqual(runner.close(), 0)
        self.assert_result(steady, outcome="passed", status="measured")
        for side in ("eager", "compiled"):
            name = side + "_page_faults"
            faults = by_default.result["metrics"][name], steady.result["metrics"][name]
            # 12,288 and none; where the kernel gives huge pages to everybody, 24 and none.
            self.assertGreater(faults[0], 10 * (faults[1] + 1), side)

    def test_the_budget_ends_what_cannot_be_met(self):
        attempt = self.run_small("Small", target_precision=1e-9, precision_budget_ms=300)
        self.assert_result(attempt, outcome="passed", status="measured")
        result, metrics = attempt.result, attempt.result["metrics"]
        self.assertEqual(metrics["precision_budget_spent"], 1)
        self.assertGreater(metrics["precision_reached"], 1e-9)
        if metrics["timed_pairs"] == 30:  # a host that became loud after a quiet first pass
            self.assertTrue([n for n in result["notes"] if "further pairs were dropped" in n], result)
        self.assertEqual(len(result["eager_ns"]), metrics["timed_pairs"])
        compiled = sorted(result["compiled_ns"])
        middle = (compiled[(len(compiled) - 1) // 2] + compiled[len(compiled) // 2]) / 2e6
        self.assertAlmostEqual(metrics["abs_latency_ms"], middle, msg="the median of all of them")

    def test_without_a_target_there_are_no_more(self):
        metrics = self.run_small("Small").result["metrics"]
        self.assertEqual(metrics["timed_pairs"], 30)
        self.assertGreater(metrics["precision_reached"], 0)
        self.assertNotIn("precision_budget_spent", metrics)

    def test_cores_are_set_and_told(self):
        core = sorted(os.sched_getaffinity(0))[-1]
        attempt = self.run_small("Small", more=dict(cores=[core]))
        self.assert_result(attempt, outcome="passed", cores=str(core), threads=1)
        self.assertEqual(attempt.result["in_force"]["affinity"], str(core))

    def test_guard_miss_is_an_invalid_row_and_never_a_timed_eager_call(self):
        attempt = self.run_small("MissesGuard")
        self.assert_result(attempt, outcome="failed", status="guard_miss", blame="compiler",
                           phase="measure")
        self.assertNotIn("speedup", attempt.result["metrics"])

    def test_thread_count_that_changes_in_the_window_is_an_invalid_row(self):
        attempt = self.run_small("ChangesThreads")
        self.assert_result(attempt, outcome="failed", status="guard_miss", phase="measure")
        self.assertIn("num_threads", attempt.result["error"] + attempt.result["detail"])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core")
    def test_core_mask_that_changes_in_the_window_is_an_invalid_row(self):
        attempt = self.run_small("ChangesCores")
        self.assert_result(attempt, outcome="failed", status="window_invalid", phase="measure")
        self.assertIn("may use cores", attempt.result["error"])
        self.assertNotIn("speedup", attempt.result["metrics"])

    def test_dynamic_batch(self):
        dynamic = dict(dynamic_shapes=True, dynamic_batch_only=True)
        attempt = self.run_small("Small", options=dynamic, batch_size=4)
        self.assert_result(attempt, outcome="passed", status="measured")
        for test in ("performance", "accuracy"):  # accuracy compiles for clones of the inputs
            attempt = self.run_small("Small", test, backend="dynamic_only", options=dynamic,
                                     batch_size=4)
            self.assert_result(attempt, outcome="passed")
        attempt = self.run_small("NoBatch", options=dynamic)
        self.assert_result(attempt, outcome="passed", batch_size=0)
        self.assertIn("nothing marked dynamic", " ".join(attempt.result["notes"]))


class Accuracy(WithRunner):
    def test_pass(self):
        attempt = self.run_small("Small", "accuracy")
        self.assert_result(attempt, outcome="passed", status="pass", blame="none", phase="report",
                           accuracy_rule="equal")
        self.assertEqual(attempt.phases, ["prepare", "load", "eager", "reference", "compile",
                                          "verify", "report"])
        self.assertEqual(len(attempt.result["accuracy_function_hash"]), 16)
        self.assertEqual(attempt.result["metrics"]["accuracy_distance"], 0)
        self.assertEqual(attempt.result["metrics"]["accuracy_tolerance"], 1e-3)

    def test_wrong_result(self):
        attempt = self.run_small("WrongWhenCompiled", "accuracy")
        self.assert_result(attempt, outcome="failed", status="fail_accuracy", blame="compiler",
                           phase="verify", accuracy_rule="rmse")
        self.assertAlmostEqual(attempt.result["metrics"]["accuracy_distance"], 1, places=5)
        self.assertIn("differs from eager by up to 1", attempt.result["error"])

    def test_wrong_result_of_a_model_that_is_not_deterministic_counts_as_pass(self):
        attempt = self.run_small("WrongWhenCompiled", "accuracy",
                                 rules=dict(non_deterministic=True))
        self.assert_result(attempt, outcome="passed", status="pass")
        self.assertIn("recorded as pass", " ".join(attempt.result["notes"]))

    def test_eager_that_does_not_repeat(self):
        attempt = self.run_small("DiffersBetweenRuns", "accuracy")
        self.assert_result(attempt, outcome="failed", status="eager_two_runs_differ",
                           blame="eager", phase="eager")

    def test_eager_that_is_known_not_to_repeat_is_passed_as_skipped(self):
        attempt = self.run_small("DiffersBetweenRuns", "accuracy",
                                 rules=dict(eager_not_deterministic=True))
        self.assert_result(attempt, outcome="passed", status="pass_due_to_skip", blame="none")

    def test_compiler_that_raises(self):
        attempt = self.run_small("Small", "accuracy", backend="raising")
        self.assert_result(attempt, outcome="failed", status="fail_to_run", blame="compiler",
                           phase="compile")

    def test_out_of_memory_when_compiled(self):
        attempt = self.run_small("Small", "accuracy", backend="out_of_memory")
        self.assert_result(attempt, outcome="failed", status="OOM", blame="compiler",
                           phase="compile")

    def test_own_comparison_agrees_with_same(self):
        attempt = self.run_small("ComparisonTable", repeat=2, model_file=os.path.join(
            HERE, "models", "comparison_table.py"))
        self.assert_result(attempt, outcome="passed")
        self.assertIn("compared", attempt.stdout)


class BrokenModels(WithRunner):
    def test_raises_in_forward(self):
        attempt = self.run_small("RaisesInForward")
        self.assert_result(attempt, outcome="failed", status="eager_fail_to_run", blame="model",
                           phase="load", error="ValueError: this model never ran")
        self.assertIn("small.py", attempt.result["detail"])

    def test_without_forward_or_class(self):
        self.assert_result(self.run_small("NoForward"), status="eager_fail_to_run", blame="model")
        attempt = self.run_small("Smal")
        self.assert_result(attempt, status="eager_fail_to_run", phase="load")
        self.assertIn("Small", attempt.result["error"])

    def test_not_implemented(self):
        self.assert_result(self.run_small("Unsupported"), status="model_fail_to_load",
                           outcome="failed", blame="model")

    def test_compiler_that_raises(self):
        attempt = self.run_small("Small", backend="raising")
        self.assert_result(attempt, outcome="failed", status="fail_to_run", blame="compiler",
                           phase="compile")
        self.assertIn("only eager runs", attempt.result["error"])

    def assert_crash(self, attempt, phase, **exited):
        self.assertIsNone(attempt.result)
        self.assertEqual(attempt.phases[-1], phase)
        self.assertEqual({k: attempt.exited[k] for k in exited}, exited)
        # The lane is none the worse for it.
        self.assert_result(self.run_small("Small", repeat=1), outcome="passed")

    def test_exit_zero(self):
        self.assert_crash(self.run_small("ExitsQuietly"), "load", code=0, signal=0)

    def test_sys_exit(self):
        self.assert_crash(self.run_small("ExitsInLoad"), "load", code=2, signal=0)

    def test_segmentation_fault_leaves_its_stack(self):
        attempt = self.run_small("Segfaults")
        self.assert_crash(attempt, "load", code=-1, signal=signal.SIGSEGV)
        self.assertIn("Segmentation fault", attempt.stderr)
        self.assertIn("small.py", attempt.stderr)

    def test_sigkill(self):
        self.assert_crash(self.run_small("KillsItself"), "load", code=-1, signal=signal.SIGKILL)


class Processes(WithRunner):
    def start(self, model, lane=None):
        work_dir = tempfile.mkdtemp(dir=self.folder)
        attempt = (lane or self.lane).start(small(model), model_file=SMALL, work_dir=work_dir)
        attempt.until_phase("load")
        return attempt, work_dir

    def pids(self, work_dir):
        """Of what the model left behind, once it did."""
        paths = [os.path.join(work_dir, name) for name in ("sleeper.pid", "daemon.pid")]
        self.assertTrue(until(lambda: all(os.path.exists(p) and open(p).read() for p in paths), 60))
        return [int(open(p).read()) for p in paths]

    def test_kill_dumps_the_stack_and_takes_the_whole_tree(self):
        attempt, work_dir = self.start("Hangs")
        left = self.pids(work_dir)
        self.assertTrue(until(lambda: b"hanging" in attempt.out.data))
        self.assertTrue(all(map(alive, left)))
        attempt.kill(grace_ms=300)
        attempt.finish(30)
        self.assertIsNone(attempt.result)
        self.assertEqual(attempt.exited["signal"], signal.SIGKILL)
        self.assertGreaterEqual(attempt.exited["descendants_killed"], 2)
        self.assertFalse(any(map(alive, left + [attempt.pid])))
        self.assertIn("in forward", attempt.stderr)
        self.assertIn("most recent call first", attempt.stderr)

    def test_frozen_tree_is_killed_without_being_thawed(self):
        attempt, work_dir = self.start("Hangs")
        left = self.pids(work_dir)
        for pid in left + [attempt.pid]:
            os.kill(pid, signal.SIGSTOP)
        self.assertTrue(until(lambda: all(state(p) == "T" for p in left + [attempt.pid])))
        attempt.kill(grace_ms=0)
        attempt.finish(10)
        self.assertEqual(attempt.exited["signal"], signal.SIGKILL)
        self.assertNotIn("most recent call first", attempt.stderr)
        self.assertFalse(any(map(alive, left + [attempt.pid])))

    def test_nothing_outlives_an_attempt_that_ends_by_itself(self):
        attempt, work_dir = self.start("LeavesProcesses")
        left = self.pids(work_dir)
        attempt.finish()
        self.assert_result(attempt, outcome="passed")
        self.assertEqual(attempt.exited["descendants_killed"], 2)
        self.assertFalse(any(map(alive, left)))

    def test_lane_whose_socket_closes_leaves_nothing(self):
        lane = self.runner.lane()
        attempt, work_dir = self.start("Hangs", lane)
        everything = self.pids(work_dir) + [attempt.pid, lane.pid]
        self.assertTrue(all(map(alive, everything)))
        lane.close()
        self.assertTrue(until(lambda: not any(map(alive, everything))), everything)

    def test_lane_that_is_killed_leaves_nothing(self):
        lane = self.runner.lane()
        attempt, work_dir = self.start("Hangs", lane)
        everything = self.pids(work_dir) + [attempt.pid]
        os.kill(lane.pid, signal.SIGKILL)
        self.assertTrue(until(lambda: not any(map(alive, everything))), everything)
        # Neither the zygote nor the other lane suffered.
        self.assert_result(self.run_small("Small", repeat=1), outcome="passed")

    def test_one_attempt_at_a_time(self):
        attempt, work_dir = self.start("Hangs")
        self.pids(work_dir)
        with self.assertRaisesRegex(AssertionError, "one attempt at a time"):
            self.lane.start(small("Small"), model_file=SMALL)
        attempt.kill(grace_ms=0)
        attempt.wait_exit(10)


class Options(WithRunner):
    def test_in_force_in_one_child_and_not_in_the_next(self):
        given = self.run_small("Small", repeat=1, options=dict(
            inductor_config={"epilogue_fusion": "false", "cpp.min_chunk_size": "77"},
            dynamo_config={"recompile_limit": "3"}),
            set_env={"TORCHINDUCTOR_FREEZING": "1", "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
                     "TORCHINDUCTOR_COMPILE_THREADS": "1", "DYNBENCH_MODEL_X": "y"})
        self.assert_result(given, outcome="passed")
        wanted = {"inductor.epilogue_fusion": "False", "inductor.cpp.min_chunk_size": "77",
                  "dynamo.recompile_limit": "3", "inductor.freezing": "True",
                  "inductor.max_autotune": "True", "inductor.compile_threads": "1",
                  "env.TORCHINDUCTOR_FREEZING": "1", "env.DYNBENCH_MODEL_X": "y"}
        in_force = given.result["in_force"]
        self.assertEqual({k: in_force.get(k) for k in wanted}, wanted)
        after = self.run_small("Small", repeat=1).result["in_force"]
        self.assertEqual((after["inductor.freezing"], after["inductor.max_autotune"]),
                         ("False", "False"))
        self.assertFalse([k for k in after if k in ("inductor.epilogue_fusion",
                                                    "env.TORCHINDUCTOR_FREEZING")])

    def refused(self, *words, **fields):
        attempt = self.run_small("Small", **fields)
        self.assert_result(attempt, outcome="failed", status="option_refused", phase="prepare",
                           blame="none")
        for word in words:
            self.assertIn(word, attempt.result["error"])

    def test_unknown_key_names_the_nearest(self):
        self.refused("max_autotun", "nearest: max_autotune",
                     options=dict(inductor_config={"max_autotun": "1"}))

    def test_value_of_a_wrong_type(self):
        self.refused("expected true or false",
                     options=dict(inductor_config={"freezing": "perhaps"}))

    def test_variables_without_effect(self):
        self.refused("launch profile", set_env={"OMP_NUM_THREADS": "1"})
        self.refused("TORCHINDUCTOR_FREEZING", set_env={"TORCHINDUCTOR_FREEZIN": "1"})
        self.refused("set by dynbench", set_env={"TORCHINDUCTOR_CACHE_DIR": "/elsewhere"})

    def test_unknown_backend(self):
        attempt = self.run_small("Small", backend="inducter")
        self.assert_result(attempt, outcome="failed", status="option_refused")
        self.assertIn("nearest: inductor", attempt.result["error"])


class Zygotes(unittest.TestCase):
    def changed_shims(self, text):
        """A copy of the shims whose imports end with `text`."""
        folder = os.path.join(tempfile.mkdtemp(), "shims")
        shutil.copytree(runner_driver.SHIMS, folder)
        self.addCleanup(shutil.rmtree, os.path.dirname(folder))
        with open(os.path.join(folder, "imports.py"), "a") as file:
            file.write("\n\n_whole = import_all\n\n\ndef import_all():\n    versions = _whole()\n"
                       "    import os, threading, torch\n    %s\n    return versions\n" % text)
        return folder

    def test_ready_tells_no_operation_and_one_thread(self):
        runner = Runner(PROGRAM, PYTHON)
        self.assertEqual(runner.ready["type"], "ready")
        self.assertEqual((runner.ready["threads"], runner.ready["tensor_operations"]), (1, 0))
        self.assertEqual(runner.close(), 0)

    def test_a_tensor_operation_before_a_fork_ends_the_zygote(self):
        runner = Runner(PROGRAM, PYTHON, shims=self.changed_shims(
            "os.register_at_fork(before=lambda: torch.ones(3) + 1)"))
        lane = runner.lane()  # its fork is what runs the operation
        with self.assertRaisesRegex(AssertionError, "tensor operations ran"):
            lane.start(small("Small"), model_file=SMALL)
        with self.assertRaisesRegex(AssertionError, "tensor operations ran"):
            runner.lane()
        self.assertEqual(runner.close(), 4)

    def test_a_second_thread_ends_the_zygote(self):
        runner = Runner(PROGRAM, PYTHON, shims=self.changed_shims(
            "threading.Thread(target=threading.Event().wait, daemon=True).start()"))
        self.assertEqual(runner.ready["type"], "failed")
        self.assertIn("2 threads", runner.ready["error"])
        self.assertEqual(runner.close(), 4)

    def test_environment_that_cannot_be_imported(self):
        runner = Runner(PROGRAM, PYTHON, shims=self.changed_shims("import no_such_library"))
        self.assertEqual(runner.ready["type"], "failed")
        self.assertIn("no_such_library", runner.ready["error"])
        self.assertEqual(runner.close(), 3)

    def test_another_environment_is_noticed(self):
        runner = Runner(PROGRAM, "/nowhere/bin/python")
        self.assertEqual(runner.ready["type"], "failed")
        self.assertEqual(runner.close(), 3)


class Inductor(WithRunner):
    """Real compilation: cold, warm, and a model of the TIMM suite."""

    def run_timm(self, test, cache_dir, **fields):
        return self.lane.run(experiment("mobilenetv2_100", test, batch_size=1, **fields),
                             work_dir=tempfile.mkdtemp(dir=self.folder), cache_dir=cache_dir)

    def test_cold_then_prepared_then_warm(self):
        cache = tempfile.mkdtemp(dir=self.folder)
        prepared = self.run_small("Small", backend="inductor",
                                  more=dict(prepare=True, cache_dir=cache))
        self.assert_result(prepared, outcome="passed", status="prepared")
        self.assertNotIn("measure", prepared.phases)
        proof = prepared.result["start_proof"]
        self.assertEqual((proof["cache_files_before"], proof["cache_hits"]), (0, 0))
        self.assertTrue(proof["proven"])
        copy = os.path.join(tempfile.mkdtemp(dir=self.folder), "copy")
        shutil.copytree(cache, copy)
        warm = self.run_small("Small", backend="inductor", start="warm", more=dict(cache_dir=copy))
        self.assert_result(warm, outcome="passed", status="measured")
        proof = warm.result["start_proof"]
        self.assertGreater(proof["cache_files_before"], 0)
        self.assertEqual((proof["cache_hits"], proof["cache_misses"], proof["proven"]),
                         (1, 0, True))
        not_cold = self.run_small("Small", backend="inductor", more=dict(cache_dir=copy))
        self.assertFalse(not_cold.result["start_proof"]["proven"])
        self.assertIn("cold start not proven", " ".join(not_cold.result["notes"]))

    def test_timm_model(self):
        cache = os.path.join(self.folder, "timm")
        os.mkdir(cache, 0o700)
        measured = self.run_timm("performance", cache)
        self.assert_result(measured, outcome="passed", status="measured", batch_size=1,
                           weights="random")
        self.assertEqual((len(measured.result["eager_ns"]), len(measured.result["compiled_ns"])),
                         (30, 30))
        self.assertGreater(measured.result["metrics"]["calls_captured"], 100)
        checked = self.run_timm("accuracy", cache, start="shared")
        self.assert_result(checked, outcome="passed", status="pass")
        self.assertIn(checked.result["accuracy_rule"], ("rmse", "tolerance", "equal"))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
