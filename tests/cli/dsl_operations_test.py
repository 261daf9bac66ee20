#!/usr/bin/env python3
# test: builds=release cost=27
"""akgen dsl build --verify: functions, and operations that one instruction or several do according to the data type, compute what the
interpreter computes. What that is the unit tests say (tests/unit/dsl/elements_test.c)."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN

TASK = """suite: mine
level: 1
category: Math
op: Same
reference: formula
inputs:
  - name: x
    shape: "$shape"
    dtype: "$dtype"
    types: [float32, float16, bfloat16]
    generate: "{x}"
  - name: z
    shape: "$shape"
    dtype: "$dtype"
    types: [float32, float16, bfloat16]
    generate: "{z}"
outputs:
  - name: y
    shape: "$shape"
    dtype: "$dtype"
    types: [float32, float16, bfloat16]
    formula: "1"
"""
CASES = "case_id;shape;dtype\n0;[1];float32\n1;[7, 33];float16\n2;[1025];bfloat16\n3;[5, 1021];float32\n4;[3, 777];bfloat16\n5;[2001];float16\n"
PROGRAM = """import tile.language as tl


@ascend_kernel
def same_kernel(x, z, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype={dtype})
    z_ub = tl.alloc_ub(tile, dtype={dtype})
    y_ub = tl.alloc_ub(tile, dtype={dtype})
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=n)
            tl.load(z + at, z_ub, count=n)
        with tl.compute():
{steps}
        with tl.copyout():
            tl.store(y + at, y_ub, count=n)


def same_host(x: torch.Tensor, z: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 512):
    total = x.numel()
    per_core = tl.cdiv(tl.cdiv(total, tl.num_vec_cores()), 64) * 64
    same_kernel[tl.num_vec_cores()](x, z, y, total, per_core, tile)
"""

# Steps, what x is, what z is.
COMPUTED = (
    ("tl.vasinh(y_ub, x_ub, count=n)", "randn*10", "randn"),
    ("tl.vacosh(y_ub, x_ub, count=n)", "uniform(1, 9)", "randn"),
    ("tl.vatanh(y_ub, x_ub, count=n)", "uniform(-0.99, 0.99)", "randn"),
    ("tl.vlgamma(y_ub, x_ub, count=n)", "uniform(0.05, 40)", "randn"),
    ("tl.vlgamma(y_ub, x_ub, count=n)", "uniform(-4.9, -0.1)", "randn"),
    ("tl.vdigamma(y_ub, x_ub, count=n)", "uniform(0.05, 40)", "randn"),
    ("tl.vdigamma(y_ub, x_ub, count=n)", "uniform(-4.9, -0.1)", "randn"),
    ("tl.vfrac(y_ub, x_ub, count=n)", "randn*100", "randn"),
    ("tl.vfmod(y_ub, x_ub, z_ub, count=n)", "randn*100", "uniform(0.1, 5)"),
    ("tl.vfmod(x_ub, x_ub, -1.5, count=n); tl.vadd(y_ub, x_ub, 0.0, count=n)", "randn*100", "randn"),
    ("tl.vfmod(z_ub, x_ub, z_ub, count=n); tl.vfmod(y_ub, z_ub, 0.75, count=n)", "randn*100", "uniform(-5, -0.1)"),
    ("tl.vleaky_relu(y_ub, x_ub, 0.01, count=n)", "randn", "randn"),
    ("tl.duplicate(y_ub, 1.5, count=n); tl.vmul_add(y_ub, x_ub, z_ub, count=n)", "randn", "randn"),
    ("tl.vmul_add(x_ub, x_ub, z_ub, count=n); tl.vneg(y_ub, x_ub, count=n)", "randn", "randn"),
)

ROWS_TASK = """suite: mine
level: 1
category: Math
op: Same
reference: formula
inputs:
  - name: x
    shape: "[$rows, $cols]"
    dtype: "$dtype"
    types: [float32, float16]
    generate: "{x}"
    special: nan inf
outputs:
  - name: y
    shape: "[$rows]"
    dtype: int32
    types: [int32, int32]
    formula: "1"
"""
ROWS_CASES = "case_id;rows;cols;dtype\n" + "".join(f"{i};{rows};{cols};{('float32', 'float16')[i % 2]}\n" for i, (rows, cols) in enumerate(
    ((1, 1), (3, 7), (700, 5), (33, 64), (40, 65), (5, 1000), (2, 3000), (1, 127), (300, 16))))
ROWS_PROGRAM = """import tile.language as tl


