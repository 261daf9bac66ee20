#!/usr/bin/env python3
"""akgen dsl: products that begin with a bias and are stored times a scale: judged by tasks, and verified against the interpreter."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME, verdict

PROGRAM = """import tile.language as tl


@ascend_kernel
def product_kernel({names}, d, m, n, k, tile_m, tile_n, tile_k{more}):
    a_l1 = tl.alloc_l1((tile_m, tile_k), dtype=a.dtype)
    b_l1 = tl.alloc_l1((tile_k, tile_n), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype={product})
{alloc}
    across = tl.cdiv(n, tile_n)
    for block in range(tl.program_id(0), tl.cdiv(m, tile_m) * across, tl.num_programs(0)):
        row = block // across * tile_m
        col = block % across * tile_n
        rows = min(tile_m, m - row)
        cols = min(tile_n, n - col)
{load}
        for at in range(0, k, tile_k):
            depth = min(tile_k, k - at)
            with tl.copyin():
                tl.load_tile(a + row * k + at, a_l1, rows, depth, k)
                tl.load_tile(b + at * n + col, b_l1, depth, cols, n)
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0{bias})
        with tl.copyout():
            tl.store_tile(d + row * n + col, c_l0, rows, cols, n{scale})


def product_host({inputs}, d: torch.Tensor{host}, tile_m: tl.constexpr = 64, tile_n: tl.constexpr = {wide}, tile_k: tl.constexpr = 64):
    m, k = a.shape
    n = b.shape[1]
    if m * n * k == 0:
        return
    product_kernel[tl.num_cube_cores()]({names}, d, m, n, k, tile_m, tile_n, tile_k{more})
"""


def program(names=("a", "b"), product="tl.float32", bias=None, scale=None, wide=128):
    """A product of matrices; bias: the type of the row `bias`; scale: the number's text; names: tensors and numbers."""
    inputs = [name for name in names if name != "factor"] + ["bias"] * bool(bias)
    more = ", factor" if "factor" in names else ""
    return PROGRAM.format(
        names=", ".join(inputs), inputs=", ".join(f"{name}: torch.Tensor" for name in inputs), more=more,
        host=", factor=1.0" if more else "", product=product, wide=wide,
        alloc=f"    bias_l1 = tl.alloc_l1((1, tile_n), dtype={bias})" if bias else "",
        load="        with tl.copyin():\n            tl.load_tile(bias + col, bias_l1, 1, cols, cols)" if bias else "",
        bias=", bias=bias_l1" if bias else "", scale=f", scale={scale}" if scale else "")


TASK = """suite: mine
level: 3
category: GMM
op: Product
reference: formula
inputs:
  - name: a
    shape: "[$m, $k]"
    dtype: "{a}"
    types: [{a}]
    generate: "{values}"
  - name: b
    shape: "[$k, $n]"
    dtype: "{a}"
    types: [{a}]
    generate: "{values}"
{bias}attrs:
  - name: factor
    type: float
    value: "$factor"
outputs:
  - name: d
    shape: "[$m, $n]"
    dtype: "{d}"
    types: [{d}]
    formula: "1"
"""
BIAS = """  - name: bias
    shape: "[$n]"
    dtype: "{0}"
    types: [{0}]
    generate: "{1}"
"""
CASES = "case_id;m;n;k;factor\n0;1;1;1;0.5\n1;17;33;70;0.013\n2;100;129;64;-0.3\n3;65;300;200;0.0021\n4;3;16;1000;1\n"

# Types of the operands, of the bias or None, of the output; what the operands are and the bias; whether there is a scale.
VERIFIED = (
    ("float16", None, "int8", "randn", None, True),
    ("float32", "float32", "uint8", "randn*3", "randn*9", True),
    ("bfloat16", "float16", "float32", "randn", "randn*9", False),
    ("bfloat16", "float32", "bfloat16", "randn", "randn*9", False),
    ("int8", None, "float16", "randint(-100, 100)", None, True),
    ("int8", "int32", "int8", "randint(-100, 100)", "randint(-10000, 10000)", True),
    ("int8", "int32", "int32", "randint(-100, 100)", "randint(-10000, 10000)", False),
)


class Cube(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cube-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, text, *arguments, task=None):
        file = self.folder / "program.py"
        file.write_text(text)
        return subprocess.run([AKGEN, "dsl", "build", file, "--task", task or self.task, *arguments], capture_output=True, text=True,
                              timeout=300)

    def make_task(self, a, bias, d, values, of_bias):
        self.task = self.folder / "mine/level3/GMM/Product"
        self.task.mkdir(parents=True, exist_ok=True)
        (self.task / "cases.csv").write_text(CASES)
        (self.task / "desc.md").write_text("A product.\n")
        (self.task / "task.yaml").write_text(TASK.format(a=a, d=d, values=values, bias=BIAS.format(bias, of_bias) if bias else ""))

    def test_verified(self):
        for a, bias, d, values, of_bias, scales in VERIFIED:
            with self.subTest(a=a, bias=bias, d=d):
                self.make_task(a, bias, d, values, of_bias)
                text = program(("a", "b", "factor"), "tl.int32" if a == "int8" else "tl.float32", bias and f"tl.{bias}",
                               "factor" if scales else None, 64 if a == "float32" else 128)
                done = self.build(text, "--verify")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("as the interpreter computes it"), 5, done.stdout)

    def test_bias_is_judged(self):
        """The task of a product and a row, without workspace and vector cores."""
        task = HOME / "tasks/npukernelbench/level3/GMM/MatmulBias"
        project = self.folder / "project"
        done = self.build(program(bias="bias.dtype"), "-o", project, task=task)
        self.assertEqual(done.returncode, 0, done.stderr)
        judged = verdict(task, project, "--profile", "strict", "--sync", "manual", "--schedule", "random:2", "--strict-order")
        self.assertEqual(judged["exit_code"], 0, judged)
        self.assertEqual([note for row in judged["cases"] for note in row.get("notes", [])], [])
        self.assertIn("Mmad(c, a2, b2, row, params);", (project / "op_kernel/matmul_bias.cpp").read_text())

    def test_what_the_machine_has_not(self):
        for a, bias, product, scale, rule, said in (
                ("float16", "tl.bfloat16", "tl.float32", None, "types", "a bias of bfloat16"),
                ("float16", None, "tl.float32", "factor", "types", "a scale between float32 and float16"),
                ("int8", "tl.float32", "tl.int32", None, "types", "a bias of float32 for int32")):
            with self.subTest(a=a, bias=bias):
                self.make_task(a, bias and bias[3:], "float16", "1", "1")
                done = subprocess.run([AKGEN, "dsl", "run", "-", "--task", self.task], capture_output=True, text=True, timeout=60,
                                      input=program(("a", "b", "factor"), product, bias, scale))
                self.assertIn(said, done.stdout + done.stderr)
                self.assertIn(f"[{rule}]", done.stdout + done.stderr)
                built = self.build(program(("a", "b", "factor"), product, bias, scale), "-o", self.folder / "none")
                self.assertIn(f"[{rule}]", built.stderr)
                self.assertEqual(built.returncode, 1)


if __name__ == "__main__":
    unittest.main()
