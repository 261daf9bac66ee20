#!/usr/bin/env python3
# test: cost=35 labels=long
"""Phases that a program does not write: a tl.sync_all() that is missing is put where all cores pass, or it is a mistake."""
import pathlib
import re
import tempfile
import unittest

from akgen_program import HOME
from dsl_build_test import build
from dsl_explain_test import explain, of_kind
from dsl_rules_test import SUM, akgen
from dsl_verify_test import verify

LINE = re.compile(r"^ *tl\.sync_all\(\)\n", re.M)
NO_SYNC = LINE.sub("", SUM)

# Each core joins the parts of its own samples: a loop that the compiler cannot know to have as many turns on each core.
OF_A_CORE = ("multikernelbench/level1/Normalization/LayerNorm",)

# Each turn every core stores a number and loads that of the core behind it.
TURNS = """@ascend_kernel
def abs_kernel(x, y, given, turns, total, cores):
    core = tl.program_id(0)
    ub = tl.alloc_ub(64, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(ub, 1.0, count=8)
    for turn in range({turns}):
        with tl.copyout():
            tl.store(given + (turn * cores + core) * 8, ub, count=8)
        {between}
        with tl.copyin():
            tl.load(given + (turn * cores + (core + 1) % cores) * 8, ub, count=8)
        with tl.compute():
            tl.vadd_scalar(ub, ub, 1.0, count=8)
    for at in range(core * 64, total, cores * 64):
        n = min(64, total - at)
        with tl.copyin():
            tl.load(x + at, ub, count=n)
        with tl.copyout():
            tl.store(y + at, ub, count=n)


def abs_host(x: torch.Tensor, y: torch.Tensor, turns: tl.constexpr = 3):
    total = x.numel()
    given = torch.empty(turns * 4 * 8, dtype=tl.float32)
    abs_kernel[4](x, y, given, turns, total, 4)
"""


def kernel_of(text, task, *arguments):
    """The printed kernel, and what the compiler said."""
    with tempfile.TemporaryDirectory() as out:
        done = build(text, task, "-o", out, *arguments)
        kernels = sorted(pathlib.Path(out).glob("op_kernel/*.cpp"))
        return "".join(kernel.read_text() for kernel in kernels), done


class Phases(unittest.TestCase):
    def test_the_tasks_programs_without_their_barriers(self):
        """What is put in is what was written: as many barriers, before the same loads. Where a barrier stands in a loop
        whose turns differ from core to core, none is put in, and the checker says what is missing."""
        programs = [path for path in sorted(HOME.glob("tasks/*/*/*/*/program.py")) if LINE.search(path.read_text())]
        self.assertGreater(len(programs), 25)
        for path in programs:
            task = str(path.parent.relative_to(HOME / "tasks"))
            if task in OF_A_CORE:
                done = akgen(("check", "--task", task), LINE.sub("", path.read_text()))
                with self.subTest(task):
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("put tl.sync_all() between", done.stdout + done.stderr)
                continue
            written, _ = kernel_of(path.read_text(), task)
            inferred, done = kernel_of(LINE.sub("", path.read_text()), task)
            with self.subTest(task):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(inferred.count("SyncAll"), written.count("SyncAll"))
                self.assertEqual(sorted(inferred.split("\n")), sorted(written.split("\n")))

    def test_it_is_said(self):
        done = akgen(("check",), NO_SYNC)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("-:20:16: warning: 'sums', which line 17 stores, is loaded: tl.sync_all() is put before line 18 [shared]",
                      done.stdout + done.stderr)
        path = HOME / "tasks/multikernelbench/level1/Loss/MseLoss/program.py"
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program.py")
            program.write_text(LINE.sub("", path.read_text()))
            told, = of_kind(explain(str(program), "--task", "multikernelbench/level1/Loss/MseLoss")[0], "sync_all")
            self.assertIs(told["facts"]["inferred"], True)
            self.assertIn("the compiler put the tl.sync_all() there", told["sentence"])

    def test_on_the_machine(self):
        path = HOME / "tasks/multikernelbench/level1/Loss/MseLoss/program.py"
        done = verify(LINE.sub("", path.read_text()), "multikernelbench/level1/Loss/MseLoss")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_turns_that_all_cores_take_alike(self):
        text = TURNS.format(turns="turns", between="pass")
        kernel, done = kernel_of(text, "level1/Math/Sqrt")
        self.assertEqual(kernel.count("SyncAll"), 1, done.stderr)
        self.assertLess(kernel.index("for ("), kernel.index("SyncAll"))
        done = verify(text, "level1/Math/Sqrt", "--case", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_where_some_cores_only_pass(self):
        """A loop whose turns differ from core to core, and cores that have left: the mistake stays one."""
        for text in (TURNS.format(turns="core + 1", between="pass"),
                     TURNS.format(turns="turns", between="if core == 3:\n            break"),
                     TURNS.format(turns="turns", between="if tl.extract_scalar(ub, 0) > 1.5:\n            continue"),
                     NO_SYNC.replace("    if pid == 0:\n", "    if pid == 9:\n        return\n    if pid == 0:\n")):
            kernel, done = kernel_of(text, "level1/Math/Sqrt")
            with self.subTest(text):
                self.assertNotIn("SyncAll", kernel)
                self.assertNotIn("is put before", done.stderr)
        self.assertIn("is there behind a tl.sync_all()", akgen(("run", "--task", "level1/Math/Sqrt", "--case", "1"),
                                        TURNS.format(turns="core + 1", between="pass")).stderr)


if __name__ == "__main__":
    unittest.main()
