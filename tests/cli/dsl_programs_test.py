#!/usr/bin/env python3
"""Programs in AscendDSL at random (dsl_programs.py) compile, and compute what the interpreter computes. `make prove
PROOF=dsl_programs` tries more."""
import os
import unittest

import dsl_programs

PROGRAMS, VERIFY_EVERY = 40, 4


class Programs(unittest.TestCase):
    def test_programs_at_random(self):
        counts, wrong = dsl_programs.judge_all(range(PROGRAMS), VERIFY_EVERY, os.cpu_count() or 1)
        self.assertEqual(wrong, [], counts)
        self.assertGreaterEqual(counts["verified"] + counts["compiled"], PROGRAMS * 3 // 4, counts)
        self.assertGreaterEqual(counts["verified"], PROGRAMS // VERIFY_EVERY // 2, counts)

    def test_a_wrong_task_is_told(self):
        """What the proof rests on: a program that reads behind its tensor, and one that no rule lets through, count as wrong."""
        make = dsl_programs.make
        self.addCleanup(setattr, dsl_programs, "make", make)
        text, yaml, cases = make(1)
        for broken, what in ((text.replace("count=n)", "count=n + 1)"), "wrong"),
                             (text.replace("tl.load(", "tl.fetch("), "refused by the checker")):
            dsl_programs.make = lambda seed, broken=broken: (broken, yaml, cases)
            found, why = dsl_programs.judge(1, True)
            self.assertEqual(found, what, why)
            self.assertTrue(why)


if __name__ == "__main__":
    unittest.main()
