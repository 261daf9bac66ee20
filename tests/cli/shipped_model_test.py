#!/usr/bin/env python3
# test: builds=release cost=30
"""The models in models/: they answer tasks whose operators they have not seen with formulas, programs and projects that pass, and akgen gen asks one where nothing
else can."""
import contextlib
import pathlib
import sqlite3
import tempfile
import unittest

from akgen_program import HOME, akgen


class Shipped(unittest.TestCase):
    def test_bench(self):
        done = akgen("bench", "--provider", "lm", "--temperature", 0, "--case", 0, "--no-timing", "--task", "level2/Foreach/Foreach[AE]*", timeout=600)
        self.assertEqual(done.returncode, 1, done.stderr)  # not all pass
        passed = int(done.stdout.split("verdicts     pass ")[1].split()[0])
        self.assertGreaterEqual(passed, 10, done.stdout)

    def test_another_one_writes_code(self):
        for language, task, holds in (("dsl", "Foreach[AMP]*List", "@ascend_kernel"), ("ascendc", "Foreach[AS][bq]*", "__global__")):
            with self.subTest(language=language), tempfile.TemporaryDirectory(prefix="akgen-own-") as folder:
                database = pathlib.Path(folder) / "run.db"
                done = akgen("bench", "--provider", "lm", "--language", language, "--temperature", 0, "--case", 0, "--no-timing", "--task", f"level2/Foreach/{task}",
                             "--db", database, timeout=600)
                self.assertIn(f", language {language}, ", done.stdout)
                self.assertIn("models/code-14m", done.stdout)
                with contextlib.closing(sqlite3.connect(database)) as store:
                    answers = [row[0] for row in store.execute("SELECT answer FROM answers JOIN verdicts USING (run, task, sample) WHERE verdict = 'pass'")]
                self.assertTrue(answers, done.stdout)
                self.assertTrue(all(holds in answer for answer in answers))

    def test_they_fit_into_the_repository(self):
        self.assertLess(sum(path.stat().st_size for path in (HOME / "models").rglob("*") if path.is_file()), 60e6)

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
