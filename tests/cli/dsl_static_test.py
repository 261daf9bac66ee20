#!/usr/bin/env python3
"""akgen dsl build --static N: a kernel for one case, which holds what the host function would give it, and the task's given host
part."""
import pathlib
import re
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME, verdict
from dsl_build_test import SQRT


class Static(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def build(self, program, task, number, *arguments):
        return subprocess.run([AKGEN, "dsl", "build", "-", "--task", task, "--static", str(number), *arguments],
                              capture_output=True, text=True, input=program, timeout=300)

    def own(self, task):
        return (HOME / "tasks" / task / "program.py").read_text()

    def test_it_is_a_kernel_alone_with_the_values_of_the_case(self):
        done = self.build(SQRT, "Sqrt", 3, "-o", str(self.dir))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        files = sorted(str(path.relative_to(self.dir)) for path in self.dir.rglob("*.*"))
        self.assertEqual(files, ["op_kernel/sqrt.cpp", "program.map.json"])
        kernel = (self.dir / "op_kernel/sqrt.cpp").read_text()
        self.assertNotIn("tilingData", kernel)
        total = 48 * 32 * 4096  # case 3: bfloat16 [48, 32, 4096]
        self.assertEqual(re.findall(r"constexpr int64_t (?:TOTAL|PER_CORE) = (\d+);", kernel), [str(total), str(total // 48)])
        self.assertIn("    if (GetBlockIdx() >= 48) {\n        return;\n", kernel)
        for options in (("--sync", "auto"), ("--sync", "manual", "--schedule", "random:2", "--strict-order")):
            found = verdict("Sqrt", self.dir, "--scope=kernel", "--mode=static", "--case=3", *options)
            self.assertEqual((found["verdict"], found["cases_total"]), ("pass", 1), found["reason"])

    def test_other_shapes_are_other_kernels(self):
        self.build(SQRT, "Sqrt", 3, "-o", str(self.dir))
        self.assertNotEqual(verdict("Sqrt", self.dir, "--scope=kernel", "--mode=static", "--case=0")["verdict"], "pass")

    def test_lists_rows_and_the_cube(self):
        for task, number in (("npukernelbench/level2/Foreach/ForeachLerpScalar", 0), ("npukernelbench/level2/Norm/RmsNorm", 2),
                             ("npukernelbench/level3/GMM/BasicMatmul", 0), ("multikernelbench/level1/Activation/Softmax", 0)):
            done = self.build(self.own(task), task, number, "--verify")
            self.assertEqual((done.returncode, done.stdout), (0, f"case {number}: as the interpreter computes it\n"), task + done.stderr)

    def test_what_the_given_host_part_does_not_do(self):
        text = SQRT.replace("cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))", "cores = 49")
        for program, task, line, part, said in (
                (text, "Sqrt", text, "sqrt_kernel[cores]", "launched on 49 cores, the given host part launches 48 blocks"),
                (SQRT.replace("    for at in", "    tl.sync_all()\n    for at in").replace("min(tl.num", "min(7, tl.num"), "Sqrt", None, None,
                 "waits for all 48 blocks that the given host part launches, and the program uses 7"),
                (self.own("multikernelbench/level1/Loss/MseLoss"), "multikernelbench/level1/Loss/MseLoss", None, None, "is workspace"),
                (SQRT.replace("    cores = ", "    assert total % 2 == 1, \"odd\"\n    cores = "), "Sqrt", None, None, "refuses the shape: odd"),
                (SQRT.replace("if total == 0", "if total > 0"), "Sqrt", None, None, "there is nothing to do")):
            done = self.build(program, task, 0, "-o", str(self.dir))
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(said, done.stderr)
            if part:
                number = 1 + next(i for i, text in enumerate(line.splitlines()) if part in text)
                self.assertTrue(done.stderr.startswith(f"-:{number}:"), done.stderr)

    def test_usage(self):
        self.assertIn("case 999", self.build(SQRT, "Sqrt", 999, "-o", str(self.dir)).stderr)
        self.assertIn("has a host part", self.build(SQRT, "Sqrt", 0, "--response", str(self.dir / "answer")).stderr)


if __name__ == "__main__":
    unittest.main()
