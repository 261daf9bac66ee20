#!/usr/bin/env python3
# test: cost=22 labels=long
"""Options of all commands: none is accepted and ignored."""
import json
import pathlib
import re
import tempfile
import unittest

from akgen_program import TASKS, akgen

SQRT, REFERENCE = "level1/Math/Sqrt", TASKS / "level1/Math/Sqrt/reference"
PROGRAM = TASKS / "level1/Math/Sqrt/program.py"
SEVERAL = re.compile(r"several times|repeated|[Ll]ikewise, of a file")


def commands():
    """All commands that have options, as lists of words."""
    for name in re.findall(r"^  (\w+) ", akgen("--help").stdout, re.M):
        yield from ([name, word] for word in re.findall(r"^  (\w+) ", akgen(name, "--help").stdout, re.M)) if name in ("lm", "cot") else [[name]]
    yield ["export", "cann"]


def options(command):
    """Each option that takes a value: its name, and what the help says of it."""
    text = re.sub(r"\n {10,}", " ", akgen(*command, "--help").stdout)
    return re.findall(r"^ +(?:-\w, )?--([\w-]+)=(?:\S+) +(.*)$", text, re.M)


class Options(unittest.TestCase):
    def refuse(self, *arguments):
        process = akgen(*arguments)
        self.assertEqual(process.returncode, 2, process.stdout + process.stderr)
        self.assertEqual(process.stdout, "")
        return process.stderr

    def test_a_second_value_adds_or_is_refused(self):
        found = 0
        for command in commands():
            for name, about in options(command):
                with self.subTest(command=command, option=name):
                    process = akgen(*command, f"--{name}", "1", f"--{name}=2")
                    self.assertEqual("takes one value, and is given two: 1 and 2" in process.stderr, not SEVERAL.search(about),
                                     about + process.stderr)
                    found += 1
        self.assertGreater(found, 150)

    def test_the_same_value_twice(self):
        self.assertEqual(akgen("eval", SQRT, REFERENCE, "--case", "0", "--case=0", "--no-timing").returncode, 0)

    def test_a_key_is_not_shown(self):
        self.assertNotIn("secret", self.refuse("bench", "--provider", "exec:x", "--api-key=secret", "--api-key=secret2"))

    def test_several_globs_of_tasks(self):
        both = akgen("bench", "--task", "*/Sqrt", "--task", "*/AddCustom", "--case", "0", "--no-timing")
        self.assertRegex(both.stdout, r"(?m)^all +2 +2 ")
        self.assertIn("no task of suite 'npukernelbench' matches '*/Sqr'", self.refuse("bench", "--task", "*/AddCustom", "--task", "*/Sqr"))

    def test_tasks_as_json(self):
        shown = json.loads(akgen("task", "show", SQRT, "--json").stdout)
        self.assertEqual((shown["name"], shown["op"], len(shown["inputs"])), (SQRT, "Sqrt", 1))
        self.assertIn(shown, json.loads(akgen("task", "list", "--json").stdout))

    def test_what_means_nothing_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="akgen-options-") as directory:
            db = pathlib.Path(directory) / "runs.db"
            for _ in range(2):
                akgen("bench", "--task", "*/Sqrt", "--case", "0", "--no-timing", "--db", db)
            for says, arguments in [
                    ("--compare is a table", ["report", "--db", db, "--compare", "1", "--format", "csv"]),
                    ("--compare is a table", ["report", "--db", db, "--compare", "1", "--format", "json"]),
                    ("--compare is a table", ["report", "--db", db, "--compare", "1", "--format", "html"]),
                    ("--pass-at: a comparison", ["report", "--db", db, "--compare", "1", "-k", "1"]),
                    ("--pass-at: --format csv", ["report", "--db", db, "--format", "csv", "-k", "1"]),
                    ("--output is of --format html", ["report", "--db", db, "--output", "x"]),
                    ("--json is for list, show, references, not for check", ["task", "check", SQRT, "--json"]),
                    ("--full is for check, mutants, not for list", ["task", "list", "--full"]),
                    ("--like is for new, not for show", ["task", "show", SQRT, "--like", "Sqrt"]),
                    ("--json is for check, explain, exemplars, not for build", ["dsl", "build", PROGRAM, "--json", "-o", directory]),
                    ("--hidden is for run, not for check", ["dsl", "check", PROGRAM, "--hidden"]),
                    ("--verbose is for check, not for fmt", ["dsl", "fmt", PROGRAM, "-v"]),
                    ("--output is for build, write, not for run", ["dsl", "run", PROGRAM, "--task", "Sqrt", "-o", directory]),
                    ("--task says whose case --case is", ["dsl", "check", PROGRAM, "--case", "0"]),
                    ("what --stop-after leaves is printed", ["dsl", "build", PROGRAM, "--stop-after", "tiling", "-o", directory]),
                    ("--samples is of a model", ["bench", "--provider", f"dir:{directory}", "-n", "3"]),
                    ("--temperature is of a model", ["bench", "--temperature", "1"]),
                    ("--json is of --print-prompt", ["gen", SQRT, "--json"]),
                    ("--yes is of --describe", ["gen", SQRT, "--yes"]),
                    ("--patience and --roofline are of --optimise", ["gen", SQRT, "--patience", "2"]),
                    ("--rounds and --beam are of a model", ["gen", SQRT, "--rounds", "2"]),
                    ("--max-seconds is of --provider or --optimise", ["gen", SQRT, "--max-seconds", "2"]),
                    ("the task has a program", ["gen", SQRT, "--temperature", "1"]),
                    ("--strategy is of preferences", ["export", "sft", "--db", db, "--strategy", "both"]),
                    ("--run is of --verdicts", ["cot", "failures", "--db", db, "--run", "1"]),
                    ("--verdict chooses samples: it is of --db", ["cot", "failures", "--verdicts", db, "--verdict", "pass"]),
                    ("--per-prompt is of --pairs", ["lm", "answers", "x", "--data", "x", "-o", "x", "--per-prompt", "2"]),
                    ("--grammar-tries is of --grammar", ["lm", "sample", "x", "--prompt", "x", "--grammar-tries", "2"]),
                    ("--timing prints a table", ["eval", SQRT, REFERENCE, "--timing", "--json"]),
                    ("--timing prints a table", ["eval", SQRT, REFERENCE, "--timing", "--feedback"]),
                    ("--feedback prints no speedup", ["eval", SQRT, REFERENCE, "--feedback", f"--baseline=dir:{directory}"]),
                    ("--timing prints a table", ["compare", REFERENCE, REFERENCE, "--task", "Sqrt", "--timing", "--json"])]:
                with self.subTest(arguments=[str(a) for a in arguments]):
                    self.assertIn(says, self.refuse(*arguments))

    def test_a_project_that_is_printed_is_written_too(self):
        with tempfile.TemporaryDirectory(prefix="akgen-options-") as directory:
            project = pathlib.Path(directory) / "project"
            process = akgen("dsl", "build", PROGRAM, "--task", "Sqrt", "--print", "-o", project)
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertIn("==> op_kernel/sqrt.cpp <==", process.stdout)
            self.assertTrue((project / "op_kernel/sqrt.cpp").exists())


if __name__ == "__main__":
    unittest.main()
