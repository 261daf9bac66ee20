#!/usr/bin/env python3
"""`akgen task` and the eager baseline: what show prints, what check says of a task that lists no kernels."""
import pathlib
import re
import shutil
import tempfile
import unittest

from akgen_program import TASKS, akgen

MIB = 1 << 20


class Eager(unittest.TestCase):
    def test_show_prints_the_bytes_of_the_first_case(self):
        text = akgen("task", "show", "multikernelbench/level1/Activation/Swish").stdout
        # x * sigmoid(x) of [16, 16384] float32, a MiB each.
        self.assertRegex(text, rf"(?m)^eager +Sigmoid +elementwise +reads {MIB} bytes, writes {MIB}: 5\.5 us$")
        self.assertRegex(text, rf"(?m)^ +Mul +elementwise +reads {2 * MIB} bytes, writes {MIB}: 6\.1 us$")
        self.assertRegex(text, r"(?m)^ +case 0: 11\.6 us, 7\.4 with half of each launch, 20\.0 with twice; modelled, of a 910B2$")

    def test_show_prints_the_operations_of_a_product(self):
        text = akgen("task", "show", "level2/Linalg/Matmul").stdout
        # [256, 256] x [256, 256] of halves.
        self.assertRegex(text, rf"(?m)^eager +MatMulV2 +matmul +reads {4 * 256 * 256} bytes, writes {2 * 256 * 256}, {2 * 256**3} flops: ")

    def test_check_says_that_there_is_no_baseline(self):
        with tempfile.TemporaryDirectory() as home:
            task = pathlib.Path(home, "Sqrt")
            shutil.copytree(TASKS / "level1/Math/Sqrt", task)
            path = task / "task.yaml"
            path.write_text(re.sub(r"^eager:\n(?:[ ].*\n)+", "", path.read_text(), flags=re.M))
            done = akgen("task", "check", str(task))
            self.assertEqual(done.returncode, 0)
            self.assertIn("level1/Math/Sqrt: no 'eager' in task.yaml, which lists what PyTorch on the NPU launches: no speedup can be modelled",
                          done.stdout)
            self.assertNotIn("modelled, of a", akgen("task", "show", str(task)).stdout)
            path.write_text(path.read_text() + "eager:\n  - {kernel: Sqrt, kind: elementary, reads: [x], writes: [y]}\n")
            done = akgen("task", "check", str(task))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("kind is 'elementary', expected elementwise, foreach,", done.stderr)


if __name__ == "__main__":
    unittest.main()
