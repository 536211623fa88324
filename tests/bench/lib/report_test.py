"""The statistics that the benches report: known answers, and an interval that finds a real change."""
import random
import unittest

import report


class Report(unittest.TestCase):

    def test_geomean(self):
        self.assertAlmostEqual(report.geomean([1, 4]), 2)

    def test_median_and_range(self):
        self.assertEqual(report.median_and_range([3, 1, 2]), {"median": 2, "low": 1, "high": 3, "n": 3})

    def test_interval_holds_one_when_the_sides_are_alike_and_not_when_they_differ(self):
        rng = random.Random(7)
        side = lambda factor: {f"model{i}": [factor * rng.gauss(1.5, 0.02) for _ in range(5)]
                               for i in range(6)}
        low, high = report.geomean_ratio_interval(side(1), side(1), rounds=2000)
        self.assertLess(low, 1)
        self.assertGreater(high, 1)
        low, _ = report.geomean_ratio_interval(side(1.2), side(1), rounds=2000)
        self.assertGreater(low, 1.1)


if __name__ == "__main__":
    unittest.main()
