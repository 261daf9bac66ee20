#!/usr/bin/env python3
# test: cost=11 labels=long
"""akgen dsl build: integers of 64 bits, which the vector unit has no instructions for, sorts, and stores that add. Each program
computes what has to come out again, and adds 1 for each element that does not."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, verdict

TASK = """suite: mine
level: 1
category: Math
op: Same
reference: formula
vary: sizes
inputs:
  - name: x
    shape: "$shape"
    dtype: "$dtype"
    types: [{types}]
    generate: "{generate}"
    strict: "{generate}"
outputs:
  - name: y
    shape: "$shape"
    dtype: "$dtype"
    types: [{types}]
    formula: "{formula}"
"""
CASES = "case_id;shape;dtype\n0;[1];{type}\n1;[7, 33];{type}\n2;[1025];{type}\n3;[5, 1021];{type}\n"

ELEMENTS = """import tile.language as tl


@ascend_kernel
def same_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.int64)
    y_ub = tl.alloc_ub(tile, dtype=tl.int64)
    a_ub = tl.alloc_ub(tile, dtype=tl.int64)
    b_ub = tl.alloc_ub(tile, dtype=tl.int64)
    c_ub = tl.alloc_ub(tile, dtype=tl.int64)
    d_ub = tl.alloc_ub(tile, dtype=tl.int64)
    wrong_ub = tl.alloc_ub(tile, dtype=tl.bool)
    real_ub = tl.alloc_ub(tile, dtype=tl.float32)
    short_ub = tl.alloc_ub(tile, dtype=tl.int32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            # a and b have any bits; c is what has to be d.
            tl.vmul(a_ub, x_ub, {odd})
            tl.vxor(b_ub, a_ub, 0x5DEECE66D1234567)
            tl.vshift_left(b_ub, b_ub, 7)
            tl.vadd(b_ub, b_ub, x_ub)
{steps}
            tl.vne(wrong_ub, c_ub, d_ub)
            tl.vselect(y_ub, wrong_ub, 1, 0)
            tl.vadd(y_ub, y_ub, x_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def same_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 768):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    same_kernel[cores](x, y, total, per_core, tile)
"""
ODD = 0x1E3779B97F4A7C15
INVERSE = pow(ODD, -1, 1 << 64)
INVERSE -= (INVERSE >> 63) << 64

# What is computed -> steps behind which c has to be d.
STEPS = {
    "a product by the inverse": f"tl.vmul(c_ub, a_ub, {INVERSE}); tl.vadd(d_ub, x_ub, 0)",
    "products of buffers": "tl.vmul(c_ub, a_ub, b_ub); tl.vadd(d_ub, b_ub, 1); tl.vmul(d_ub, a_ub, d_ub); tl.vsub(d_ub, d_ub, a_ub)",
    "a sum less one part": "tl.vadd(c_ub, a_ub, b_ub); tl.vsub(c_ub, c_ub, b_ub); tl.vadd(d_ub, a_ub, 0)",
    "the sign turned": "tl.vneg(c_ub, a_ub); tl.vsub(c_ub, b_ub, c_ub); tl.vadd(d_ub, b_ub, a_ub)",
    "magnitude and sign": "tl.vabs(c_ub, a_ub); tl.vsign(d_ub, a_ub); tl.vmul(c_ub, c_ub, d_ub); tl.vadd(d_ub, a_ub, 0)",
    "the larger and the smaller": "tl.vmax(c_ub, a_ub, b_ub); tl.vmin(d_ub, a_ub, b_ub); tl.vadd(c_ub, c_ub, d_ub); tl.vadd(d_ub, a_ub, b_ub)",
    "the larger by halves": "tl.vmax(c_ub, a_ub, b_ub); tl.vshift_right(c_ub, c_ub, 1); tl.vshift_right(d_ub, a_ub, 1); "
                            "tl.vshift_right(b_ub, b_ub, 1); tl.vsub(a_ub, d_ub, b_ub); tl.vabs(a_ub, a_ub); "
                            "tl.vsub(c_ub, c_ub, d_ub); tl.vsub(c_ub, c_ub, d_ub); tl.vadd(c_ub, c_ub, d_ub); "
                            "tl.vadd(c_ub, c_ub, c_ub); tl.vsub(d_ub, b_ub, d_ub); tl.vadd(d_ub, d_ub, a_ub)",
    "what is less is the smaller": "tl.vlt(wrong_ub, a_ub, b_ub); tl.vselect(c_ub, wrong_ub, a_ub, b_ub); tl.vmin(d_ub, a_ub, b_ub)",
    "not less, from a number": "tl.vge(wrong_ub, a_ub, 1234567890123); tl.vselect(c_ub, wrong_ub, a_ub, 1234567890123); "
                               "tl.vmax(d_ub, a_ub, 1234567890123)",
    "greater, not greater": "tl.vgt(wrong_ub, a_ub, b_ub); tl.vselect(c_ub, wrong_ub, 5, 7); "
                            "tl.vle(wrong_ub, a_ub, b_ub); tl.vselect(d_ub, wrong_ub, 7, 5)",
    "equal low words": "tl.vand(c_ub, a_ub, 0xFFFFFFFF); tl.veq(wrong_ub, a_ub, c_ub); tl.vselect(c_ub, wrong_ub, 1, 0); "
                       "tl.vshift_right(d_ub, a_ub, 32); tl.veq(wrong_ub, d_ub, 0); tl.vselect(d_ub, wrong_ub, 1, 0)",
    "shifts and products": "tl.vshift_left(c_ub, a_ub, 35); tl.vmul(d_ub, a_ub, 0x800000000)",
    "shifts down and up": "tl.vshift_right(c_ub, a_ub, 37); tl.vshift_left(c_ub, c_ub, 37); tl.vand(d_ub, a_ub, 0x1FFFFFFFFF); "
                          "tl.vadd(c_ub, c_ub, d_ub); tl.vadd(d_ub, a_ub, 0)",
    "shifts by more bits than there are": "tl.vshift_right(c_ub, a_ub, 64); tl.vshift_right(d_ub, a_ub, 63); "
                                          "tl.vshift_left(a_ub, a_ub, 64); tl.vadd(c_ub, c_ub, a_ub)",
    "other types and back": "tl.cast(real_ub, x_ub); tl.cast(c_ub, real_ub); tl.cast(short_ub, x_ub); tl.cast(d_ub, short_ub); "
                            "tl.vadd(c_ub, c_ub, d_ub); tl.vadd(d_ub, x_ub, x_ub)",
    "a number in each element": "tl.duplicate(c_ub, -81985529216486896); tl.vadd(c_ub, c_ub, a_ub); tl.vsub(d_ub, a_ub, 81985529216486896)",
    "elements by index": "tl.iota(short_ub, 0, step=8); tl.gather(c_ub, a_ub, short_ub, 0); tl.vadd(d_ub, a_ub, 0)",
}

SORT = """import tile.language as tl


# The values in order, and each put back where it stood; wrong where the next in order is larger.
@ascend_kernel
def same_kernel(x, y, total, most):
    x_ub = tl.alloc_ub(most, dtype=tl.float32)
    sorted_ub = tl.alloc_ub(most, dtype=tl.float32)
    from_ub = tl.alloc_ub(most, dtype=tl.int32)
    order_ub = tl.alloc_ub(most, dtype=tl.float32)
    back_ub = tl.alloc_ub(most, dtype=tl.int32)
    y_ub = tl.alloc_ub(most, dtype=tl.float32)
    wrong_ub = tl.alloc_ub(most, dtype=tl.bool)
    with tl.copyin():
        tl.load(x, x_ub, count=total)
    with tl.compute():
        tl.sort(sorted_ub, from_ub, x_ub, total)
        tl.cast(order_ub, from_ub, count=total)
        tl.vneg(order_ub, order_ub, count=total)
        tl.sort(y_ub, back_ub, order_ub, total)
        tl.vmul(back_ub, back_ub, 4, count=total)
        tl.gather(y_ub, sorted_ub, back_ub, 0, count=total)
        if total > 1:
            tl.iota(back_ub, 4, step=4, count=total - 1)
            tl.gather(order_ub, sorted_ub, back_ub, 0, count=total - 1)
            tl.vlt(wrong_ub, sorted_ub, order_ub, count=total - 1)
            tl.vselect(order_ub, wrong_ub, 1.0, 0.0, count=total - 1)
            tl.vadd(y_ub, y_ub, order_ub, count=total - 1)
    with tl.copyout():
        tl.store(y, y_ub, count=total)


def same_host(x: torch.Tensor, y: torch.Tensor, most: tl.constexpr = 2600):
    total = x.numel()
    assert total <= most
    same_kernel[1](x, y, total, most)
"""

ADD = """import tile.language as tl


# Every core stores its part, and adds it once more to that of its neighbour behind tl.sync_all().
@ascend_kernel
def same_kernel(x, y, total, per_core, tile):
    x_ub = tl.alloc_ub(tile, dtype=x.dtype)
    for turn in range(3):
        start = (tl.program_id(0) + turn) % tl.num_programs(0) * per_core
        end = min(start + per_core, total)
        for at in range(start, end, tile):
            offsets = at + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x + offsets, x_ub, mask=offsets < end)
            with tl.copyout():
                if turn == 0:
                    tl.store(y + offsets, x_ub, mask=offsets < end)
                else:
                    tl.store_add(y + at, x_ub, count=min(end - at, tile))
        if turn == 0:
            tl.sync_all()


