#!/usr/bin/env python3
"""docs/proofs.md has a row for each proof, and scripts/prove changes the row of what has held and no other."""
import datetime
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `(\w+)` \| (.*) \| (.*) \| (.*) \| (.*) \| (.*) \|$", re.M)
HELD = '"""It holds.\n\nMore about it."""\nprint("begun")\nprint("7 of 7 | hold")\n'
FAILED = '"""It does not."""\nprint("6 of 7 hold")\nraise SystemExit(1)\n'
PAGE = """# Proofs

| proof | what it shows | figure | commit | date | seconds |
|---|---|---|---|---|---|
| `failed` | It does not. | 7 of 7 hold | `0123abc` | 2026-01-01 | 5 |
| `gone` | There is no such file. | 1 | `0123abc` | 2026-01-01 | 5 |
"""


class Page(unittest.TestCase):
    def test_a_row_for_each_proof(self):
        rows = {match[1]: match for match in ROW.finditer((HOME / "docs/proofs.md").read_text())}
        self.assertEqual(sorted(rows), sorted(path.stem for path in (HOME / "tests/prove").glob("*.py")))
        for name, row in rows.items():
            if row[3] == "not run yet":
                self.assertEqual(row.groups()[3:], ("", "", ""), name)
            else:
                self.assertRegex(row[4], r"^`[0-9a-f]{7,}`", name)
                self.assertRegex(row[5] + row[6], r"^\d{4}-\d\d-\d\d\d+$", name)


class Prove(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="akgen-prove-"))
        self.addCleanup(shutil.rmtree, self.home)
        for folder in ("scripts", "docs", "tests/prove"):
            (self.home / folder).mkdir(parents=True)
        shutil.copy(HOME / "scripts/prove", self.home / "scripts/prove")
        (self.home / "docs/proofs.md").write_text(PAGE)
        (self.home / "tests/prove/held.py").write_text(HELD)
        (self.home / "tests/prove/failed.py").write_text(FAILED)
        (self.home / ".gitignore").write_text("build/\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.home, check=True, capture_output=True, text=True).stdout.strip()

    def prove(self, *names):
        done = subprocess.run([self.home / "scripts/prove", *names], capture_output=True, text=True)
        return done, {match[1]: match.groups()[1:] for match in ROW.finditer((self.home / "docs/proofs.md").read_text())}

    def test_what_holds_changes_its_row_alone(self):
        done, rows = self.prove("held")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        commit = f"`{self.git('rev-parse', '--short=9', 'HEAD')}`"
        self.assertEqual(rows["held"][:4], ("It holds.", "7 of 7 / hold", commit, datetime.date.today().isoformat()))
        self.assertEqual(rows["failed"], ("It does not.", "7 of 7 hold", "`0123abc`", "2026-01-01", "5"))
        self.assertNotIn("gone", rows)

    def test_what_fails_leaves_its_row(self):
        done, rows = self.prove()
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: failed, exit code 1", done.stdout)
        self.assertEqual(rows["failed"][1:], ("7 of 7 hold", "`0123abc`", "2026-01-01", "5"))
        self.assertEqual(rows["held"][1], "7 of 7 / hold", "the others are run all the same")

    def test_what_was_not_run_says_so(self):
        _, rows = self.prove("failed")
        self.assertEqual(rows["held"], ("It holds.", "not run yet", "", "", ""))

    def test_a_changed_tree_is_told(self):
        (self.home / "tests/prove/held.py").write_text(HELD + "\n")
        self.assertRegex(self.prove("held")[1]["held"][2], "^`[0-9a-f]+` and changes$")

    def test_no_such_proof(self):
        done, rows = self.prove("nothing")
        self.assertEqual((done.returncode, "held" in rows), (2, False))
        self.assertIn("no proof nothing: failed, held", done.stderr)


if __name__ == "__main__":
    unittest.main()