@ascend_kernel
def same_kernel(x, y, rows, cols, per_core, tile):
    first = tl.program_id(0) * per_core
    last = min(first + per_core, rows)
    pitch = tl.pitch(cols)
    step = tile // pitch
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile // 16, dtype=tl.int32)
    for row in range(first, last, step):
        n = min(step, last - row)
        with tl.copyin():
            tl.load_rows(x + row * cols, x_ub, n, cols, cols, pitch)
        with tl.compute():
            tl.{operation}(y_ub, x_ub, n, cols, pitch)
        with tl.copyout():
            tl.store(y + row, y_ub, count=n)


def same_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 6144):
    rows, cols = x.shape
    assert tl.pitch(cols) <= tile, "rows too long"
    cores = min(tl.num_vec_cores(), rows)
    same_kernel[cores](x, y, rows, cols, tl.cdiv(rows, cores), tile)
"""


class Operations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-operations-")
        self.addCleanup(folder.cleanup)
        self.task = pathlib.Path(folder.name) / "mine/level1/Math/Same"
        self.task.mkdir(parents=True)
        (self.task / "cases.csv").write_text(CASES)
        (self.task / "desc.md").write_text("An operation, computed.\n")

    def build(self, text, *arguments):
        (self.task / "program.py").write_text(text)
        return subprocess.run([AKGEN, "dsl", "build", self.task / "program.py", "--task", self.task, *arguments], capture_output=True,
                              text=True, timeout=300)

    def test_operations(self):
        for steps, x, z in COMPUTED:
            (self.task / "task.yaml").write_text(TASK.format(x=x, z=z))
            for dtype in ("tl.float32", "x.dtype"):
                with self.subTest(steps, dtype=dtype):
                    lines = "\n".join(f"            {step}" for step in steps.split("; "))
                    done = self.build(PROGRAM.format(dtype=dtype, steps=lines), "--verify")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertEqual(done.stdout.count("as the interpreter computes it"), 6, done.stdout)

    def test_places_in_rows(self):
        """Of rows of one repeat and of more, with many equal ones."""
        (self.task / "cases.csv").write_text(ROWS_CASES)
        for operation in ("row_argmax", "row_argmin"):
            for x in ("randint(-3, 3)", "randn"):
                (self.task / "task.yaml").write_text(ROWS_TASK.format(x=x))
                with self.subTest(operation, x=x):
                    done = self.build(ROWS_PROGRAM.format(operation=operation), "--verify")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertEqual(done.stdout.count("as the interpreter computes it"), 9, done.stdout)

    def test_rows_of_integers(self):
        """Sums that wrap, and bounds, of rows of less than a block and of many."""
        integers = ROWS_TASK.replace("[float32, float16]", "[int32]").replace("[int32, int32]", "[int32]").replace("    special: nan inf\n", "")
        (self.task / "task.yaml").write_text(integers.format(x="randint(-2000000000, 2000000000)"))
        (self.task / "cases.csv").write_text(ROWS_CASES.replace("float32", "int32").replace("float16", "int32"))
        for operation in ("row_sum", "row_max", "row_min"):
            with self.subTest(operation):
                done = self.build(ROWS_PROGRAM.replace("tl.float32", "tl.int32").format(operation=operation), "--verify")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("as the interpreter computes it"), 9, done.stdout)

    def test_one_instruction_where_there_is_one(self):
        """The product that is added is one instruction where the vector unit has the type, and two where bfloat16 is computed in float32."""
        (self.task / "task.yaml").write_text(TASK.format(x="randn", z="randn"))
        steps = "            tl.duplicate(y_ub, 1.5)\n            tl.vmul_add(y_ub, x_ub, z_ub)"
        one = self.build(PROGRAM.format(dtype="tl.float32", steps=steps), "--print").stdout
        self.assertIn("MulAddDst(y, x, z, n);", one)
        self.assertNotIn("Mul(", one)
        two = self.build(PROGRAM.format(dtype="x.dtype", steps=steps), "--print").stdout
        self.assertNotIn("MulAddDst", two)


if __name__ == "__main__":
    unittest.main()
