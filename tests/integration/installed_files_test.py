"""Method: the smallest model of an installed suite whose models are files of its own; nothing is
uploaded, so the coordinator must have the file from its own folder, and the worker from it."""

import unittest

from fleet import FleetTest


class InstalledFiles(FleetTest):
    fleet_options = {"workers": 1}

    def test_a_model_file_of_a_suite_reaches_the_worker(self):
        job = self.fleet.submit("--suite", "compile-claims", "--models", "recurrent_cell", "--float32",
                                "--backend", "eager", "--performance", "--batch-size", "1", "--repeat", "3")
        self.fleet.finish(job)
        row = self.fleet.rows(job)["recurrent_cell"]
        self.assertEqual((row["outcome"], row["batch_size"]), ("passed", 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
