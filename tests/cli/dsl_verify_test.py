#!/usr/bin/env python3
"""akgen dsl build --verify: what the compiled project computes is what the interpreter computes, whatever the task wants."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME
from dsl_build_test import SQRT


def verify(text, task, *arguments):
    return subprocess.run([AKGEN, "dsl", "build", "-", "--task", task, "--verify", *arguments], capture_output=True,
                          text=True, input=text, timeout=300)


class Verify(unittest.TestCase):
    def test_a_right_program(self):
        done = verify(SQRT, "Sqrt")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        lines = done.stdout.splitlines()
        self.assertEqual(lines, [f"case {i}: as the interpreter computes it" for i in range(len(lines))])
        self.assertGreater(len(lines), 3)

    def test_the_task_has_no_say(self):
        """A cosine is no root, and is compiled rightly all the same."""
        done = verify(SQRT.replace("vsqrt", "vcos"), "Sqrt", "--case", "2")
        self.assertEqual((done.returncode, done.stdout), (0, "case 2: as the interpreter computes it\n"), done.stderr)

    def test_rows_and_sums(self):
        program = (HOME / "tasks/npukernelbench/level2/Norm/RmsNorm/program.py").read_text()
        done = verify(program, "RmsNorm", "--case", "2")
        self.assertEqual((done.returncode, done.stdout), (0, "case 2: as the interpreter computes it\n"), done.stderr)

    def test_a_function_of_its_own_source(self):
        """The high-level library may not write where it reads."""
        for operation in ("vacos", "vexp2", "vsign", "vtanh"):
            text = SQRT.replace("tl.vsqrt(y_ub, x_ub)", f"tl.{operation}(x_ub, x_ub)").replace("offsets, y_ub", "offsets, x_ub")
            done = verify(text, "multikernelbench/level1/Activation/Relu", "--case", "2")
            self.assertEqual((done.returncode, done.stdout), (0, "case 2: as the interpreter computes it\n"), operation)

    def test_float16_and_bfloat16_convert_by_way_of_float32(self):
        text = SQRT.replace("x_ub = tl.alloc_ub(tile, dtype=tl.float32)", "x_ub = tl.alloc_ub(tile, dtype=tl.float16)").replace(
            "y_ub = tl.alloc_ub(tile, dtype=tl.float32)", "y_ub = tl.alloc_ub(tile, dtype=tl.float16)")
        for kind in ("float16", "bfloat16"):
            done = verify(text.replace("float16", kind), "Sqrt")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_project_is_where_it_was_asked_for(self):
        with tempfile.TemporaryDirectory(prefix="akgen-dsl-") as folder:
            done = verify(SQRT, "Sqrt", "--case", "0", "-o", folder)
            self.assertEqual((done.returncode, done.stdout), (0, "case 0: as the interpreter computes it\n"))
            self.assertTrue((pathlib.Path(folder) / "op_kernel/sqrt.cpp").exists())

    def test_what_the_interpreter_stops_at_is_no_agreement(self):
        """The last tile reads behind the tensor: the interpreter says so, whatever the machine did."""
        past = SQRT.replace("tl.load(x + offsets, x_ub, mask=offsets < end)", "tl.load(x + offsets, x_ub)")
        done = verify(past, "multikernelbench/level1/Activation/Relu", "--case", "2")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^case 2: ")
        self.assertNotIn("as the interpreter", done.stdout)

    def test_wrong_usage(self):
        self.assertEqual(verify(SQRT, "Sqrt", "--case", "4711").returncode, 2)
        self.assertEqual(verify("x = (\n", "Sqrt").returncode, 1)


if __name__ == "__main__":
    unittest.main()
