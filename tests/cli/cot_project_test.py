#!/usr/bin/env python3
# test: builds=release cost=60
"""akgen cot project: what a row says of its tiling is what its own host part gives; the same seeds make the same rows, however often it was
killed."""
import json
import math
import pathlib
import re
import sqlite3
import struct
import tempfile
import unittest

from akgen_program import akgen, kill_until_done, verdict

COUNT = 20


def rows(database):
    with sqlite3.connect(database) as store:
        return store.execute("SELECT mode, question, chain, answer, verdict, provenance, graph, split FROM samples ORDER BY rowid").fetchall()


def summary(chain):
    return json.loads(re.search(r"III\. Summary\n\n```json\n(.*)\n```$", chain, re.S).group(1))


def write_task(question, folder):
    """A task of a row's own words: one case, whose shapes are written out."""
    folder.mkdir(parents=True)
    op = re.search(r"^Operator: (.*)$", question, re.M).group(1)
    steps = re.search(r"Formula:\n\n```\n(.*?)\n```", question, re.S).group(1).replace("\n", "; ").split("; ")
    yaml = f"suite: rows\nlevel: 1\ncategory: Math\nop: {op}\nreference: formula\ninputs:\n"
    outputs, attrs = "", ""
    for what, name, rest in re.findall(r"^- (input|output|attribute) `(\w+)`: (.*)$", question, re.M):
        if what == "attribute":
            kind, value = rest.replace('"', "").split(", ")
            attrs += f"  - name: {name}\n    type: {kind}\n    value: \"{value}\"\n"
            continue
        dtype, shape = rest.split(" ", 1)
        tensor = f"  - name: {name}\n    shape: \"{shape}\"\n    dtype: \"{dtype}\"\n    types: [{dtype}]\n"
        if what == "input":
            yaml += tensor + "    generate: \"uniform(0.1, 2)\"\n"
            continue
        at = next(i for i, step in enumerate(steps) if step.startswith(name + " = "))
        last = steps[at].split(" = ", 1)[1]
        outputs += tensor + "    formula: \"" + "; ".join(steps[:at] + [last]) + "\"\n"
        steps = steps[at + 1:]
    (folder / "task.yaml").write_text(yaml + "outputs:\n" + outputs + ("attrs:\n" + attrs if attrs else ""))
    (folder / "cases.csv").write_text("case_id\n0\n")
    (folder / "desc.md").write_text(f"# {op}\n\nOf a row.\n")
    return folder


def write_project(answer, folder):
    for path, text in re.findall(r"<(op_[\w/.]+)>\n(.*?)</\1>", answer, re.S):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def same(ours, theirs):
    """Numbers as they are; fields of type float to the bit of a float32."""
    single = lambda number: struct.pack("f", number)
    return ours.keys() == theirs.keys() and all(
        ours[name] == theirs[name] or (isinstance(ours[name], float) and single(ours[name]) == single(theirs[name])) for name in ours)


class Project(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def make(self, name, *options):
        done = akgen("cot", "project", "--db", self.at / name, "--count", COUNT, "--seed", 7, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rows(self.at / name)

    def test_the_same_seeds_make_the_same_rows(self):
        one = self.make("one.db", "--jobs", 1, "--machine", 9)
        self.assertEqual(one, self.make("two.db", "--jobs", 2, "--machine", 9))
        self.assertGreater(len(one), COUNT, "no operator has two scenarios")
        self.assertEqual(len(one), len({row[1] for row in one}))
        verdicts = [json.loads(row[4]) for row in one]
        self.assertEqual({v["verdict"] for v in verdicts}, {"pass"})
        self.assertEqual({v["by"] for v in verdicts}, {"interpreter", "machine"})
        splits = {}
        for row in one:
            self.assertEqual(splits.setdefault(row[6], row[7]), row[7], "an operator is in two splits")
            for part in ("## Instruction", "## Kernel source", "## Test case", "## Hardware"):
                self.assertEqual(row[1].count(part + "\n"), 1)
            heads = [row[1].index(part) for part in ("## Instruction", "## Kernel source", "## Test case", "## Hardware")]
            self.assertEqual(heads, sorted(heads))
            self.assertNotRegex(row[2], r" in line \d|tl\.")

    def test_summaries_are_what_the_tiling_function_gives(self):
        made = self.make("rows.db", "--machine", 0, "--summaries")
        written = [row for row in made if row[0] == "ascendc"]
        told = [row for row in made if row[0] == "text"]
        self.assertEqual(len(written), len(told))
        for row, other in zip(written, told):
            self.assertEqual(json.loads(other[3]), summary(row[2]))
            self.assertIn(row[3], other[1])
        # The rows' own words and files, evaluated as anybody would: the launch gets what the summary says.
        ran = 0
        for number, row in enumerate(written[::6]):
            said = summary(row[2])
            task = write_task(row[1], self.at / f"task{number}")
            result = verdict(task, write_project(row[3], self.at / f"project{number}"), "--case", 0, "--full")
            run = result["cases"][0]["run"]
            self.assertIsNotNone(run, result["reason"])
            self.assertEqual((run["blocks"], run["tiling_key"], run["workspace"], run["tiling_bytes"]),
                             (said["block_dim"], said["tiling_key"], said["workspace"], said["tiling_bytes"]), row[5])
            self.assertTrue(same(said["tiling"], run["tiling"]), (said["tiling"], run["tiling"]))
            cores = re.search(r"^- (\d+) cores? runs?", row[2], re.M)
            self.assertEqual(int(cores.group(1)), run["blocks"])
            ran += result["verdict"] == "pass"
        # The rest differ by one rounding: sums over rows of 16-bit types, of which chance draws more or fewer.
        self.assertGreaterEqual(ran, math.ceil(len(written[::6]) * 0.4))

    def test_killed_runs_go_on(self):
        whole = self.make("whole.db", "--machine", 0)
        self.assertGreater(kill_until_done("cot", "project", "--db", self.at / "killed.db", "--count", str(COUNT), "--seed", "7", "--machine", "0", "--jobs", "2"), 0)
        self.assertEqual(self.make("killed.db", "--machine", 0), whole)

    def test_bad_usage(self):
        self.assertEqual(akgen("cot", "project").returncode, 2)
        self.assertEqual(akgen("cot", "project", "--db", self.at / "x.db", "--count", 0).returncode, 2)
        (self.at / "text.db").write_text("no database, but long enough to be one if it were" * 9)
        self.assertEqual(akgen("cot", "project", "--db", self.at / "text.db").returncode, 3)

    def test_a_count_that_is_none_is_named_as_it_was_written(self):
        done = akgen("cot", "project", "--db", self.at / "none.db", "--count", "-3")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("project: --count: '-3' is not a whole number", done.stderr)
        self.assertFalse((self.at / "none.db").exists())


if __name__ == "__main__":
    unittest.main()
