"""Method: tools/bundle into a temporary folder. The script itself tries the tarball in a file system
with nothing but it and glibc; here only that it ends well and stays under the goal of 64 MiB."""

import os
import pathlib
import tempfile
import unittest

from fleet import base_environment, run


class Bundle(unittest.TestCase):
    def test_bundle(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(os.environ["DYNBENCH_SOURCE"]) / "tools/bundle"
            run(str(script), "--output", folder, env=base_environment(), timeout_s=1100).expect(0)
            tarballs = list(pathlib.Path(folder).glob("dynbench-*.tar.gz"))
            self.assertEqual(len(tarballs), 1)
            self.assertLessEqual(tarballs[0].stat().st_size, 64 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
