#!/usr/bin/env python3
# test: cost=11 labels=long
"""Programs in AscendDSL at random (dsl_programs.py) compile, and compute what the interpreter computes. `make prove
PROOF=dsl_programs` tries more."""
import os
import re
import unittest

import dsl_programs
from akgen_program import HOME

PROGRAMS, VERIFY_EVERY = 40, 4
COMPILED = 200


class Programs(unittest.TestCase):
    def test_programs_at_random(self):
        counts, wrong = dsl_programs.judge_all(range(PROGRAMS), VERIFY_EVERY, os.cpu_count() or 1)
        self.assertEqual(wrong, [], counts)
        self.assertGreaterEqual(counts["verified"] + counts["compiled"], PROGRAMS * 3 // 4, counts)
        self.assertGreaterEqual(counts["verified"], PROGRAMS // VERIFY_EVERY // 2, counts)

    def test_every_pass_holds_what_is_said_of_it(self):
        counts, wrong = dsl_programs.compile_all(range(PROGRAMS, PROGRAMS + COMPILED), os.cpu_count() or 1)
        self.assertEqual(wrong, [], counts)
        self.assertGreaterEqual(counts["compiled"], COMPILED * 9 // 10, counts)

    def test_every_operation_is_made(self):
        """Each operation of operations.def stands in some of the programs that the proof runs."""
        rows = (HOME / "src/dsl/operations.def").read_text()
        operations = set(re.findall(r"^OPERATION\((\w+),", rows, re.M))
        made = set()
        for seed in range(1000):
            made |= dsl_programs.operations_of(dsl_programs.make(seed)[0])
        self.assertEqual(operations - made, set())

    def test_a_wrong_task_is_told(self):
        """What the proof rests on: a program that reads behind its tensor, and one that no rule lets through, count as wrong."""
        make = dsl_programs.make
        self.addCleanup(setattr, dsl_programs, "make", make)
        loads = re.compile(r"(tl\.load\(.*count=n)\)")
        text, yaml, cases = next(made for made in map(make, range(100)) if loads.search(made[0]))
        for broken, what in ((loads.sub(r"\1 + 1)", text), ("wrong", "stopped by the interpreter")),
                             (text.replace("tl.load(", "tl.fetch("), ("refused by the checker",))):
            dsl_programs.make = lambda seed, broken=broken: (broken, yaml, cases)
            found, why = dsl_programs.judge(1, True)
            self.assertIn(found, what, why)
            self.assertTrue(why)


if __name__ == "__main__":
    unittest.main()
