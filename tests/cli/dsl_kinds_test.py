#!/usr/bin/env python3
# test: cost=13 labels=long
"""A buffer's data type that is chosen through variables: by the data types of tensors it is settled in the compiler, by anything else it is refused."""
import pathlib
import tempfile
import unittest

from akgen_program import akgen, verdict

PROGRAM = """import tile.language as tl


@ascend_kernel
def root_kernel(x, y, n, tile):
    flag = {flag}
    kind = x.dtype if flag else tl.float32
    x_ub = tl.alloc_ub(tile, dtype=x.dtype)
    f_ub = tl.alloc_ub(tile, dtype=kind)
    y_ub = tl.alloc_ub(tile, dtype=x.dtype)
    per = tl.cdiv(n, tl.num_programs(0))
    first = tl.program_id(0) * per
    last = min(first + per, n)
    for at in range(first, last, tile):
        m = min(tile, last - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=m)
        with tl.compute():
            tl.cast(f_ub, x_ub, count=m)
            tl.vsqrt(f_ub, f_ub, count=m)
            tl.cast(y_ub, f_ub, count=m)
        with tl.copyout():
            tl.store(y + at, y_ub, count=m)


def root_host(x, y, tile: tl.constexpr = 2048):
    n = x.numel()
    root_kernel[tl.num_vec_cores()](x, y, n, tile)
"""


class Kinds(unittest.TestCase):
    def build(self, flag):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name, "root.py")
        program.write_text(PROGRAM.format(flag=flag))
        return akgen("dsl", "build", program, "--task", "Sqrt", "-o", program.parent / "project"), program.parent / "project"

    def test_by_data_types(self):
        for flag in ("x.dtype == tl.float32", "not (x.dtype != tl.float32)"):
            done, project = self.build(flag)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(verdict("Sqrt", project, "--profile=strict")["verdict"], "pass")

    def test_by_a_size(self):
        done, _ = self.build("n > 3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("root.py:9:36: error: which data type 'f_ub' holds is not known before the run [not-compiled]", done.stderr)


if __name__ == "__main__":
    unittest.main()
