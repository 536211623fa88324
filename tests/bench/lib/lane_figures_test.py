"""Sides are compared over the models that both ran, whichever calls of the bench they come from."""
import unittest

import lane_figures


def ours(side, wall_s, speedups, kernels=None):
    return {"side": side, "wall_s": wall_s, "kernels": kernels or {},
            "rows": {m: {"status": "measured", "speedup": s} for m, s in speedups.items()}}


def script(rows):
    return {"side": "upstream", "wall_s": sum(w for w, _ in rows.values()),
            "rows": {m: {"status": "measured", "speedup": s, "wall_s": w} for m, (w, s) in rows.items()}}


class LaneFigures(unittest.TestCase):

    def test_the_scripts_seconds_are_added_over_the_models_of_the_side(self):
        runs = [ours("auto", 10, {"a": 2, "b": 1}), script({"a": (30, 2)}), script({"b": (50, 1)}),
                ours("lanes1", 20, {"b": 1})]
        figures = lane_figures.figures_of(runs)
        self.assertEqual(figures["auto_times_shorter_than_upstream"], 8)
        self.assertEqual(figures["lanes1_times_shorter_than_upstream"], 2.5)
        self.assertEqual(figures["upstream_s_per_model"], 40)

    def test_a_model_that_the_script_did_not_run_gives_no_ratio(self):
        figures = lane_figures.figures_of([ours("auto", 10, {"a": 2, "b": 1}), script({"a": (30, 2)})])
        self.assertNotIn("auto_times_shorter_than_upstream", figures)
        self.assertEqual(figures["auto_models_compared_with_upstream"], 1)

    def test_a_model_that_left_no_row_is_not_a_time_to_be_compared_with(self):
        run = script({"a": (3, 2)})
        run["rows"]["a"] = {"wall_s": 3, "status": lane_figures.NO_ROW}
        self.assertEqual(lane_figures.script_seconds([run]), {})

    def test_speedups_are_compared_with_every_base_that_ran(self):
        runs = [ours("auto", 10, {"a": 2.2, "b": 1}), ours("lanes1", 20, {"a": 2}),
                script({"a": (30, 1), "b": (30, 1)})]
        figures = lane_figures.figures_of(runs)
        self.assertAlmostEqual(figures["auto_speedup_over_lanes1"], 1.1)
        self.assertAlmostEqual(figures["auto_worst_model_over_upstream"], 2.2)
        self.assertNotIn("lanes1_speedup_over_lanes1", figures)

    def test_kernels_agree_when_any_process_of_one_lane_chose_them(self):
        runs = [ours("auto", 1, {}, {"a": "x", "b": "y", "c": ""}), ours("lanes1", 1, {}, {"a": "z", "b": "y"}),
                ours("lanes1", 1, {}, {"a": "x", "c": "w"})]
        for run in runs:
            run["rows"] = {"a": {"status": "measured"}}
        self.assertEqual(lane_figures.kernels_equal(runs, "auto"), (2, 2))

    def test_words_count_as_equal_only_when_every_run_agrees(self):
        runs = [{"side": s, "wall_s": 1, "rows": {"a": {"status": w, "wall_s": 1}}}
                for s, w in (("auto", "pass"), ("auto", "fail_accuracy"), ("upstream", "pass"))]
        self.assertEqual(lane_figures.words_equal(runs, "auto"), (0, 1))
        self.assertEqual(lane_figures.words_equal([runs[0], runs[2]], "auto"), (1, 1))


if __name__ == "__main__":
    unittest.main()
