#!/usr/bin/env python3
"""akgen dsl: programs as other people write them. What they may say compiles to what the interpreter computes, and what they may not is told with
what to write instead."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN

TASK = """suite: mine
level: 1
category: Math
op: Text
reference: formula
inputs:
  - {name: x, shape: "$shape", dtype: float32, types: [float32], generate: "randn"}
outputs:
  - {name: y, shape: "$shape", dtype: float32, types: [float32], formula: "x"}
  - {name: z, shape: "$shape", dtype: int32, types: [int32], formula: "1"}
"""

PROGRAM = """import math
import tile.language as tl

N = 0x200
K = 1_000
SCALE = 0.9
ROOT = math.sqrt(2.0 / math.pi)
TENTH = 0.1 * 3 - 0.2
SMALL = 2.0 ** -1
SIZE = 2 ** 9


@ascend_kernel
def k(x, y, z, kept, n):
    a = tl.alloc_ub(N, dtype=tl.float32)
    b = tl.alloc_ub(SIZE, dtype=tl.int32)
    shape = (4, 128)
    c = tl.alloc_ub((N,), dtype=tl.float32)
    d = tl.alloc_ub(shape, dtype=tl.float32)
    for at in range(tl.program_id(0) * 0x200, n, N * tl.num_programs(0)):
        m = min(N, n - at)
        with tl.copyin():
            tl.load(x + at + m - m, a, count=m)
            tl.load(x + at, c, count=m)
        with tl.compute():
            tl.vmul_scalar(a, a, 0x10, count=m)
            tl.vadd_scalar(a, a, 1_000, count=m)
            tl.vsub_scalar(a, a, K, count=m)
            tl.vmul_scalar(a, a, 1 - SCALE, count=m)
            tl.vmul_scalar(a, a, 1 - TENTH, count=m)
            tl.vadd_scalar(a, a, ROOT - SMALL, count=m)
            tl.vmin_scalar(a, a, 1e308 * 10, count=m)
            tl.vmul_add(a, c, c, count=m)
            tl.vabs(d, c, count=m)
            tl.vmul_add(a, d, d, count=m)
            tl.duplicate(b, -2147483648, count=m)
            tl.vadd_scalar(b, b, 2147483647, count=m)
        with tl.copyout():
            tl.store(y + at, a, count=m)
            tl.store(z + at, b, count=m)
{wait}

def host(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor):
    kept = torch.empty(8, dtype=tl.float32)
    k[{cores}](x, y, z, kept, x.numel())
"""

SCALED = """@ascend_kernel
def k(a, b, c, m, n):
    a_l1 = tl.alloc_l1((64, 64), dtype=tl.int8)
    b_l1 = tl.alloc_l1((64, 64), dtype=tl.int8)
    c_l0 = tl.alloc_l0c((64, 64), dtype=tl.int32)
    with tl.copyin():
        tl.load_tile(a, a_l1, m, 64, 64)
        tl.load_tile(b, b_l1, 64, n, n)
    with tl.compute():
        tl.gemm(c_l0, a_l1, b_l1, m, n, 64, init=True)
    with tl.copyout():
        tl.store_tile(c, c_l0, m, n, n, scale=0.5)


def host(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor):
    assert a.shape[0] <= 64 and a.shape[1] == 64 and b.shape[0] == 64 and b.shape[1] <= 64
    k[1](a, b, c, a.shape[0], b.shape[1])
