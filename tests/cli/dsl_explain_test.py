#!/usr/bin/env python3
# test: cost=27 labels=long
"""akgen dsl explain: what it says of the programs of all tasks is what their projects have, and what docs/dsl.md says that it says."""
import json
import math
import pathlib
import re
import tempfile
import unittest

from akgen_program import HOME, akgen

SQRT = HOME / "tasks/npukernelbench/level1/Math/Sqrt/program.py"
WIDTHS = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
          "int64": 8, "uint64": 8, "bool": 1}


def explain(*files, **keywords):
    process = akgen("dsl", "explain", "--json", *files, **keywords)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def of_kind(program, kind, subject=None):
    return [row for row in program["statements"] if row["kind"] == kind and subject in (None, row["subject"])]


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = sorted((HOME / "tasks").glob("*/*/*/*/program.py"))
        cls.programs = explain(*files)
        cls.built = {program["file"]: akgen("dsl", "build", program["file"], "--task", program["task"], "--print").stdout
                     for program in cls.programs[::4]}

    def project(self, program):
        """The methods of the kernel's class, without the functions that stand before it."""
        text = re.split(r"\nclass \w+Kernel \{", self.built[program["file"]])[1]
        return text.split('\nextern "C"')[0]

    def some(self):
        return [program for program in self.programs if program["file"] in self.built]

    def test_every_program_has_statements_with_lines(self):
        for program in self.programs:
            lines = pathlib.Path(program["file"]).read_text().count("\n")
            self.assertLessEqual({"partition", "budget", "padding", "order"}, {row["subject"] for row in program["statements"]})
            for row in program["statements"]:
                self.assertTrue(1 <= row["line"] <= lines and row["sentence"].endswith("."), row)

    def test_each_barrier_and_flag_has_its_reason(self):
        count = 0
        for program in self.some():
            printed = re.findall(r"(PipeBarrier<\w+>|Await<HardEvent::\w+>)\(\)", self.project(program))
            told = [row["facts"]["barrier"] for row in program["statements"] if "barrier" in row["facts"]]
            self.assertEqual(sorted(printed), sorted(told), program["task"])
            count += len(told)
        self.assertGreater(count, 300)

    def test_a_barrier_stands_between_accesses_to_its_buffer(self):
        """The lines that a barrier is about mention its buffer, or one of the compiler's stands for it there."""
        for program in self.programs:
            text = pathlib.Path(program["file"]).read_text().splitlines()
            made = {row["facts"]["buffer"] for row in of_kind(program, "buffer") if row["facts"]["made"]}
            for row in of_kind(program, "barrier"):
                facts = row["facts"]
                if not facts["buffer"] or facts["buffer"] in made:
                    continue
                for step, name in (("before", facts["buffer"]), ("after", facts["other"] or facts["buffer"])):
                    line = facts[step]["line"]
                    whole = "\n".join(text[line - 1:line + 6])  # a call may go on
                    if name not in made:
                        self.assertRegex(whole, rf"\b{name}\b", (program["task"], row))
                later, earlier = facts["before"]["line"], facts["after"]["line"]
                self.assertTrue(facts["turn_before"] or earlier <= later, row)

    def test_transfers_are_padded_as_told(self):
        for program in self.some():
            copies = [row["facts"]["copy"] for row in of_kind(program, "transfer")]
            self.assertEqual(len(re.findall(r"\bDataCopyPad\(", self.project(program))), copies.count("DataCopyPad"))
            self.assertEqual(len(re.findall(r"\bDataCopy\(", self.project(program))), copies.count("DataCopy"))
            for name, operation in (("LoadRows", "load_rows"), ("StoreRows", "store_rows")):
                told = [row for row in of_kind(program, "rows") if row["facts"]["operation"] == operation]
                self.assertEqual(len(re.findall(rf"\b{name}\(", self.project(program))), len(told), program["task"])

    def test_the_budget_adds_up_to_what_is_initialised(self):
        checked = 0
        for program in self.some():
            rows = of_kind(program, "buffer") + of_kind(program, "added")
            own = [row for row in rows if not row["facts"].get("in")]
            self.assertEqual(len(re.findall(r"InitBuffer\(", self.project(program))), len(own), program["task"])
            self.assertFalse([row for row in rows if row not in own and any(row["facts"]["bytes"])])
            for total in of_kind(program, "total"):
                facts = total["facts"]
                if facts["bytes"][0] is None:
                    continue
                for c, whole in enumerate(facts["bytes"]):
                    parts = [row["facts"]["bytes"] for row in rows if row["facts"]["memory"] == facts["memory"]]
                    self.assertEqual(sum(part if isinstance(part, int) else part[c] for part in parts), whole)
                    self.assertLessEqual(whole, facts["limit"] - facts["reserved"] + 32)
                    checked += 1
            for row in of_kind(program, "buffer"):
                facts = row["facts"]
                if facts["elements"] is None or facts["memory"] != "UB":
                    continue
                for dtype, got in zip(facts["types"], facts["bytes"]):
                    bits = set(facts["types"]) == {"bool"} and facts["unit"] == "VECCALC"
                    raw = -(-facts["elements"] // 8) if bits else facts["elements"] * WIDTHS[dtype]
                    rounded = -(-raw // facts["rounded_to"]) * facts["rounded_to"] * facts["depth"]
                    self.assertIn(got, (0, rounded), (program["task"], row))
        self.assertGreater(checked, 100)

    def test_depths_are_the_queues(self):
        for program in self.some():
            told = sorted(row["facts"]["depth"] for row in of_kind(program, "depth"))
            printed = sorted(int(depth) for depth in re.findall(r"    TQue(?:Bind)?<.*, (\d)> \w+;", self.project(program))
                             if depth)
            cube = 2 * [2] if of_kind(program, "added") and "a2Queue" in self.project(program) else []
            self.assertEqual(sorted(told + cube), printed, program["task"])

    def test_the_page_lists_all_kinds_and_facts(self):
        page = (HOME / "docs/dsl.md").read_text().split("### Why is it so?")[1].split("Statements of a case:")[0]
        listed = {(subject, kind): set(re.findall(r"`(\w+)`", facts))
                  for subject, kind, facts in re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*) \|$", page, re.M)}
        found = {}
        with tempfile.TemporaryDirectory() as folder:  # computed in place: the tasks' programs do that nowhere
            path = pathlib.Path(folder) / "program.py"
            path.write_text(SQRT.read_text().replace("y_ub", "x_ub").replace("    x_ub = tl.alloc", "    pass_ub = tl.alloc", 1))
            split = explain(path, "--task", "Sqrt")
        for program in [*self.programs, *split]:
            for row in program["statements"]:
                found.setdefault((row["subject"], row["kind"]), set()).update(row["facts"])
        self.assertEqual(set(found), set(listed))
        for kind, facts in found.items():
            self.assertLessEqual(facts, listed[kind], kind)


class Cases(unittest.TestCase):
    def test_sqrt(self):
        """Case 2 is [32, 32, 768] of float32: 786432 elements, 48 cores with 16384 each, 4 tiles of 4096."""
        case, = explain(SQRT, "--case", "2")[0]["cases"]
        self.assertEqual(case["case"], 2)
        run, = of_kind(case, "run")
        self.assertEqual((run["facts"]["cores"], run["facts"]["phases"]), (48, 1))
        self.assertEqual({key: run["facts"]["values"][key] for key in ("total", "per_core")}, {"total": 786432, "per_core": 16384})
        turns, = of_kind(case, "turns")
        self.assertEqual((turns["line"], turns["facts"]), (11, {"loop": "at", "all": 192, "least": 4, "most": 4, "cores": 48}))
        self.assertEqual([(row["facts"]["operation"], row["facts"]["all"], row["facts"]["bytes"], row["facts"]["transfers"])
                          for row in of_kind(case, "moved")], [("load", 786432, 3145728, 192), ("store", 786432, 3145728, 192)])
        self.assertEqual(of_kind(case, "used")[0]["facts"], {"memory": "UB", "bytes": 65536, "combination": 1})

    def test_every_element_is_stored_once(self):
        """The stores of a program that computes an output of its input's shape move as many elements as that has."""
        counted = 0
        for program in sorted((HOME / "tasks/multikernelbench/level1/Activation").glob("*/program.py")):
            rows = re.findall(r"^(\d+);(\[.*?\]);", (program.parent / "cases.csv").read_text(), re.M)
            sizes = {int(case): math.prod(json.loads(shape)) for case, shape in rows}
            for case in explain(program, "--task", program.parent)[0]["cases"]:
                stored = sum(row["facts"]["all"] for row in of_kind(case, "moved") if row["facts"]["operation"].startswith("store"))
                self.assertEqual(stored, sizes[case["case"]], (program, case["case"]))
                counted += 1
        self.assertGreater(counted, 60)

    def test_what_depends_on_values(self):
        case, = explain(HOME / "tasks/npukernelbench/level1/Math/Icamax/program.py", "--case", "0")[0]["cases"]
        self.assertEqual([row["facts"]["rule"] for row in of_kind(case, "open")], ["undefined"])
        self.assertEqual(of_kind(case, "turns") + of_kind(case, "moved"), [])

    def test_phases_and_cores_without_work(self):
        case, = explain(HOME / "tasks/multikernelbench/level1/Loss/MseLoss/program.py", "--case", "0")[0]["cases"]
        self.assertEqual(of_kind(case, "run")[0]["facts"]["phases"], 2)
        moved = {(row["facts"]["operation"], row["facts"]["tensor"]): row["facts"] for row in of_kind(case, "moved")}
        self.assertEqual((moved["store", "sums"]["all"], moved["store", "sums"]["cores"]), (48 * 8, 48))
        self.assertEqual((moved["load", "sums"]["all"], moved["load", "sums"]["cores"]), (48 * 8, 1))
        # 524288 elements in shares of 10923: the last core has 10907
        self.assertEqual([moved["load", "targets"][key] for key in ("all", "least", "most")], [524288, 10907, 10923])

    def test_the_page_lists_them(self):
        page = (HOME / "docs/dsl.md").read_text().split("Statements of a case:")[1].split("\n## ")[0]
        listed = {kind: set(re.findall(r"`(\w+)`", facts)) for kind, facts in re.findall(r"^\| `\w+` \| `(\w+)` \| (.*) \|$", page, re.M)}
        found = {}
        for task in ("Loss/MseLoss", "Activation/Softmax"):
            for row in explain(HOME / f"tasks/multikernelbench/level1/{task}/program.py", "--case", "1")[0]["cases"][0]["statements"]:
                found.setdefault(row["kind"], set()).update(row["facts"])
        self.assertEqual(set(listed) - {"open"}, set(found))
        for kind, facts in found.items():
            self.assertLessEqual(facts, listed[kind], kind)


class OneProgram(unittest.TestCase):
    def test_sqrt(self):
        """A copy with a smaller tile: the numbers follow from the program, worked out by hand."""
        program = explain(SQRT, "--task", "Sqrt")[0]
        self.assertEqual(program["task"], "level1/Math/Sqrt")
        loop = of_kind(program, "loop", "partition")[0]
        self.assertEqual([loop["facts"][key] for key in ("rule", "loop", "share", "of", "step")],
                         ["consecutive", "at", "per_core", "total", "tile"])
        self.assertEqual([(move["tensor"], move["elements"]) for move in loop["facts"]["moves"]], [("x", "1"), ("y", "1")])
        share = of_kind(program, "share")[0]
        self.assertEqual((share["line"], share["facts"]["multiple_of"], share["facts"]["blocks_apart"]), (26, 64, True))
        self.assertIn("a multiple of 128 bytes", share["sentence"])
        # float16, float32, bfloat16: two queues of two tensors; x_ub and y_ub only where they are float32's
        self.assertEqual(of_kind(program, "total")[0]["facts"]["bytes"], [4096 * 16, 4096 * 16, 4096 * 16])
        # 16 bytes of each element of a tile, of 196352
        self.assertEqual(of_kind(program, "constant")[0]["facts"]["largest"], 196352 // 16 // 16 * 16)
        with tempfile.TemporaryDirectory() as folder:
            smaller = pathlib.Path(folder) / "program.py"
            smaller.write_text(SQRT.read_text().replace("4096", "1000"))
            program = explain(smaller, "--task", "Sqrt")[0]
            # 1000 float16 are 2000 bytes, 2016 in whole blocks; float32 4000
            self.assertEqual(of_kind(program, "total")[0]["facts"]["bytes"], [4 * 2016 + 2 * 4000, 4 * 4000, 4 * 2016 + 2 * 4000])
            alone = akgen("dsl", "explain", smaller)
            self.assertEqual(alone.returncode, 2)
            self.assertIn("--task", alone.stderr)

    def test_shares_that_are_no_whole_blocks(self):
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder) / "program.py"
            changed.write_text(SQRT.read_text().replace("64) * 64", "8) * 8"))
            share = of_kind(explain(changed, "--task", "Sqrt")[0], "share")[0]
            self.assertEqual((share["facts"]["multiple_of"], share["facts"]["blocks_apart"]), (8, False))

    def test_phases(self):
        program = explain(HOME / "tasks/multikernelbench/level1/Loss/MseLoss/program.py")[0]
        between = of_kind(program, "sync_all")[0]["facts"]["between"]
        self.assertEqual(between, [{"tensor": "sums", "before": "store", "before_line": 33, "after": "load", "after_line": 37}])
        self.assertEqual(of_kind(program, "branch")[0]["facts"]["core"], 0)

    def test_text_and_what_is_wrong(self):
        text = akgen("dsl", "explain", SQRT).stdout
        self.assertEqual(re.findall(r"^\w+$", text, re.M), ["partition", "tiling", "budget", "padding", "types", "order"])
        sentences = [row["sentence"] for row in explain(SQRT)[0]["statements"]]
        self.assertEqual(re.findall(r"^ *\d+  (.*)$", text, re.M), sentences)
        with tempfile.TemporaryDirectory() as folder:
            wrong = pathlib.Path(folder) / "program.py"
            wrong.write_text(SQRT.read_text().replace("tl.vsqrt", "tl.vroot"))
            process = akgen("dsl", "explain", wrong, "--task", "Sqrt")
            self.assertEqual((process.returncode, process.stdout), (1, ""))
            self.assertIn("tl.vroot", process.stderr)


if __name__ == "__main__":
    unittest.main()
