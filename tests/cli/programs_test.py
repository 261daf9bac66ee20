#!/usr/bin/env python3
# test: builds=release cost=60
"""Programs in AscendDSL that stand in tasks' folders: each is formatted, is checked, and computes the task's smallest case of each
data type, and the hidden cases made of it, by the interpreter."""
import concurrent.futures
import csv
import math
import os
import re
import unittest

import dsl_work
from akgen_program import HOME, akgen

PROGRAMS = dsl_work.PROGRAMS
SMALL = 1 << 20
# (task, "case N") that docs/dsl.md lists: the published check refuses what float64 says.
REFUSED = dsl_work.exceptions()


def size(row):
    """About how many elements a case has: the numbers of each list multiplied, and added up."""
    lists = [part for cell in row.values() for part in re.findall(r"\[([\d, ]+)\]", cell or "")]
    return sum(math.prod(int(number) for number in part.split(",") if number.strip()) for part in lists)


def cases(task):
    """The smallest case of each data type, unless it is large."""
    with open(task / "cases.csv", newline="") as file:
        rows = sorted(csv.DictReader(file, delimiter=";"), key=size)
    smallest = {}
    for row in rows:
        smallest.setdefault(row.get("dtype"), row)
    return [row["case_id"] for i, row in enumerate(smallest.values()) if i == 0 or size(row) <= SMALL]


def run(program):
    """What is wrong with a program; '' if nothing is."""
    task = program.parent
    wrong = ""
    for number in cases(task):
        done = akgen("dsl", "run", program, "--task", task, "--case", number, "--hidden")
        open_case = (dsl_work.name_of(program), f"case {number}") in REFUSED
        lines = [line for line in done.stdout.splitlines()
                 if not re.fullmatch(r"case \d+[^:]*:( (upstream|strict) right)+", line)
                 and not (open_case and line.endswith(" strict right"))]
        wrong += "\n".join(lines) + done.stderr + ("" if done.stdout else "nothing was printed")
    return wrong


class Programs(unittest.TestCase):
    def test_format_and_check(self):
        self.assertGreater(len(PROGRAMS), 100)
        for what in (("fmt", "--check"), ("check",)):
            done = akgen("dsl", *what, *PROGRAMS)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_right(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            for program, wrong in zip(PROGRAMS, threads.map(run, PROGRAMS)):
                with self.subTest(program=str(program.relative_to(HOME))):
                    self.assertEqual(wrong, "")


if __name__ == "__main__":
    unittest.main()
