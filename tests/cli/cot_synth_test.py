#!/usr/bin/env python3
# test: builds=release cost=30
"""akgen cot synth: the same seeds make the same samples, with any number of threads and however often it was killed; none is a benchmark's."""
import json
import pathlib
import re
import sqlite3
import tempfile
import unittest

from akgen_program import HOME, akgen, kill_until_done

COUNT = 320


def samples(database):
    with sqlite3.connect(database) as store:
        return store.execute("SELECT question, chain, answer, verdict, provenance, graph, mode FROM samples ORDER BY rowid").fetchall()


class Synth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def make(self, name, *options, count=COUNT):
        done = akgen("cot", "synth", "--db", self.at / name, "--count", count, "--seed", 7, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return samples(self.at / name)

    def test_the_same_seeds_make_the_same_samples(self):
        one = self.make("one.db", "--jobs", 1, "--machine", 60)
        self.assertEqual(one, self.make("two.db", "--jobs", 2, "--machine", 60))
        verdicts = [json.loads(row[3]) for row in one]
        self.assertTrue(all(verdict["verdict"] == "pass" for verdict in verdicts))
        self.assertTrue(any(verdict["by"] == "machine" for verdict in verdicts), "none was on the machine")
        self.assertGreater(len(one), 0.8 * COUNT)
        self.assertEqual(len(one), len(set(row[0] + row[2] for row in one)))

    def test_killed_runs_go_on(self):
        whole = self.make("whole.db", "--machine", 0)
        self.assertGreater(kill_until_done("cot", "synth", "--db", self.at / "killed.db", "--count", str(COUNT), "--seed", "7", "--machine", "0", "--jobs", "1"), 0)
        self.assertEqual(self.make("killed.db", "--machine", 0), whole)

    def test_programs_are_samples_too(self):
        rows = self.make("programs.db", "--machine", 0, "--programs")
        programs = [row for row in rows if row[6] == "dsl"]
        self.assertGreater(len(programs), 0.45 * COUNT)
        self.assertTrue(all("@ascend_kernel" in row[2] for row in programs))
        self.assertTrue(any(" list " in row[0] and "list[torch.Tensor]" in row[2] for row in programs))
        self.assertTrue(any("] in place" in row[0] for row in programs))
        # The planner has no program of a few operators of lists, a step of which has no list: they keep the sample of formulas.
        self.assertIn(len(rows) - 2 * len(programs), range(3))

    def test_short_programs_are_asked_for_as_a_benchmark_asks(self):
        rows = self.make("short.db", "--machine", 0, "--programs=short")
        programs, graphs = ([row for row in rows if row[6] == mode] for mode in ("dsl", "graph"))
        formulas = {row[4]: row for row in graphs}
        line = {row[0][len(formulas[row[4]][0]):] for row in programs}
        asked = akgen("gen", "Sqrt", "--print-prompt", "--language", "dsl", "--templates", HOME / "prompts/brief", "--json").stdout
        graph = akgen("gen", "Sqrt", "--print-prompt", "--language", "graph", "--json").stdout
        (asked,), (graph,) = json.loads(asked), json.loads(graph)
        self.assertEqual(line, {asked["content"][len(graph["content"]):]})
        self.assertTrue(asked["content"].startswith(graph["content"]))
        for row in programs:
            self.assertTrue(row[2].startswith(f"# {formulas[row[4]][2]}\nimport tile.language as tl\n"), row[2])
        self.assertEqual(akgen("cot", "synth", "--db", self.at / "x.db", "--programs=long").returncode, 2)

    def test_projects_are_asked_for_as_a_benchmark_asks(self):
        rows = self.make("projects.db", "--machine", 0, "--projects", count=40)
        projects, graphs = ([row for row in rows if row[6] == mode] for mode in ("ascendc", "graph"))
        self.assertGreater(len(projects), 25)
        self.assertEqual(len(projects) + len(graphs), len(rows), "programs are no samples unless they are asked for")
        formulas = {row[4]: row for row in graphs}
        asked = akgen("gen", "Sqrt", "--print-prompt", "--language", "ascendc", "--templates", HOME / "prompts/brief", "--json").stdout
        graph = akgen("gen", "Sqrt", "--print-prompt", "--language", "graph", "--json").stdout
        (asked,), (graph,) = json.loads(asked), json.loads(graph)
        for question, _, answer, verdict, source, *_ in projects:
            stem = re.match(r"<op_kernel/(\w+)\.cpp>\n// ", answer)[1]
            self.assertEqual(question, formulas[source][0] + asked["content"][len(graph["content"]):].replace("sqrt", stem))
            self.assertEqual(answer.split("\n")[1], f"// {formulas[source][2]}")
            for name in re.findall(r"<(op_\w+/[\w.]+)>", answer):
                self.assertIn(f"\n</{name}>", answer)
            verdict = json.loads(verdict)
            self.assertEqual((verdict["verdict"], verdict["by"], verdict["compiled"]), ("pass", "interpreter", True))
            # Of the data types of the case that is told, and no others.
            types = {"float16": "DT_FLOAT16", "float32": "DT_FLOAT", "bfloat16": "DT_BF16", "bool": "DT_BOOL", "int32": "DT_INT32", "int64": "DT_INT64", "int8": "DT_INT8", "uint8": "DT_UINT8"}
            told = {types[word] for word in re.findall(r"^(?:in|out) \w+ (?:list )?(\w+) \[", question, re.M)}
            self.assertTrue(set(re.findall(r"ge::(DT_\w+)", answer)) <= told, question)

    def test_projects_alone_are_of_short_programs(self):
        rows = self.make("projects.db", "--machine", 0, "--projects", count=40)
        both = self.make("both.db", "--machine", 0, "--projects", "--programs=short", count=40)
        self.assertEqual([row for row in both if row[6] != "dsl"], rows)

    def test_a_family_alone_is_its_part_of_all(self):
        whole = self.make("whole.db", "--machine", 0)
        single = self.make("single.db", "--machine", 0, "--family", "single")
        with sqlite3.connect(self.at / "whole.db") as store:
            tags = dict(store.execute("SELECT provenance, tags FROM samples"))
        self.assertGreater(len(single), 0.1 * COUNT)
        self.assertEqual(single, [row for row in whole if json.loads(tags[row[4]])[0] == "single"])
        self.make("single.db", "--machine", 0, "--family", "norm")                       # another step of the same database
        self.assertGreater(len(samples(self.at / "single.db")), len(single))
        done = akgen("cot", "synth", "--db", self.at / "none.db", "--family", "norms")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "no 'norms'; there are elementwise, single, pair, ")

    def test_prompts_of_programs_can_be_judged(self):
        self.make("rows.db", "--machine", 0, "--programs")
        done = akgen("cot", "export", "--db", self.at / "rows.db", "--format", "prompts", "--mode", "dsl", "-o", self.at / "prompts")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in (self.at / "prompts/train.jsonl").read_text().splitlines()]
        self.assertTrue(all(isinstance(row["operator"], int) for row in rows))

    def test_exports_have_chains_or_not(self):
        self.make("rows.db", "--machine", 0)
        for options, begins in (((), "<think>"), (("--no-chain",), "")):
            out = self.at / f"rows{len(options)}"
            self.assertEqual(akgen("cot", "export", "--db", self.at / "rows.db", "--format", "trl-sft", "-o", out, *options).returncode, 0)
            answers = [json.loads(line)["completion"][0]["content"] for line in (out / "train.jsonl").read_text().splitlines()]
            self.assertTrue(all(answer.startswith(begins) and ("<think>" in answer) == (not options) for answer in answers))

    def test_bad_usage(self):
        self.assertEqual(akgen("cot", "synth").returncode, 2)
        self.assertEqual(akgen("cot", "synth", "--db", self.at / "x.db", "--count", 0).returncode, 2)
        (self.at / "text.db").write_text("no database, but long enough to be one if it were" * 9)
        self.assertEqual(akgen("cot", "synth", "--db", self.at / "text.db").returncode, 3)


if __name__ == "__main__":
    unittest.main()
