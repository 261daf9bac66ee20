#!/usr/bin/env python3
"""Giant cases: the smaller case that stands in for one can only acquit. Where it is not right the published one runs at its full
size, and that counts; a machine without the memory says neither."""
import json
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

from akgen_program import TASKS, akgen, copy_reference, edit, verdict

TASK = "level1/Math/AddCustom"
GIANT = 3
PUBLISHED = 48 * 32 * 4096
TILE = "static_cast<uint32_t>(tile)"


class Giants(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="akgen-giant-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.project = copy_reference(TASK, self.folder)
        self.host = self.project / "op_host" / "add_custom.cpp"
        self.kernel = self.project / "op_kernel" / "add_custom.cpp"

    def overrun_unless(self, condition):
        """Tiles that UB has no room for."""
        edit(self.host, TILE, f"static_cast<uint32_t>(({condition}) ? tile : 4 * tile)")

    def refuse_unless(self, condition):
        declared = "    AddCustomTilingData tiling;\n"
        edit(self.host, declared, f"    if (!({condition}))\n        return ge::GRAPH_FAILED;\n{declared}")

    def row(self, result, number=GIANT):
        return next(row for row in result["cases"] if row["case"] == number)

    def test_right_when_small(self):
        row = self.row(verdict(TASK, self.project, f"--case={GIANT}"))
        self.assertEqual((row["verdict"], row["reduced"], row["stand_in"]), ("pass", True, None))

    def test_fault_when_small_only(self):
        self.overrun_unless(f"total >= {PUBLISHED}")
        result = verdict(TASK, self.project, f"--case={GIANT}")
        row = self.row(result)
        self.assertEqual((result["verdict"], row["reduced"], row["shape"]),
                         ("pass", False, "x[48,32,4096] y[48,32,4096]"), result["reason"])
        self.assertRegex(row["stand_in"], r"^x\[24,32,4096\] y\[24,32,4096\]: fault: .*UB")
        text = akgen("eval", TASK, self.project, f"--case={GIANT}").stdout
        self.assertIn("case 3   pass", text)
        self.assertIn("a smaller case that stood in is not right and does not count: x[24,32,4096]", text)

    def test_refused_when_small_only(self):
        self.refuse_unless(f"total >= {PUBLISHED}")
        row = self.row(verdict(TASK, self.project, f"--case={GIANT}", "--inputs=2"))
        self.assertEqual((row["verdict"], row["reduced"], row["inputs_tried"]), ("pass", False, 2))
        self.assertIn(": wrong: ", row["stand_in"])

    def test_wrong_at_any_size(self):
        edit(self.kernel, "Add(z, x, y, count);", "Sub(z, x, y, count);")
        result = verdict(TASK, self.project, f"--case={GIANT}")
        row = self.row(result)
        self.assertEqual((result["verdict"], row["verdict"], row["reduced"]), ("wrong", "wrong", False))
        self.assertEqual(row["comparison"]["elements"], PUBLISHED)
        self.assertIn(": wrong: ", row["stand_in"])

    def test_asked_for(self):
        self.overrun_unless(f"total >= {PUBLISHED}")
        row = self.row(verdict(TASK, self.project, f"--case={GIANT}", "--full"))
        self.assertEqual((row["verdict"], row["reduced"], row["stand_in"]), ("pass", False, None))

    def test_in_a_run(self):
        self.overrun_unless(f"total >= {PUBLISHED}")
        answers, page, db = self.folder / "answers", self.folder / "run.html", self.folder / "run.db"
        shutil.copytree(self.project, answers / TASK)
        done = akgen("bench", f"--provider=dir:{answers}", f"--task={TASK}", f"--report={page}", f"--db={db}", "--jobs=2")
        self.assertEqual(done.returncode, 1, done.stdout)  # the small cases fail for good
        self.assertIn("full size, because a smaller case that stood in is not right: x[24,32,4096]", page.read_text())
        kept = json.loads(sqlite3.connect(db).execute("SELECT json FROM verdicts").fetchone()[0])
        self.assertTrue(self.row(kept)["stand_in"].startswith("x[24,32,4096]"))


class Memory(unittest.TestCase):
    """A case that no machine has room for."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="akgen-giant-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.project = copy_reference(TASK, self.folder)
        self.task = self.folder / "AddCustom"
        self.task.mkdir()
        shutil.copy(TASKS / TASK / "task.yaml", self.task)
        (self.task / "cases.csv").write_text("case_id;shape;dtype\n0;[262144, 1048576];float16\n1;[4096];float16\n")
        edit(self.project / "op_host" / "add_custom.cpp", TILE, "4 * static_cast<uint32_t>(tile)")

    def test_neither_right_nor_wrong(self):
        result = verdict(self.task, self.project, "--case=0")
        self.assertEqual((result["verdict"], result["exit_code"]), ("infra_error", 3))
        self.assertRegex(result["reason"], r"takes about [\d.]+ GiB of memory, of which this machine has [\d.]+$")
        self.assertIn(": fault: ", result["cases"][0]["stand_in"])

    def test_what_other_cases_show_stands(self):
        result = verdict(self.task, self.project)
        self.assertEqual([row["verdict"] for row in result["cases"]], ["infra_error", "fault"])
        self.assertEqual(result["verdict"], "fault")
        self.assertTrue(result["reason"].startswith("case 1: "), result["reason"])


class StrictOrder(unittest.TestCase):
    def test_a_run_says_so(self):
        with tempfile.TemporaryDirectory(prefix="akgen-order-") as folder:
            db = pathlib.Path(folder) / "run.db"
            options = ("bench", f"--task={TASK}", "--case=0", f"--db={db}")
            self.assertEqual(akgen(*options, "--strict-order").returncode, 0)
            self.assertEqual(sqlite3.connect(db).execute("SELECT protocol FROM runs").fetchall(), [("strict order",)])
            with sqlite3.connect(db) as runs:
                runs.execute("UPDATE runs SET seconds = NULL")
            other = akgen(*options, "--resume")
            self.assertIn("no unfinished run with these settings", other.stdout + other.stderr)
            self.assertEqual(akgen(*options, "--strict-order", "--resume").returncode, 0)


if __name__ == "__main__":
    unittest.main()
