#!/usr/bin/env python3
"""akgen compare: two candidates side by side; the one with a second buffer is the faster, and the table says where."""
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from akgen_program import TASKS, akgen, edit

SQRT = TASKS / "level1/Math/Sqrt/reference"


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-compare-")
        self.addCleanup(folder.cleanup)
        self.single = pathlib.Path(folder.name) / "single"
        shutil.copytree(SQRT, self.single)
        for queue in ("inQueue", "outQueue"):
            edit(self.single / "op_kernel/sqrt.cpp", f"InitBuffer({queue}, 2", f"InitBuffer({queue}, 1")

    def compare(self, *arguments):
        return akgen("compare", *arguments)

    def test_the_table(self):
        done = self.compare(SQRT, self.single, "--task", "Sqrt", "--case", "1")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        row = re.search(r"^  case 1 +([\d.]+) +([\d.]+)  A ([\d.]+) times as fast$", done.stdout, re.M)
        a, b, ratio = map(float, row.groups())
        self.assertLess(a, b)
        self.assertAlmostEqual(b / a, ratio, delta=0.02)
        self.assertGreater(ratio, 1.2)
        self.assertRegex(done.stdout, r"longest AIV .* B [\d.]+ times as long\n")
        self.assertRegex(done.stdout, r"\n    MB read +12\.58 +12\.58\n")
        self.assertRegex(done.stdout, r"\n    bound by +HBM +HBM\n")

    def test_a_candidate_with_itself(self):
        done = self.compare(SQRT, SQRT, "--task", "Sqrt", "--case", "0", "--timing")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("times as", done.stdout)
        self.assertIn("\n    V of an AIV", done.stdout)

    def test_json(self):
        done = self.compare(SQRT, self.single, "--task", "Sqrt", "--case", "1", "--json")
        both = json.loads(done.stdout)
        self.assertEqual(sorted(both), ["a", "b"])
        us = [both[side]["cases"][0]["timing"]["us"] for side in "ab"]
        self.assertLess(us[0], us[1])
        self.assertGreater(both["a"]["speedup"], both["b"]["speedup"])

    def test_one_that_is_not_right(self):
        edit(self.single / "op_kernel/sqrt.cpp", "Sqrt(y, x, count)", "Abs(y, x, count)")
        done = self.compare(SQRT, self.single, "--task", "Sqrt", "--case", "2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"\n  case 2 +[\d.]+ +not right\n")
        self.assertIn("\nwrong: 0 of 1 cases", done.stdout)

    def test_usage(self):
        for arguments, message in (((SQRT, "--task", "Sqrt"), "expected two candidates"), ((SQRT, SQRT), "--task names the task"),
                                   ((SQRT, SQRT, SQRT, "--task", "Sqrt"), "one more"), ((SQRT, "/nowhere", "--task", "Sqrt"), "/nowhere: No such file"),
                                   ((SQRT, SQRT, "--task", "NoSuchTask"), "NoSuchTask"),
                                   ((SQRT, SQRT, "--task", "Sqrt", "--schedule", "random:1"), "program order")):
            done = self.compare(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
