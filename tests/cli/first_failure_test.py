#!/usr/bin/env python3
"""--first-failure: no case behind the first that does not pass is begun, and what the verdict says does not depend on how many
are tried side by side."""
import tempfile
import unittest

from akgen_program import akgen, copy_reference, edit, verdict

TASK = "level1/Math/Sqrt"  # five cases; 2 and 4 are of float32


class FirstFailure(unittest.TestCase):
    def test_cases_behind_it_are_not_tried(self):
        with tempfile.TemporaryDirectory() as folder:
            candidate = copy_reference(TASK, folder)
            # Wrong for float32 alone.
            edit(candidate / "op_kernel/sqrt.cpp", "Sqrt(y, x, count);", "Abs(y, x, count);")
            everything = verdict(TASK, candidate)
            wrong = [row["case"] for row in everything["cases"] if not row["ok"]]
            self.assertGreater(len(wrong), 1)
            self.assertLess(wrong[0], everything["cases"][-1]["case"])
            self.assertFalse(everything["first_failure"])
            for jobs in (1, 2):
                first = verdict(TASK, candidate, "--first-failure", f"--jobs={jobs}")
                self.assertTrue(first["first_failure"])
                self.assertEqual(first["protocol"], "first failure")
                self.assertEqual([row["case"] for row in first["cases"]],
                                 [row["case"] for row in everything["cases"] if row["case"] <= wrong[0]])
                self.assertEqual((first["verdict"], first["reason"]), (everything["verdict"], everything["reason"]))
                self.assertEqual(first["cases_total"], everything["cases_total"])
                self.assertEqual(first["cases_passed"], len(first["cases"]) - 1)

    def test_a_right_candidate_is_tried_in_full(self):
        with tempfile.TemporaryDirectory() as folder:
            result = verdict(TASK, copy_reference(TASK, folder), "--first-failure")
            self.assertEqual((result["verdict"], result["cases_passed"], len(result["cases"])), ("pass", 5, 5))

    def test_bench_takes_it(self):
        done = akgen("bench", "--task", TASK, "--first-failure", "--case=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("first failure", done.stdout)


if __name__ == "__main__":
    unittest.main()