"""

# Of another shape than its first operand, which nothing asserts; tiles whose sizes have little in common.
PRODUCT = """@ascend_kernel
def k(a, b, c, m, n, k):
    a_l1 = tl.alloc_l1((32, 64), dtype=tl.float16)
    b_l1 = tl.alloc_l1((64, 48), dtype=tl.float16)
    c_l0 = tl.alloc_l0c((32, 48), dtype=tl.float32)
    across = tl.cdiv(n, 48)
    for t in range(tl.program_id(0), tl.cdiv(m, 32) * across, tl.num_programs(0)):
        i = t // across * 32
        j = t % across * 48
        r = min(32, m - i)
        s = min(48, n - j)
        for p in range(0, k, 64):
            d = min(64, k - p)
            with tl.copyin():
                tl.load_tile(a + i * k + p, a_l1, r, d, k)
                tl.load_tile(b + p * n + j, b_l1, d, s, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, r, s, d, init=p == 0)
        with tl.copyout():
            tl.store_tile(c + i * n + j, c_l0, r, s, n)


def host(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor):
    m, k = a.shape
    n = b.shape[1]
    if m * n * k == 0:
        return
    k[min(24, tl.cdiv(m, 32) * tl.cdiv(n, 48))](a, b, c, m, n, k)
""".replace("def k(", "def product(").replace("    k[", "    product[")

# Shares that do not begin where others end, of tiles that are large.
UNEVEN = """@ascend_kernel
def k(x, y, n, left, tile):
    part = n // 40
    if tl.program_id(0) < left:
        part += 1
    start = tl.program_id(0) * part
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for i in range((part + tile - 1) // tile):
        offsets = start + i * tile + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub)
        with tl.compute():
            tl.vmax(y_ub, x_ub, 0.0)
            tl.vmin(x_ub, x_ub, 0.0)
            tl.vmul_scalar(x_ub, x_ub, 0.5)
            tl.vadd(y_ub, y_ub, x_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub)


def host(x: torch.Tensor, y: torch.Tensor):
    n = x.numel()
    k[40](x, y, n, n % 40, 8192)
