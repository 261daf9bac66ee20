#!/usr/bin/env python3
# test: builds=release cost=54
"""The tasks' own reference projects: right in both profiles and under random schedules, without a fault and without anything
undefined. With arguments, `reference_projects_test.py SEEDS` checks every case under SEEDS random schedules (half an hour)."""
import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import unittest

from akgen_program import TASKS, akgen

# Under sanitizers everything takes several times as long: case 0 of each task is what they look at.
STEPS_MARGIN = 50  # EVAL_STEPS_MARGIN
COUNT = len(list(TASKS.glob("*/*/*/reference")))


class References(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-references-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def check(self, *options):
        db = self.directory / "runs.db"
        process = akgen("bench", "--provider", "reference", "--db", db, *options, timeout=3600)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        rows = sqlite3.connect(db).execute("SELECT json FROM verdicts").fetchall()
        self.assertEqual(len(rows), COUNT)
        db.unlink()
        for (text,) in rows:
            verdict = json.loads(text)
            self.assertEqual(verdict["verdict"], "pass", verdict["task"])
            for row in verdict["cases"]:
                self.assertEqual(row["faults"], [], (verdict["task"], row["case"]))
                undefined = [note for note in row["notes"] if note["kind"] == "undefined"]
                self.assertEqual(undefined, [], (verdict["task"], row["case"]))
                for steps in ("steps", "data_steps"):
                    self.assertLess(STEPS_MARGIN * row["run"][steps], row["run"][f"{steps}_allowed"], (verdict["task"], row["case"]))

    def test_every_case_as_upstream_judges(self):
        self.check("--profile=upstream")

    def test_every_case_against_float64(self):
        self.check("--profile=strict", "--seed=1")

    def test_random_schedules(self):
        for seed in range(1, 4):
            with self.subTest(seed=seed):
                self.check("--case=0", f"--schedule=random:{seed}")

    def test_manual_synchronisation_is_not_needed(self):
        """The projects state --cce-auto-sync=on: they may rely on it, and the verdict must say that it was in effect."""
        result = json.loads(akgen("eval", "Sqrt", TASKS / "level1/Math/Sqrt/reference", "--case=0", "--json").stdout)
        self.assertEqual(result["sync"], "auto")


def check_all_schedules(seeds):
    """Every case, both profiles, `seeds` random schedules."""
    for profile in ("upstream", "strict"):
        for seed in range(1, seeds + 1):
            process = akgen("bench", f"--profile={profile}", f"--schedule=random:{seed}", timeout=7200)
            print(profile, seed, process.stdout.splitlines()[-1], flush=True)
            if process.returncode:
                print(process.stdout, process.stderr)
                return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].isdigit():
        sys.exit(check_all_schedules(int(sys.argv[1])))
    unittest.main()
