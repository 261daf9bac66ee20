#!/usr/bin/env python3
"""README's number of tests is what `make test` runs: its suites `release` and `sanitized` (scripts/test)."""
import os
import pathlib
import re
import subprocess
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AKGEN", HOME / "build/akgen")).parent


class Readme(unittest.TestCase):
    def count(self, build, excluded):
        done = subprocess.run(["ctest", "-N", "--test-dir", build, "--label-exclude", excluded], capture_output=True, text=True, check=True)
        return int(re.search(r"^Total Tests: (\d+)$", done.stdout, re.M)[1])

    def test_the_number_of_tests(self):
        debug = BUILD / "debug"
        if not (debug / "CTestTestfile.cmake").exists():
            self.skipTest("there is no sanitized build")
        excluded = dict(re.findall(r"^    (release|sanitized)\) .* --label-exclude '?([a-z|]+)'? ;;$", (HOME / "scripts/test").read_text(), re.M))
        run = self.count(BUILD, excluded["release"]) + self.count(debug, excluded["sanitized"])
        told = re.search(r"`make test`[^.]*`100% tests passed, 0 tests failed out of (\d+)`", (HOME / "README.md").read_text())
        self.assertEqual(int(told[1]), run)


if __name__ == "__main__":
    unittest.main()
