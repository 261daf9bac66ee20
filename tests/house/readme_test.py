#!/usr/bin/env python3
"""README's number of tests is what `make test` runs: the tier `quick` (scripts/test), of the sanitized build."""
import os
import pathlib
import re
import subprocess
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AKGEN", HOME / "build/debug/akgen")).parent


class Readme(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("AKGEN_SANITIZED") == "ON", "this is not the sanitized build")
    def test_the_number_of_tests(self):
        excluded = re.search(r"^    quick\) .* --label-exclude (\w+) ;;$", (HOME / "scripts/test").read_text(), re.M)[1]
        done = subprocess.run(["ctest", "-N", "--test-dir", BUILD, "--label-exclude", excluded], capture_output=True, text=True, check=True)
        run = int(re.search(r"^Total Tests: (\d+)$", done.stdout, re.M)[1])
        told = re.search(r"`make test`[^.]*`100% tests passed, 0 tests failed out of (\d+)`", (HOME / "README.md").read_text())
        self.assertEqual(int(told[1]), run)


if __name__ == "__main__":
    unittest.main()
