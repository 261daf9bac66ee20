#!/usr/bin/env python3
"""What docs/dsl.md says of who does the work, on some programs; `make prove PROOF=dsl_work` asks all."""
import unittest

import dsl_work

# One of many cores, one of few, one whose scalar unit reads what groups there are, one that has nothing for all cores.
SOME = ("multikernelbench/level1/Math/Cumsum", "npukernelbench/level2/Linalg/Matmul",
        "npukernelbench/level2/Activation/DequantSwigluQuant", "npukernelbench/level2/Foreach/ForeachRoundOffNumber")


class Work(unittest.TestCase):
    def test_what_is_listed_is_so_and_nothing_else(self):
        programs = {dsl_work.name_of(program): program for program in dsl_work.PROGRAMS}
        measured = {name: dsl_work.measure(programs[name]) for name in SOME}
        self.assertEqual(dsl_work.disagreements(measured, dsl_work.exceptions()), [])
        self.assertEqual([(of.busy, of.cores) for of in measured.values()][:2], [(48, 48), (16, 24)])

    def test_exceptions_have_a_reason_and_a_program(self):
        names = {dsl_work.name_of(program) for program in dsl_work.PROGRAMS}
        listed = dsl_work.exceptions()
        self.assertGreater(len(listed), 5)
        self.assertEqual([name for name, _ in listed if name not in names], [])
        self.assertEqual([name for name, reason in listed.items() if len(reason) < 20], [])

    def test_disagreements_are_told_both_ways(self):
        row = dsl_work.Measured(0, 0.0, 48, 48, True, [])
        measured = {"a": row._replace(share=0.02), "b": row._replace(busy=47), "c": row._replace(busy=1, enough=False), "d": row,
                    "e": row._replace(refused=["3"])}
        told = dsl_work.disagreements(measured, {("a", "scalar"): "", ("d", "cores"): "", ("e", "case 7"): ""})
        self.assertEqual([line.split(": ")[:2] for line in told],
                         [["b", "cores"], ["e", "case 3"], ["d", "cores"], ["e", "case 7"]])


if __name__ == "__main__":
    unittest.main()
