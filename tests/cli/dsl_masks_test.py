#!/usr/bin/env python3
"""akgen dsl build: which elements a transfer moves and an operation computes, of ranges, masks and what has a value."""
import unittest

from dsl_build_test import SQRT, build
from dsl_verify_test import verify

TASK = "multikernelbench/level1/Activation/Relu"
ROOT, ALLOCATION = "            tl.vsqrt(y_ub, x_ub)\n", "    y_ub = tl.alloc_ub(tile, dtype=tl.float32)\n"


class Masks(unittest.TestCase):
    def agrees(self, text, case=2):
        done = verify(text, TASK, "--case", str(case))
        self.assertEqual((done.returncode, done.stdout), (0, f"case {case}: as the interpreter computes it\n"), text + done.stderr)

    def test_what_an_earlier_turn_left_has_values(self):
        """A part is written over what the first turn wrote, then all is read."""
        self.agrees(SQRT.replace("= 4096", "= 256").replace(ALLOCATION, ALLOCATION + "    k_ub = tl.alloc_ub(tile, dtype=tl.float32)\n").replace(
            ROOT, "            if at == start:\n                tl.duplicate(k_ub, 3.0)\n"
                  "            tl.vadd(k_ub, x_ub, 1.0, count=16)\n            tl.vmul(y_ub, k_ub, 2.0)\n").replace(
            "mask=offsets < end)\n        #", "mask=offsets < end, other=0.0)\n        #"))

    def test_masks_that_leave_no_first_elements_are_refused_with_what_to_write(self):
        for mask, remedy in (("offsets >= start", "begin at the first element that is meant"), ("start <= offsets", "begin at the first element"),
                             ("(offsets < end) | (offsets < start)", "each run for itself"),
                             ("offsets * 0 < end", "count upwards")):
            done = build(SQRT.replace("mask=offsets < end)\n        #", f"mask={mask}, other=0.0)\n        #"), TASK, "--print")
            self.assertRegex(done.stderr, r"error: .* \[not-compiled\]\n(.*\n)*    fix: .*" + remedy, mask)


if __name__ == "__main__":
    unittest.main()
