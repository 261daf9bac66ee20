#!/usr/bin/env python3
"""Buffers of UB whose lives do not meet share memory, where there is too little of it; what a turn of a loop leaves to the next
one is kept."""
import re
import tempfile
import unittest

from akgen_program import verdict
from dsl_build_test import build, doubtful_notes, kernel_after
from dsl_verify_test import verify

# x and y go through two tensors each, which leaves room for two of the three other buffers.
TILE = 7168
STEPS = """tl.vmul_scalar(first_ub, x_ub, 0.5)
            tl.vadd_scalar(second_ub, first_ub, 1.0)
            tl.vmul(third_ub, second_ub, second_ub)
            tl.vadd(y_ub, third_ub, x_ub)"""


def program(steps=STEPS, before="pass", tile=TILE, size="tile"):
    return f"""import tile.language as tl


@ascend_kernel
def sqrt_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub({size}, dtype=tl.float32)
    first_ub = tl.alloc_ub({size}, dtype=tl.float32)
    second_ub = tl.alloc_ub({size}, dtype=tl.float32)
    third_ub = tl.alloc_ub({size}, dtype=tl.float32)
    y_ub = tl.alloc_ub({size}, dtype=tl.float32)
    with tl.compute():
        {before}
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            {steps}
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def sqrt_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = {tile}):
    total = x.numel()
    if total == 0:
        return
    cores = min(2, tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    sqrt_kernel[cores](x, y, total, per_core, tile)
"""


def views(text):
    """{buffer: the one whose memory it lies in}, and the depths of the queues."""
    lines = "\n".join(kernel_after(text, "Sqrt", "pipeline"))
    return dict(re.findall(r"(\w+) = tl\.view_ub\(.*of=(\w+)\)", lines)), re.findall(r"depth=(\d)", lines)


class Share(unittest.TestCase):
    def is_right(self, text):
        done = verify(text, "Sqrt")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_lives_that_do_not_meet(self):
        """Of a chain every second step: a buffer for each would leave queues one tensor."""
        self.assertEqual(views(program()), ({"third_ub": "first_ub", "y_ub": "second_ub"}, ["2", "2"]))
        self.is_right(program())

    def test_nothing_is_shared_where_there_is_room(self):
        self.assertEqual(views(program(tile=4096)), ({}, ["2", "2"]))

    def test_what_lives_at_once_has_to_fit(self):
        done = build(program(tile=16384), "Sqrt", "--print")
        self.assertEqual(done.returncode, 1)
        self.assertIn("[fits]", done.stderr)
        self.assertEqual(views(program(tile=12032)), ({"third_ub": "first_ub", "y_ub": "second_ub"}, ["1", "1"]))  # 4 x 47 KiB; 5 are 235

    def test_what_a_turn_leaves_to_the_next(self):
        """first_ub is read before it is written again, and so lives through the loop."""
        steps = """tl.vadd(second_ub, x_ub, first_ub)
            tl.vmul_scalar(first_ub, x_ub, 0.25)
            tl.vmul(third_ub, second_ub, second_ub)
            tl.vadd(y_ub, third_ub, x_ub)"""
        text = program(steps, "tl.duplicate(first_ub, 3.0)")
        self.assertNotIn("first_ub", views(text)[0])
        self.assertNotIn("first_ub", views(text)[0].values())
        self.is_right(text)

    def test_a_part_that_is_written_anew(self):
        """The rest of first_ub is what the first turn left."""
        steps = """if at == start:
                tl.duplicate(first_ub, 3.0)
            tl.vmul_scalar(first_ub, x_ub, 0.25, count=64)
            tl.vadd_scalar(second_ub, first_ub, 1.0)
            tl.vmul(third_ub, second_ub, second_ub)
            tl.vadd(y_ub, third_ub, x_ub)"""
        self.assertNotIn("first_ub", views(program(steps))[0].values())

    def test_tiles_of_the_tiling_function(self):
        """Their sizes are unknown: the check before the launch counts what lives at once."""
        text = program().replace("tile: tl.constexpr = 7168", "unused: tl.constexpr = 1").replace(
            "    cores = min(2", "    tile = max(total // 4 // 64 * 64, 64)\n    cores = min(2")
        self.assertEqual(views(text)[0], {"third_ub": "first_ub", "y_ub": "second_ub"})
        needed = re.search(r"needed = (.*)", build(text, "Sqrt", "--print").stdout).group(1)
        self.assertEqual(needed.count("CeilDiv(tile, 8) * 192"), 1, needed)  # float: 2 x 2 tensors and two buffers of 32 bytes
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(build(text.replace("tl.vadd(y_ub, third_ub, x_ub)", "tl.vsqrt(y_ub, x_ub)"), "Sqrt", "-o",
                                   directory).returncode, 0)
            result = verdict("Sqrt", directory, "--sync", "manual", "--schedule", "random:3", "--strict-order", "--case", "0")
            self.assertEqual(doubtful_notes(result), [])


if __name__ == "__main__":
    unittest.main()
