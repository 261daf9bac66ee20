#!/usr/bin/env python3
# test: cost=13
"""docs/api.md says what the headers and tables say, and notices when it does not."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from akgen_program import HOME


def check(home):
    return subprocess.run([home / "scripts/api", "--check"], capture_output=True, text=True)


class Api(unittest.TestCase):
    def test_page_is_up_to_date(self):
        done = check(HOME)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_new_declaration_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            for part in ("include", "scripts", "docs", "src/npu"):
                shutil.copytree(HOME / part, home / part)
            header = home / "include/ascendc/basic/scalar.h"
            text = header.read_text()
            self.assertIn("namespace AscendC\n{\n", text)
            header.write_text(text.replace("namespace AscendC\n{\n",
                                           "namespace AscendC\n{\nAKGEN_API int NewName(int a) { return a; }\n", 1))
            done = check(home)
            self.assertEqual(done.returncode, 1)
            self.assertIn("docs/api_notes.tsv has no line for NewName", done.stderr)
            with open(home / "docs/api_notes.tsv", "a") as notes:
                notes.write("NewName\tscalar\t\n")
            self.assertIn("docs/api.md is out of date", check(home).stderr)

    def test_rows(self):
        page = (HOME / "docs/api.md").read_text()
        row = re.search(r"^\| `Add` \|.*$", page, re.M).group(0)
        self.assertIn("| V | half, float, int16_t, int32_t |", row)
        self.assertEqual(row.count("<br>"), 2, "by bit mask, by length, by count")
        self.assertRegex(page, r"\| `Sigmoid` \| high-level \| half, float \|")
        self.assertRegex(page, r"\n## Not here\n\n.*`Conv2D`")
        self.assertNotRegex(page.split("## Not here")[0], r"`Conv2D`")


if __name__ == "__main__":
    unittest.main()
