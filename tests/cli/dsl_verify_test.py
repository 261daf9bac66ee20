#!/usr/bin/env python3
# test: builds=release cost=25
"""akgen dsl build --verify: what the compiled project computes is what the interpreter computes, whatever the task wants."""
import pathlib
import re
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

    def test_products_whose_sums_the_cube_adds_in_its_own_order(self):
        program = (HOME / "tasks/npukernelbench/level3/GMM/BasicMatmul/program.py").read_text()
        for text in (program, program.replace(": torch.Tensor", "").replace("= 128", "= 48").replace("= 256", "= 80")):
            done = verify(text, "BasicMatmul", "--case", "7")
            self.assertEqual((done.returncode, done.stdout), (0, "case 7: as the interpreter computes it\n"), done.stderr)
        wrong = program.replace("init=at == 0", "init=at <= tile_k")  # the interpreter does the same: nothing to tell
        done = verify(wrong, "BasicMatmul", "--case", "7")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_rounded_zero_has_no_sign(self):
        for operation in ("vfloor", "vceil", "vround", "vtrunc"):
            text = SQRT.replace("tl.vsqrt(y_ub, x_ub)", f"""tl.vmul(x_ub, x_ub, -1e-4)
            tl.{operation}(y_ub, x_ub)
            tl.vreciprocal(y_ub, y_ub)""")
            done = verify(text, "Sqrt", "--case", "2")
            self.assertEqual((done.returncode, done.stdout), (0, "case 2: as the interpreter computes it\n"), operation)

    def test_names_that_cpp_has_for_something_else(self):
        names = {"total": "template", "per_core": "unsigned", "start": "operator", "end": "this", "x_ub": "double",
                 "offsets": "int64_t", "cores": "namespace", "at": "auto"}
        text = SQRT
        for ours, theirs in names.items():
            text = re.sub(rf"\b{ours}\b", theirs, text)
        text = text.replace("\n\n\n# y", "\n\nFLT_MAX = 3e38\nNAN = 2.0\nt = 1\nT = 1\n\n\n# y").replace(
            "tl.vsqrt(y_ub, double)", "tl.vmin(double, double, FLT_MAX * t * T)\n            tl.vmax(y_ub, double, NAN)")
        done = verify(text, "Sqrt", "--case", "2")
        self.assertEqual((done.returncode, done.stdout), (0, "case 2: as the interpreter computes it\n"), done.stderr)

    def test_why_the_tiling_function_refuses_a_shape_is_printed(self):
        text = SQRT.replace("    total = x.numel()", "    total = x.numel()\n    tile = total").replace(": tl.constexpr = 4096", " = 0")
        with tempfile.TemporaryDirectory() as folder:
            built = subprocess.run([AKGEN, "dsl", "build", "-", "--task", "Sqrt", "-o", folder], input=text, text=True,
                                   capture_output=True, timeout=60)
            self.assertEqual((built.returncode, built.stderr), (0, ""))
            done = subprocess.run([AKGEN, "eval", "Sqrt", folder, "--case", "0"], capture_output=True, text=True, timeout=120)
        self.assertRegex(done.stdout, r"the tiles need \d+ bytes of UB, which has 196352")

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

    def test_numbers_are_rounded_to_the_buffers_type(self):
        """0.1 of bfloat16 is 0.100097..: no instruction adds bfloat16, float32 does it."""
        text = SQRT.replace("tl.float32", "x.dtype").replace("tl.vsqrt(y_ub, x_ub)", "tl.vadd_scalar(y_ub, x_ub, 0.1)")
        done = verify(text, "Sqrt")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_loads_over_each_other(self):
        load = "            tl.load(x + offsets, x_ub, mask=offsets < end)\n"
        for text in (SQRT.replace(load, load + load), SQRT.replace(load, load + load).replace("vsqrt(y_ub", "vsqrt(x_ub").replace(
                "offsets, y_ub", "offsets, x_ub")):
            done = verify(text, "Sqrt")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_random_programs_found(self):
        root, allocation = "            tl.vsqrt(y_ub, x_ub)\n", "    y_ub = tl.alloc_ub(tile, dtype=tl.float32)\n"
        half = SQRT.replace("tl.float32", "tl.float16")  # a narrower buffer than the tensor's elements
        pieces = SQRT.replace("mask=offsets < end)\n        #", "mask=offsets < end, other=1.0)\n        #").replace(
            root, "            tl.vmul(x_ub[0:5], x_ub[24:29], 2)\n            tl.vmul(x_ub[0:8], x_ub[24:32], 0.1)\n" + root)
        odd = SQRT.replace("= 4096", "= 250").replace(allocation, allocation + "    b = tl.alloc_ub(tile, dtype=tl.int8)\n").replace(
            root, "            tl.cast(b, x_ub)\n            tl.cast(y_ub, b)\n")  # parts of a room of 250 elements
        chosen = SQRT.replace(allocation, allocation + "    p = tl.alloc_ub(tile, dtype=tl.bool)\n").replace(
            root, "            tl.vgt(p, x_ub, 0.5)\n            tl.vselect(y_ub, p, x_ub, 7.0)\n"
                  "            tl.vselect(x_ub, p, x_ub, 100.0)\n            tl.vadd(y_ub, y_ub, x_ub)\n")  # both in Select's own UB
        wide = chosen.replace("tl.float32", "tl.bfloat16")  # Select has no number of bfloat16
        room = chosen.replace("= 4096", "= 254").replace(
            allocation, allocation + "    t = tl.alloc_ub(tile, dtype=tl.float32)\n    r = tl.alloc_ub(8, dtype=tl.float32)\n").replace(
            "            tl.vgt(p, x_ub", "            tl.vmul(t, x_ub, 3.0)\n            tl.vgt(p, t").replace(
            "tl.vadd(y_ub, y_ub, x_ub)\n", "tl.vadd(y_ub, y_ub, x_ub)\n"
            "            tl.reduce_max(r, t, t, count=min(tile, end - at))\n")
        # room: t is left without values, and compared in whole repeats, in a last tile of 4 elements
        for text, case in ((half, 2), (pieces, 2), (odd, 2), (chosen, 2), (wide, 2), (room, 3)):
            done = verify(text, "multikernelbench/level1/Activation/Relu", "--case", f"{case}")
            self.assertEqual((done.returncode, done.stdout), (0, f"case {case}: as the interpreter computes it\n"), text + done.stderr)

    def test_attributes_are_float32(self):
        """1 - alpha of a double alpha is another number than of what the operator gets."""
        task = "multikernelbench/level1/Optimizer/Rmsprop"
        done = verify((HOME / "tasks" / task / "program.py").read_text(), task, "--case", "1")
        self.assertEqual((done.returncode, done.stdout), (0, "case 1: as the interpreter computes it\n"))

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
