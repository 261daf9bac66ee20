#!/usr/bin/env python3
"""The model in models/: it answers tasks whose operators it has not seen with formulas that pass, and akgen gen asks it where nothing else can."""
import pathlib
import tempfile
import unittest

from akgen_program import akgen


class Shipped(unittest.TestCase):
    def test_bench(self):
        done = akgen("bench", "--provider", "lm", "--temperature", 0, "--case", 0, "--no-timing", "--task", "level2/Foreach/Foreach[AE]*", timeout=600)
        self.assertEqual(done.returncode, 1, done.stderr)  # not all pass
        passed = int(done.stdout.split("verdicts     pass ")[1].split()[0])
        self.assertGreaterEqual(passed, 10, done.stdout)

    def test_it_is_asked_for_what_the_user_says(self):
        done = akgen("bench", "--provider", "lm", "--language", "ascendc", "--case", 0, "--no-timing", "--task", "level1/Math/Sqrt")
        self.assertIn(", language ascendc, ", done.stdout)
        self.assertRegex(done.stdout + done.stderr, r"the prompt has \d+ tokens, and there is room for 2048")

    def test_gen_asks_it_for_a_task_without_program_and_formulas(self):
        with tempfile.TemporaryDirectory(prefix="akgen-own-") as folder:
            task = pathlib.Path(folder) / "mine/level1/Math/Damped"
            self.assertEqual(akgen("task", "new", task, "--like", "Lerp").returncode, 0)
            (task / "desc.md").write_text("# Damped\n\n`y = start + weight * (end - start)`, elementwise.\n")
            done = akgen("gen", task, "-o", pathlib.Path(folder) / "out", "--case", 0, timeout=600)
            self.assertIn("no program and no formulas: the model in models/ is asked for 10 answers", done.stdout)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
