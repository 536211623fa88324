"""Every way to compile a tiny model, in the real runner: the same output as eager, its own figures,
and what the compiler tells of itself.

Needs DYNBENCH_RUNNER and DYNBENCH_PYTHON, as runner_test.py. Classes that compile much are run at
night only (tests/integration/runner/CMakeLists.txt).
"""

import json
import os
import subprocess
import textwrap
import time
import unittest

from runner_test import HERE, PYTHON, WithRunner, small

TINY = os.path.join(HERE, "models", "tiny.py")
SHIMS = os.path.abspath(os.path.join(HERE, "../../../worker/runner/shims"))
FROM_CPP = ("aot_inductor", "torchscript", "nativert")


def ask(code, *arguments):
    """What the environment's own python says."""
    done = subprocess.run([PYTHON, "-c", code, *arguments], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


class WithTiny(WithRunner):
    def tiny(self, model, test="performance", options=None, backend="inductor", **fields):
        return self.run_small(model, test, backend, model_file=TINY, options=options, **fields)

    def report(self, attempt):
        return json.loads(attempt.result["compiler_report"])


class Windows(WithTiny):
    """What the compiler benchmarks takes windows where others compile beside it, and only there."""

    def search(self, lanes, wait_s=0.0):
        whole = small("Mlp", "performance", "inductor", repeat=4, batch_size=64,
                      options=dict(max_autotune=True, freezing=True))
        attempt = self.lane.start(whole, model_file=TINY, lanes=lanes)
        attempt.window_wait_s = wait_s
        attempt.finish()
        self.assert_result(attempt, outcome="passed", status="measured")
        return attempt

    def test_waiting_for_them_is_in_no_compile_time(self):
        attempt = self.search(lanes=2, wait_s=0.3)
        metrics = attempt.result["metrics"]
        self.assertEqual(attempt.windows[-1], "ready")
        autotunings = attempt.windows[:-1]
        self.assertGreater(len(autotunings), 0)
        self.assertEqual(set(autotunings), {"compile"})
        self.assertEqual(metrics["autotune_windows"], len(autotunings))
        self.assertGreater(metrics["autotune_s"], 0)
        waited_s = 0.3 * len(autotunings)
        self.assertGreaterEqual(metrics["window_wait_s"], waited_s + 0.3)
        begin, end = attempt.spans["compiled_first_call"]
        self.assertLessEqual(metrics["compile_synchronized_s"], (end - begin) / 1e9 - waited_s)
        self.assertTrue(self.report(attempt)["autotune"]["hash"])

    def test_standing_still_for_others_is_in_no_compile_time(self):
        attempt = self.lane.start(small("Mlp", "performance", "inductor", repeat=2), model_file=TINY)
        attempt.until_phase("compile")
        begin_ns, ms = time.monotonic_ns() + 10_000_000, 1_000_000
        attempt.frozen = [[begin_ns, begin_ns + 50 * ms], [begin_ns + 40 * ms, begin_ns + 60 * ms]]
        attempt.finish()
        begin, end = attempt.spans["compiled_first_call"]
        self.assertAlmostEqual(attempt.result["metrics"]["compile_synchronized_s"], (end - begin) / 1e9 - 0.06,
                               places=6)

    def test_alone_there_is_one_window(self):
        attempt = self.search(lanes=1)
        self.assertEqual(attempt.windows, ["ready"])
        self.assertNotIn("autotune_windows", attempt.result["metrics"])

    def measure(self, lanes, flags):
        whole = small("Mlp", "performance", "eager", repeat=4)
        attempt = self.lane.start(whole, model_file=TINY, lanes=lanes)
        attempt.window_flags = list(flags)
        attempt.finish()
        self.assert_result(attempt, outcome="passed", status="measured")
        return attempt.windows

    def test_a_window_in_which_a_lane_runs_on_is_asked_for_again(self):
        self.assertEqual(self.measure(2, [8]), ["ready"] * 2)
        self.assertEqual(self.measure(2, [8] * 9), ["ready"] * 3, "and taken in the end")
        self.assertEqual(self.measure(1, [8]), ["ready"], "nobody could stand still the next time")

    def test_what_the_window_was_like_is_in_the_row(self):
        attempt = self.tiny("Mlp", backend="eager", repeat=4)
        self.assert_result(attempt, outcome="passed", status="measured")
        metrics = attempt.result["metrics"]
        for name in ("host_canary_us", "canary_spread", "canary_waits", "window_foreign_load",
                     "window_repeats", "window_wait_s", "window_flags", "timed_pairs"):
            self.assertIn(name, metrics)
        self.assertGreater(metrics["host_canary_us"], 10)
        self.assertLessEqual(metrics["window_repeats"], 2)
        self.assertEqual(metrics["window_flags"] & ~(1 | 2 | 16 | 128), 0, "what a CPU can have")
        self.assertEqual(metrics["window_flags"] & 1, int(metrics["window_foreign_load"] > 0.1))
        disturbed = [n for n in attempt.result["notes"] if n.startswith("window disturbed")]
        self.assertGreaterEqual(len(disturbed), metrics["window_repeats"])
        self.assertEqual(len(attempt.result["eager_ns"]), 4)
        for name in ("launch_canary_us", "eager_device_busy_ms"):
            self.assertNotIn(name, metrics, "there is no accelerator")


    def compile_on_one_core(self):
        core = min(os.sched_getaffinity(0))
        whole = small("Mlp", "performance", "inductor", repeat=4)
        attempt = self.lane.start(whole, model_file=TINY, cores=[core]).finish()
        self.assert_result(attempt, outcome="passed", status="measured")
        load = self.report(attempt)["foreign_load"]
        notes = [n for n in attempt.result["notes"] if "while it compiled" in n]
        flagged = attempt.result["metrics"]["window_flags"] & 128
        self.assertEqual(bool(flagged), len(notes) == 1)
        return load, flagged, notes

    def test_a_stranger_beside_the_compiler_is_in_the_row(self):
        core = min(os.sched_getaffinity(0))
        stranger = subprocess.Popen([PYTHON, "-c", "import os; os.sched_setaffinity(0, [%d])\nwhile True: pass" % core])
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        load, flagged, notes = self.compile_on_one_core()
        self.assertGreater(load, 0.25, "half of the core, and nothing else was to be done")
        self.assertTrue(flagged)
        self.assertIn("(pid %d)" % stranger.pid, notes[0])

    def test_the_compilers_own_processes_are_no_strangers(self):
        """It keeps its core busy, so counted as strangers they would be all of it. Other work of this machine
        shows here too: the quietest of some tries is looked at."""
        loads = []
        for _ in range(3):
            load, flagged, _ = self.compile_on_one_core()
            loads.append(load)
            if load <= 0.1:
                self.assertFalse(flagged)
                break
        self.assertLess(min(loads), 0.9)


class OffTheDevice(unittest.TestCase):
    """What loading and compiling say to the slot of an accelerator; the device here is the CPU."""

    CODE = """if True:
        import json, os, sys, types
        os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # a backward from there is not compiled
        package = sys.modules["dynbench_shims"] = types.ModuleType("dynbench_shims")
        package.__path__ = [sys.argv[1]]
        import torch
        import torch._inductor.config as config
        from dynbench_shims import device_use

        def step(x):
            return x.sin().cos()

        def told(backend="inductor", **options):
            said = []
            device_use.install({"options": {"backend": backend}},
                               lambda: said.append("off"), lambda: said.append("back"))
            torch._dynamo.reset()
            device_use.listen()
            x = torch.ones(8, requires_grad=True)
            with config.patch(**options):
                compiled = torch.compile(step)
                for _ in range(2):
                    compiled(x).sum().backward()
                    said.append("computed")
            return said

        print(json.dumps([told(), told(freezing=True), told(cpp_wrapper=True), told("cudagraphs")]))
    """

    def test_it_is_off_the_device_just_while_it_compiles(self):
        plain, *others = ask(textwrap.dedent(self.CODE), SHIMS)
        self.assertEqual(plain, ["off", "back", "off", "back", "computed", "computed"],
                         "forward and backward, once")
        self.assertEqual(others, [["computed"] * 2] * 3,
                         "who computes on the device while it compiles stays on it")

    LOADING = """if True:
        import json, sys, types
        package = sys.modules["dynbench_shims"] = types.ModuleType("dynbench_shims")
        package.__path__ = [sys.argv[1]]
        import torch
        from dynbench_shims import device_use, timm_loader

        said, to = [], torch.nn.Module.to
        torch.nn.Module.to = lambda self, *a, **k: (said.append("moved"), to(self, *a, **k))[1]
        create = timm_loader.create
        timm_loader.create = lambda *a: (said.append("made"), create(*a))[1]
        device_use.at_first_use(lambda: said.append("used"))
        experiment = {"environment": "default", "source": {"name": "mobilenetv2_100"}, "weights": "random",
                      "device": "cpu", "channels_last": False, "mode": "inference", "batch_size": 1}
        timm_loader.load(experiment, "")
        device_use.first_use()
        print(json.dumps(said))
    """

    def test_a_model_is_made_before_and_moved_after_it_once(self):
        self.assertEqual(ask(textwrap.dedent(self.LOADING), SHIMS), ["made", "used", "moved"])


class AheadOfTimeCase(WithTiny):
    """The checks of one way; a subclass runs them for its ways."""

    def check_accuracy(self, way, model):
        attempt = self.tiny(model, "accuracy", dict(ahead_of_time=way))
        self.assert_result(attempt, outcome="passed", status="pass")

    def check_performance(self, way):
        attempt = self.tiny("Mlp", options=dict(ahead_of_time=way), repeat=4)
        self.assert_result(attempt, outcome="passed", status="measured")
        metrics, artifact = attempt.result["metrics"], self.report(attempt)["artifact"]
        phases = ["export_s", "load_s", "first_run_s"] + (["package_s"] if way != "export" else [])
        for name in phases:
            self.assertGreater(metrics[name], 0, name)
        self.assertLessEqual(sum(metrics[name] for name in phases),
                             metrics["compile_synchronized_s"])
        if way in FROM_CPP:
            # Warm before it is measured: the report is made at the end of the warm-up. No sample
            # tells that, since a call of a tiny model lasts as long as other tests keep the cores.
            self.assertEqual((artifact["run_from"], artifact["runs"]), ("C++", 5))
            self.assertGreater(artifact["bytes"], 1000)
        else:
            self.assertEqual(artifact["run_from"], "Python")
        self.assertEqual(attempt.result["in_force"]["artifact.run_from"], artifact["run_from"])


class AheadOfTime(AheadOfTimeCase):
    def test_torchscript_and_export_agree_with_eager(self):
        for way in ("torchscript", "export"):
            for model in ("Mlp", "Conv", "Named"):
                with self.subTest(way=way, model=model):
                    self.check_accuracy(way, model)

    def test_torchscript_and_export_have_their_own_figures(self):
        for way in ("torchscript", "export"):
            with self.subTest(way=way):
                self.check_performance(way)

    def test_aot_inductor_is_run_from_cpp(self):
        self.check_performance("aot_inductor")

    def test_aot_inductor_agrees_with_eager(self):
        self.check_accuracy("aot_inductor", "Named")

    def test_a_marked_batch_is_a_symbol_of_the_export(self):
        for options, symbols in ((dict(), 0), (dict(dynamic_shapes=True, dynamic_batch_only=True),
                                               1)):
            with self.subTest(options=options):
                attempt = self.tiny("Mlp", options=dict(options, ahead_of_time="export"),
                                    batch_size=4, repeat=2)
                self.assert_result(attempt, outcome="passed")
                self.assertEqual(self.report(attempt)["artifact"]["symbols"], symbols)

    def test_what_the_build_lacks_is_skipped_with_the_reason(self):
        found = ask("import json, os, ctypes, torch; print(json.dumps(hasattr(ctypes.CDLL("
                    "os.path.dirname(torch.__file__) + '/lib/libtorch_cpu.so'), "
                    "'_ZN5torch8nativert17ModelRunnerHandleD1Ev')))")
        for test in ("performance", "accuracy"):
            attempt = self.tiny("Mlp", test, dict(ahead_of_time="nativert"), repeat=2)
            if found:
                self.assert_result(attempt, outcome="passed")
                continue
            self.assert_result(attempt, outcome="skipped", status="skipped", blame="none")
            self.assertIn("nativert", attempt.result["error"])

    def test_an_unknown_way_is_refused_by_name(self):
        attempt = self.tiny("Mlp", options=dict(ahead_of_time="magic"))
        self.assert_result(attempt, outcome="failed", status="option_refused")
        self.assertIn("magic", attempt.result["error"])


class AheadOfTimeNightly(AheadOfTimeCase):
    def test_every_way_agrees_with_eager_on_every_model(self):
        for way in ("aot_inductor", "aot_precompile", "nativert"):
            for model in ("Mlp", "Conv", "Named"):
                with self.subTest(way=way, model=model):
                    if self.possible(way):
                        self.check_accuracy(way, model)

    def test_aot_precompile_and_nativert_have_their_own_figures(self):
        for way in ("aot_precompile", "nativert"):
            with self.subTest(way=way):
                if self.possible(way):
                    self.check_performance(way)

    def test_half_precision_and_autocast(self):
        for way in ("aot_inductor", "torchscript", "export"):
            for precision in ("bfloat16", "amp"):
                with self.subTest(way=way, precision=precision):
                    attempt = self.tiny("Mlp", "accuracy", dict(ahead_of_time=way),
                                        precision=precision)
                    self.assert_result(attempt, outcome="passed", status="pass")

    def possible(self, way):
        """False where the runner itself says that this build lacks it."""
        attempt = self.tiny("Mlp", options=dict(ahead_of_time=way), repeat=2)
        return attempt.result["outcome"] != "skipped"


class Numbers(WithTiny):
    def test_a_null_model_measures_the_harness(self):
        attempt = self.tiny("Null", backend="nothing", repeat=30)
        self.assert_result(attempt, outcome="passed", status="measured")
        metrics = attempt.result["metrics"]
        print("harness: %.1f us, a null model: %.1f us" % (
            metrics["harness_overhead_us"], 1e3 * metrics["abs_latency_ms"]))
        # The goal is 20; a busy machine of two cores is forgiven some.
        self.assertLess(metrics["harness_overhead_us"], 60)
        self.assertLess(1e3 * metrics["abs_latency_ms"], 100)
        self.assertEqual(metrics["unique_graphs"], 0)

    def test_break_even_is_compile_time_over_what_a_call_saves(self):
        attempt = self.tiny("SlowInEager", backend="eager", repeat=5)
        self.assert_result(attempt, outcome="passed")
        m = attempt.result["metrics"]
        saved_s = (m["eager_latency_ms"] - m["abs_latency_ms"]) / 1e3
        self.assertGreater(saved_s, 0.004)
        self.assertAlmostEqual(m["break_even_calls"], m["compile_synchronized_s"] / saved_s,
                               delta=1e-6 * m["break_even_calls"])

    def test_graph_breaks_have_reason_and_place(self):
        attempt = self.tiny("Breaks", backend="eager", repeat=2, explain=True)
        self.assert_result(attempt, outcome="passed")
        report = self.report(attempt)
        # Once in the step, which inlines the model, and once in the model's own frame.
        self.assertIn(len(report["graph_breaks"]), (1, 2), report["graph_breaks"])
        self.assertTrue(report["graph_breaks"][0]["reason"])
        self.assertIn("in forward", " ".join(report["graph_breaks"][0]["user_stack"]))
        self.assertEqual((report["explain"]["graphs"], report["explain"]["graph_breaks"]), (2, 1))
        self.assertGreaterEqual(report["explain"]["ops"], 2)
        self.assertTrue(report["compile_phases_s"])

    def test_recompiles_in_the_warm_up_are_counted_and_told(self):
        attempt = self.tiny("Recompiles", backend="eager", repeat=2)
        self.assert_result(attempt, outcome="passed")
        self.assertGreaterEqual(attempt.result["metrics"]["recompiles"], 1)
        self.assertIn("name", " ".join(self.report(attempt)["recompile_reasons"]))
        self.assertEqual(attempt.result["metrics"]["guard_misses"], 0)

    def test_aot_graphs_and_caches_are_counted(self):
        attempt = self.tiny("Mlp", backend="aot_eager", repeat=2)
        metrics = attempt.result["metrics"]
        self.assertEqual((metrics["total_aot_graphs"], metrics["ok_aot_graphs"]), (1, 1))
        self.assertEqual(self.report(attempt)["stats"]["stats"]["unique_graphs"], 1)

    def test_cache_look_up_is_measured_when_asked_for(self):
        attempt = self.tiny("Mlp", backend="eager", repeat=2, measure_cache_lookup=True)
        self.assert_result(attempt, outcome="passed")
        self.assertTrue(0 < attempt.result["metrics"]["cache_lookup_latency_s"] < 0.1)
        self.assertNotIn("cache_lookup_latency_s",
                         self.tiny("Mlp", backend="eager", repeat=2).result["metrics"])

    def test_warm_peak_memory_leaves_the_first_call_out(self):
        cold = self.tiny("HungryAtFirst", backend="nothing", repeat=2)
        warm = self.tiny("HungryAtFirst", backend="nothing", repeat=2, warm_peak_memory=True)
        peaks = [a.result["metrics"]["eager_phase_peak_bytes"] for a in (cold, warm)]
        self.assertGreater(peaks[0], 200e6)
        self.assertLess(peaks[1], 100e6)

    def test_a_failing_compiler_still_tells_what_it_did(self):
        attempt = self.tiny("Breaks", backend="eager", options=dict(fullgraph=True), repeat=2)
        self.assert_result(attempt, outcome="failed", status="fail_to_run", phase="compile")
        self.assertIn("compile_phases_s", self.report(attempt))


class Instances(WithTiny):
    """Several copies at once; the parent of a copy, the child, keeps all cores of the slot."""

    def test_copies_run_pinned_side_by_side_and_are_summed(self):
        attempt = self.tiny("Mlp", backend="eager", repeat=3, instances=2)
        self.assert_result(attempt, outcome="passed", status="measured")
        report = self.report(attempt)
        cores = sorted(os.sched_getaffinity(0))
        half = len(cores) // 2
        told = [one["cores"] for one in report["instances"]]
        self.assertEqual(len(set(told)), 2, told)
        self.assertEqual([one["status"] for one in report["instances"]], ["measured"] * 2)
        self.assertEqual(len(attempt.result["compiled_ns"]), 6)
        self.assertEqual(attempt.result["threads"], half)
        slowest = min(1e3 / one["abs_latency_ms"] for one in report["instances"])
        self.assertGreaterEqual(report["instances_sum"]["compiled_calls_per_s"], 2 * slowest)

    def test_one_that_dies_is_one_of_two(self):
        attempt = self.tiny("DiesOnTheLastCore", backend="eager", repeat=3, instances=2)
        self.assert_result(attempt, outcome="failed", status="crash")
        self.assertIn("1 of 2 instances measured; instance 1", attempt.result["error"])
        self.assertIn("signal 9", attempt.result["error"])
        self.assertEqual(len(attempt.result["compiled_ns"]), 3)

    def test_more_copies_than_cores_are_refused(self):
        attempt = self.tiny("Mlp", backend="eager", instances=1000)
        self.assert_result(attempt, outcome="failed", status="option_refused")
        self.assertIn("1000 instances", attempt.result["error"])


class CompilersNightly(WithTiny):
    def test_every_backend_gives_a_row_or_says_why_not(self):
        for backend in ask("import json, torch._dynamo as d; "
                           "print(json.dumps(d.list_backends(exclude_tags=())))"):
            with self.subTest(backend=backend):
                attempt = self.tiny("Mlp", backend=backend, repeat=2)
                self.assertIsNotNone(attempt.result, attempt.stderr)
                result = attempt.result
                print("%-40s %-8s %-14s %s" % (backend, result["outcome"], result["status"],
                                               result.get("error", "")[:100]))
                if result["outcome"] == "passed":
                    self.assertEqual(len(result["compiled_ns"]), 2)
                else:
                    self.assertIn(result["outcome"], ("failed", "skipped"))
                    self.assertGreater(len(result["error"]), 10)

    def check(self, model="Mlp", **options):
        for test in ("performance", "accuracy"):
            attempt = self.tiny(model, test, options, repeat=3)
            self.assert_result(attempt, outcome="passed")
        return attempt

    def test_cpp_wrapper(self):
        attempt = self.check(cpp_wrapper=True)
        self.assertEqual(attempt.result["in_force"]["inductor.cpp_wrapper"], "True")

    def test_freezing(self):
        attempt = self.check("Conv", freezing=True)
        self.assertEqual(attempt.result["in_force"]["inductor.freezing"], "True")

    def test_max_autotune(self):
        attempt = self.check(max_autotune=True)
        self.assertEqual(attempt.result["in_force"]["inductor.max_autotune"], "True")

    def test_compile_modes(self):
        for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
            with self.subTest(mode=mode):
                self.check(compile_mode=mode)

    def test_quantization_or_the_reason_why_not(self):
        installed = ask("import json, importlib.util as u; "
                        "print(json.dumps(u.find_spec('torchao') is not None))")
        for scheme in ("noquant", "int8weightonly", "int8dynamic"):
            with self.subTest(scheme=scheme):
                attempt = self.tiny("Mlp", options=dict(quantization=scheme), repeat=2)
                if installed:
                    self.assert_result(attempt, outcome="passed", status="measured")
                else:
                    self.assert_result(attempt, outcome="skipped", status="skipped")
                    self.assertIn("torchao", attempt.result["error"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
