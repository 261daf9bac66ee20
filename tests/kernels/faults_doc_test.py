#!/usr/bin/env python3
"""fault.def, the machine, the planted faults and docs/faults.md agree: scripts/faults finds nothing to say, and does find each
way in which they can differ."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parents[2]
TABLE, PROJECTS = pathlib.Path("include/abi/fault.def"), pathlib.Path("tests/kernels/faults")
PARTS = [TABLE, "scripts/faults", "docs/faults.md", "src/npu", PROJECTS, "tests/unit/npu"]


def check(home):
    return subprocess.run([home / "scripts/faults", "--check"], capture_output=True, text=True)


class FaultsDocument(unittest.TestCase):
    def test_all_agree(self):
        done = check(HOME)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_sixty_faults_have_a_project(self):
        names = set(re.findall(r"^NPU_FAULT\((\w+)", (HOME / TABLE).read_text(), re.M))
        expected = "".join(path.read_text() for path in (HOME / PROJECTS).glob("*/expected"))
        self.assertGreaterEqual(len(names & set(re.findall(r"^fault: (\w+)$", expected, re.M))), 60)


class Differences(unittest.TestCase):
    """What is said of a copy in which one file is different."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = pathlib.Path(folder.name)
        for part in PARTS:
            copy = shutil.copytree if (HOME / part).is_dir() else shutil.copy
            (cls.home / part).parent.mkdir(parents=True, exist_ok=True)
            copy(HOME / part, cls.home / part)

    def complaint(self, file, before, after):
        path = self.home / file
        text = path.read_text()
        self.assertIn(before, text)
        path.write_text(text.replace(before, after, 1))
        done = check(self.home)
        path.write_text(text)
        self.assertEqual(done.returncode, 1)
        return done.stderr.replace(str(self.home) + "/", "")

    def test_a_rule_has_changed(self):
        said = self.complaint(TABLE, "CMPMODE is one of the six", "CMPMODE is one of the seven")
        self.assertEqual(said, "docs/faults.md is out of date: run scripts/faults\n")

    def test_the_document_has_changed(self):
        said = self.complaint("docs/faults.md", "CMPMODE is one of the six", "CMPMODE is one of the seven")
        self.assertEqual(said, "docs/faults.md is out of date: run scripts/faults\n")

    def test_a_section_without_rows(self):
        said = self.complaint("docs/faults.md", "## Matmul\n", "## Matrices\n")
        self.assertIn("'Matrices'", said)

    def test_a_fault_that_nothing_reports(self):
        row = 'NPU_FAULT(user_trap_twice, TRAP,\n          RULE("once")\n          REMEDY("once"))\n'
        said = self.complaint(TABLE, "NPU_FAULT(user_trap,", row + "NPU_FAULT(user_trap,")
        self.assertIn("user_trap_twice: nothing in src/npu reports it\n", said)
        self.assertIn("user_trap_twice: nothing proves it", said)

    def test_a_fault_without_a_remedy(self):
        line = (HOME / TABLE).read_text().split("NPU_FAULT(compare_mode,")[0].count("\n") + 1
        said = self.complaint(TABLE, 'REMEDY("one of LT, GT, EQ, LE, GE, NE")', "")
        self.assertEqual(said, f"{TABLE}:{line}: compare_mode: no REMEDY says what to do about it\n")

    def test_a_project_that_expects_another_fault(self):
        said = self.complaint(PROJECTS / "bad_mask/expected", "fault: vec_mask", "fault: vec_maks")
        self.assertEqual(said.splitlines(), ["vec_mask: nothing proves it, neither a project in tests/kernels/faults nor "
                                             'PROOF("unit: ...")',
                                             "tests/kernels/faults/bad_mask: no row of vec_maks with the kind differs"])

    def test_a_project_that_expects_another_kind(self):
        said = self.complaint(PROJECTS / "no_tiling_data/expected", "kind: trap", "kind: hazard")
        self.assertIn("tests/kernels/faults/no_tiling_data: no row of tiling_missing with the kind hazard\n", said)

    def test_a_project_without_a_fault_is_in_the_text(self):
        said = self.complaint("docs/faults.md", "`lost_remainder`", "another")
        self.assertEqual(said, "tests/kernels/faults/lost_remainder expects no fault by name, and docs/faults.md does not "
                               "mention it\n")

    def test_a_proof_that_is_none(self):
        said = self.complaint(TABLE, 'PROOF("unit: fault_test. No kernel', 'PROOF("unit: coverage_test. No kernel')
        self.assertEqual(said, "copy_gm_to_gm: tests/unit/npu/coverage_test.c does not name it\n")
        said = self.complaint(TABLE, 'PROOF("`select_with_little_space`")', 'PROOF("`bad_mask`")')
        self.assertIn("adv_tmp_too_small: the project bad_mask does not expect it\n", said)

    def test_rows_that_are_none(self):
        line = (HOME / TABLE).read_text().split("NPU_FAULT(compare_mode,")[0].count("\n") + 1
        rule = 'RULE("CMPMODE is one of the six")'
        for wrong, words in [("RULE(CMPMODE)", "expected NPU_FAULT(name, KIND"),
                             ('ROLE("CMPMODE is one of the six")', "the fields are ROLE, REMEDY, SOURCE, CPU_DEBUG, expected"),
                             (f'KIND("hazard") {rule}', "the kind is TRAP, and KIND says hazard")]:
            with self.subTest(wrong=wrong):
                self.assertTrue(self.complaint(TABLE, rule, wrong).startswith(f"{TABLE}:{line}: {words}"))

    def test_a_kind_that_depends_says_on_what(self):
        said = self.complaint(TABLE, 'NPU_FAULT(compare_mode, TRAP', 'NPU_FAULT(compare_mode, DIFFERS_OR_TRAP')
        self.assertIn("DIFFERS_OR_TRAP needs a KIND that says when it is what\n", said)

    def test_a_second_row_and_a_shared_row(self):
        said = self.complaint(TABLE, "NPU_FAULT(compare_mode,", "NPU_FAULT(cast_int4,")
        self.assertIn("cast_int4: the first row is NPU_FAULT, further ones are NPU_FAULT_ALSO\n", said)
        said = self.complaint(TABLE, "AS(l1_overflow)", "AS(l1_overbooked)")
        self.assertIn("l0a_overflow stands in the row of l1_overbooked, which is not the row before\n", said)


if __name__ == "__main__":
    unittest.main()
