"""Method: ask a coordinator without workers for plans (`submit --dry-run`, `plan`) and compare the
lists with upstream's: 18 TIMM models, its slices, the two TIMM commands of its README. Nothing may be
stored: the job list stays empty."""

import collections
import unittest

from fleet import FleetTest

TIMM = 18  # models in upstream's list


class Plan(FleetTest):
    fleet_options = {"workers": 0}

    def plan(self, *words: str) -> list[dict]:
        answer = self.fleet.ctl("submit", *words, "--dry-run", "--json").expect(0).json()
        self.assertEqual(answer["schema"], "dynbench.plan/1")
        return answer["experiments"]

    def models(self, *words: str) -> list[str]:
        return sorted({e["model"] for e in self.plan("--suite", "timm", "--performance", *words)})

    def tearDown(self):
        jobs = self.fleet.ctl("status", "--json").expect(0).json()["jobs"]
        self.assertEqual(jobs, [], "a dry run stored something")

    def test_whole_list(self):
        self.assertEqual(len(self.models()), TIMM)
        both = self.plan("--suite", "timm")
        self.assertEqual(collections.Counter(e["test"] for e in both), {"performance": TIMM, "accuracy": TIMM})
        defaults = {(e["mode"], e["configuration"], e["precision"], e["start"], e["environment"]) for e in both}
        self.assertEqual(defaults, {("inference", "default", "bfloat16", "cold", "default")})
        self.assertEqual({e["batch_size"] for e in both if e["test"] == "accuracy"}, {8})

    def test_plan_is_the_dry_run(self):
        plan = self.fleet.ctl("plan", "--suite", "timm", "--json").expect(0).json()
        dry = self.fleet.ctl("submit", "--suite", "timm", "--dry-run", "--json").expect(0).json()
        self.assertEqual(plan["experiments"], dry["experiments"])

    def test_static_slices_as_upstream_cuts_them(self):
        slices = [self.models("--total-partitions", "7", "--partition-id", str(i), "--partition-policy", "static")
                  for i in range(7)]
        self.assertEqual([len(s) for s in slices], [2, 2, 2, 2, 2, 2, 6])
        self.assertEqual(sum(slices, []), self.models(), "slices are contiguous and cover the list")

    def test_partition_flags_alone_mean_upstreams_slices(self):
        self.assertEqual(len(self.models("--total-partitions", "7", "--partition-id", "6")), 6)
        self.assertEqual(len(self.models("--total-partitions", "7", "--partition-id", "0")), 2)

    def test_slices_are_cut_before_filters(self):
        # Upstream cuts the whole sorted list first, so a filter can leave a slice empty.
        last = self.models("--total-partitions", "7", "--partition-id", "6")
        some = self.models("--total-partitions", "7", "--partition-id", "6", "--filter", f"^{last[0]}$")
        self.assertEqual(some, [last[0]])

    def test_any_total_works(self):
        sizes = [len(self.models("--total-partitions", "40", "--partition-id", str(i))) for i in (0, 38, 39)]
        self.assertEqual(sizes, [0, 0, TIMM])

    def test_total_alone_is_the_whole_list(self):
        self.assertEqual(len(self.models("--total-partitions", "40")), TIMM)

    def test_partition_id_equal_to_the_total_is_refused(self):
        ran = self.fleet.ctl("submit", "--suite", "timm", "--total-partitions", "7", "--partition-id", "7", "--dry-run")
        self.assertEqual(ran.code, 2, ran)
        self.assertIn("partition-id", ran.err)
        self.assertIn("6", ran.err, "the message names the largest one")

    def test_upstreams_inference_command(self):
        rows = self.plan("--suite", "timm", "--performance", "--inference", "--bfloat16", "--backend=inductor",
                         "--output=timm_models_inference.csv")
        self.assertEqual(len(rows), TIMM)
        self.assertEqual({(e["mode"], e["test"], e["precision"]) for e in rows},
                         {("inference", "performance", "bfloat16")})
        self.assertTrue(all(e["output"].endswith("timm_models_inference.csv") for e in rows))
        sizes = {e["model"]: e["batch_size"] for e in rows}
        self.assertEqual(sizes["beit_base_patch16_224"], 64, "listed 128, divisor 2")
        self.assertEqual(sizes["ghostnet_100"], 512)
        self.assertEqual(sizes["mobilenetv2_100"], 128)

    def test_upstreams_training_command_is_planned(self):
        rows = self.plan("--suite", "timm", "--performance", "--training", "--amp", "--backend=inductor",
                         "--output=timm_models_training.csv")
        self.assertEqual(len(rows), TIMM)
        self.assertEqual({(e["mode"], e["precision"], e["outcome"]) for e in rows}, {("training", "amp", None)})
        self.assertEqual({e["optimizer"] for e in rows}, {"none"}, "as upstream on a CPU")

    def test_filters_are_upstreams(self):
        self.assertEqual(self.models("-k", "MOBILENET"), ["mobilenetv2_100", "mobilenetv3_large_100"])
        self.assertEqual(self.models("-k", "mobilenet", "-x", "v3"), ["mobilenetv2_100"])
        self.assertEqual(len(self.models("--exclude-exact", "mobilenetv2_100")), TIMM - 1)

    def test_batch_size_is_used_as_given(self):
        self.assertEqual({e["batch_size"] for e in self.plan("--suite", "timm", "--batch-size", "2")}, {2})


if __name__ == "__main__":
    unittest.main(verbosity=2)