def same_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 256):
    total = x.numel()
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    same_kernel[cores](x, y, total, per_core, tile)
"""


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-dsl-")
        self.addCleanup(folder.cleanup)
        self.task = pathlib.Path(folder.name) / "tasks/mine/level1/Math/Same"
        self.project = pathlib.Path(folder.name) / "project"
        self.task.mkdir(parents=True)

    def check(self, program, types, generate, formula="x", cases=CASES):
        (self.task / "task.yaml").write_text(TASK.format(types=", ".join(types), generate=generate, formula=formula))
        (self.task / "cases.csv").write_text("".join(
            line + "\n" for i, type in enumerate(types)
            for line in cases.format(type=type).splitlines()[i > 0:]) if len(types) == 1 else
            "case_id;shape;dtype\n" + "".join(f"{i};[5, 1021];{type}\n" for i, type in enumerate(types)))
        run = subprocess.run([AKGEN, "dsl", "run", "-", "--task", str(self.task)], input=program, capture_output=True,
                             text=True, timeout=120)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        build = subprocess.run([AKGEN, "dsl", "build", "-", "--task", str(self.task), "-o", str(self.project)],
                               input=program, capture_output=True, text=True, timeout=60)
        self.assertEqual((build.returncode, build.stderr), (0, ""))
        for options in [("--sync", "auto"), ("--sync", "manual", "--schedule", "random:3", "--strict-order")]:
            result = verdict(self.task, self.project, "--profile", "strict", *options)
            self.assertEqual((result["verdict"], result["cases_passed"]), ("pass", result["cases_total"]),
                             (result["reason"], [case for case in result["cases"] if not case["ok"]][:1]))
            kinds = {note["kind"] for case in result["cases"] for note in case["notes"]}
            self.assertFalse([kind for kind in kinds if kind.startswith(("hazard", "undefined"))], result)

    def test_integers_of_64_bits(self):
        for what, steps in STEPS.items():
            with self.subTest(what):
                lines = "\n".join(" " * 12 + step for step in steps.split("; "))
                self.check(ELEMENTS.format(odd=ODD, steps=lines), ["int64"], "randint(-1000000, 1000000)")

    def test_a_sort_keeps_equal_values_in_order_and_says_where_they_stood(self):
        cases = "case_id;shape;dtype\n" + "".join(f"{i};[{n}];{{type}}\n" for i, n in enumerate([1, 32, 33, 97, 515, 2500]))
        self.check(SORT, ["float32"], "randint(-50, 50)", cases=cases)
        self.check(SORT, ["float32"], "randn", cases=cases)

    def test_stores_that_add(self):
        self.check(ADD, ["float32", "int32", "float16"], "randint(-50, 50)", "x + x + x")


if __name__ == "__main__":
    unittest.main()
