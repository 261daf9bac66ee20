#!/usr/bin/env python3
"""docs/faults.md is complete: a row for every fault of fault.def, which the machine reports, and none besides; every proof
exists, and every planted fault is in the row of its name and kind."""
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE.parents[1]
sys.path.insert(0, str(HERE))
from fault_names import names, reported  # noqa: E402
from planted_test import read_expected  # noqa: E402

KINDS = {"trap", "differs", "undefined", "hazard", "unsupported"}
COLUMNS = ["name", "kind", "rule and limit", "source", "CPU debug", "npuchk", "msSanitizer", "proved by"]


def rows():
    """(names, kind, proof, all cells) of every row."""
    found = []
    for line in (HOME / "docs" / "faults.md").read_text().splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found.append((re.findall(r"`(\w+)`", cells[0]), cells[1], cells[-1], cells))
    return found


def planted():
    return {path.parent.name: read_expected(path.parent) for path in (HERE / "faults").glob("*/expected")}


class FaultsDocument(unittest.TestCase):
    def test_names_are_those_of_the_table(self):
        self.assertEqual({name for row in rows() for name in row[0]}, set(names()))

    def test_every_fault_is_reported(self):
        self.assertEqual(sorted(set(names()) - reported()), [])

    def test_rows_are_whole(self):
        for row, kind, proof, cells in rows():
            with self.subTest(row=row):
                self.assertEqual(len(cells), len(COLUMNS))
                self.assertTrue(all(cells), cells)
                self.assertIn(re.split(r"[,;: ]", kind)[0], KINDS)
                self.assertTrue(proof == "-" or "`" in proof or proof.startswith("unit: "))

    def test_proofs_exist(self):
        projects = planted()
        for row, kind, proof, _ in rows():
            for project in re.findall(r"`(\w+)`", proof):
                with self.subTest(row=row, project=project):
                    self.assertIn(projects[project].get("fault"), row)
                    self.assertIn(projects[project]["kind"], kind)
            for unit in re.findall(r"unit: ([\w/]+)", proof):
                text = (HOME / "tests" / "unit" / "npu" / f"{unit}.c").read_text()
                self.assertTrue(any(f'"{name}"' in text for name in row), f"{unit} says nothing of {row}")

    def test_every_planted_fault_is_in_its_row(self):
        text = (HOME / "docs" / "faults.md").read_text()
        for project, expected in planted().items():
            with self.subTest(project=project):
                proofs = [proof for row, kind, proof, _ in rows()
                          if expected.get("fault") in row and expected["kind"] in kind]
                if "fault" in expected:
                    self.assertTrue(any(f"`{project}`" in proof for proof in proofs))
                else:
                    self.assertTrue(f"`{project}`" in text)

    def test_sixty_faults_have_a_project(self):
        proved = {name for row, _, proof, _ in rows() if "`" in proof for name in row}
        self.assertGreaterEqual(len(proved & {e.get("fault") for e in planted().values()}), 60)


if __name__ == "__main__":
    unittest.main()