"""

# What is changed in the program, and line and text of what is told.
TOLD = [
    ("    k[{cores}]", "    d = {1: 2}\n    k[{cores}]", ":45:9: error: there is no dictionary in AscendDSL", "give each value a name of its own"),
    ("K = 1_000\n", "K = 1_000; L = 1\n", ":5:10: error: there is one statement in a line", "give each statement a line of its own"),
    ("K = 1_000\n", "K, L = 1_000, 1\n", ":5:1: error: outside of functions stand imports", "give each constant a line of its own"),
    ("SIZE = 2 ** 9", "SIZE = 2 ** -9", ":10:10: error: a negative power of an integer", "write 1.0 / x ** n"),
    ("torch.empty(8, dtype=tl.float32)", "torch.empty_like(x)", "error: torch has no operation 'empty_like'",
     "outputs are parameters of the host function"),
    ("    shape = (4, 128)\n", "    a = tl.alloc_ub(64, dtype=tl.float32)\n", "error: 'a' is assigned more than once", "give each buffer a name"),
    ("K = 1_000\n", "def rounded(a):\n    return a // 8 * 8\n\n\nK = 1_000\n", ":5:5: error: 'rounded' is neither the kernel nor the host function",
     "write what it computes where it is called"),
    ("k[{cores}]", "k[({cores}, 2)]", "error: the number of cores is a list of integers", "there is one axis of cores"),
    ("import math\n", "```python\nimport math\n", ":1:1: error: the character '`' has no meaning here", "give the program alone"),
    ("tl.vabs(d, c, count=m)", "tl.vabs(c, d, count=m)", "error: 'd' is read, and nothing writes it", "load it or compute it before"),
    ("            tl.duplicate(b,", "            tl.gather(a, a, b, 0, count=m)\n            tl.duplicate(b,", "error: source and destination are the same: 'a'",
     "compute into another buffer"),
    ("tl.vabs(d, c, count=m)", "tl.vabs(d, d, count=m)", "error: 'd' is read, and nothing writes it", "load it or compute it before"),
    ("@ascend_kernel\n", "@triton.jit\n", "error: the program has no kernel", "decorate the kernel with @ascend_kernel"),
]


class Texts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-texts-")
        self.addCleanup(folder.cleanup)
        self.task = pathlib.Path(folder.name) / "mine/level1/Math/Text"
        self.task.mkdir(parents=True)
        (self.task / "task.yaml").write_text(TASK)
        (self.task / "cases.csv").write_text("case_id;shape\n0;[7, 300]\n1;[1]\n")
        (self.task / "desc.md").write_text("An operator.\n")

    def dsl(self, command, text, *options):
        file = self.task / "program.py"
        file.write_text(text)
        done = subprocess.run([AKGEN, "dsl", command, file, *options], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def verify(self, text):
        return self.dsl("build", text, "--task", self.task, "--verify")

    def test_numbers_are_what_they_are_in_python_and_what_is_added_to_is_read(self):
        right = "".join(f"case {case}: as the interpreter computes it\n" for case in range(2))
        self.assertEqual((0, right), self.verify(PROGRAM.replace("{cores}", "3").replace("{wait}", "")))

    def test_cores_that_wait_for_each_other_run_at_once(self):
        text = PROGRAM.replace("{wait}", "    tl.sync_all()\n").replace("{cores}", "tl.cdiv(x.numel(), 32)")
        code, told = self.dsl("check", text, "--task", self.task)
        self.assertEqual(1, code)
        self.assertIn("the kernel is launched on 66 cores, which wait for each other, and the chip has 48 [launch]", told)
        self.assertIn("fix: launch at most tl.num_vec_cores()", told)
        refusal = "cores that wait for each other are more than the chip has"
        for cores, refused in (("tl.cdiv(x.numel(), 32)", True), ("41", True), ("40", False), ("min(tl.num_vec_cores(), x.numel())", False)):
            text = PROGRAM.replace("{wait}", "    tl.sync_all()\n").replace("{cores}", cores)
            self.assertEqual(refused, refusal in self.dsl("build", text, "--print", "--unchecked")[1], cores)
        self.assertNotIn(refusal, self.dsl("build", PROGRAM.replace("{wait}", "").replace("{cores}", "99"), "--print", "--unchecked")[1])

    def test_a_scaled_product_is_no_int32(self):
        code, printed = self.dsl("build", SCALED, "--print")
        self.assertEqual(0, code, printed)
        self.assertIn('this->Output("c")\n            .ParamType(REQUIRED)\n            .DataType({ge::DT_FLOAT16})', printed)

    def test_products_have_types_that_the_cube_has(self):
        for old, new, told in (("dtype=tl.int32", "dtype=tl.float32", "a product of int8 and int8 in float32"),
                               ("tl.int8)\n    c_l0", "tl.float16)\n    c_l0", "a product of int8 and float16 in int32")):
            self.assertIn(old, SCALED)
            code, text = self.dsl("check", SCALED.replace(old, new))
            self.assertEqual(1, code, text)
            self.assertIn(told + " [types]", text)

    def test_sizes_that_belong_together_are_tried_together(self):
        self.assertEqual((0, ""), self.dsl("check", PRODUCT))
        code, text = self.dsl("check", PRODUCT.replace("r = min(32, m - i)", "r = 32"))
        self.assertEqual(1, code)
        self.assertIn("[bounds]", text)

    def test_large_tiles_are_tried(self):
        code, text = self.dsl("check", UNEVEN)
        self.assertEqual(1, code)
        self.assertIn("where 'x' has the shape (327681): element 8192 of 'y' is stored by core 0 and by core 1 [shared]", text)

    def test_what_python_has_is_told_with_what_to_write(self):
        for old, new, told, remedy in TOLD:
            self.assertIn(old, PROGRAM)
            code, text = self.dsl("check", PROGRAM.replace(old, new).replace("{cores}", "3").replace("{wait}", ""))
            self.assertEqual(1, code, text)
            self.assertIn(told, text)
            self.assertIn(f"fix: {remedy}", text)


if __name__ == "__main__":
    unittest.main()
