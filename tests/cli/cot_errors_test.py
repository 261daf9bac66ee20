#!/usr/bin/env python3
# test: cost=59 labels=long
"""akgen cot errors: the wrong answer of each sample is wrong, the answer right; the same seeds make the same samples, however often the run was killed.
akgen cot failures counts what a run and what the samples hold."""
import collections
import json
import pathlib
import re
import shutil
import sqlite3
import tempfile
import unittest

from akgen_program import HOME, TASKS, akgen, kill_until_done


def rows(database, columns="part, mode, question, chain, answer, verdict, graph"):
    with sqlite3.connect(database) as store:
        return store.execute(f"SELECT {columns} FROM samples ORDER BY rowid").fetchall()


class Errors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def make(self, name, *options):
        done = akgen("cot", "errors", "--db", self.at / name, "--seed", 40, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rows(self.at / name)

    def test_the_same_seeds_make_the_same_samples(self):
        options = ("--count", 20, "--machine", 10, "--mutants", 6)
        one = self.make("one.db", "--jobs", 1, *options)
        self.assertEqual(one, self.make("two.db", "--jobs", 2, *options))
        verdicts = [json.loads(row[5]) for row in one]
        self.assertTrue(all(verdict["verdict"] == "pass" for verdict in verdicts))
        kinds = collections.Counter(verdict["before"]["verdict"] for verdict in verdicts)
        self.assertGreater(min(kinds["compile_error"], kinds["wrong"]), 20)
        for (part, mode, _, chain, _, _, graph), verdict in zip(one, verdicts):
            self.assertEqual(part, "error-api" if verdict["before"]["verdict"] == "compile_error" else "error-kernel")
            self.assertIn(verdict["before"]["mutation"], chain)
            self.assertEqual(verdict["by"], "machine" if mode == "ascendc" else "interpreter")
            self.assertTrue(graph)
        self.assertEqual({row[1] for row in one}, {"graph", "dsl", "ascendc"})
        done = akgen("cot", "failures", "--db", self.at / "one.db", "--json")
        counted = json.loads(done.stdout)
        self.assertEqual({name: row["count"] for name, row in counted["verdicts"].items()}, kinds)
        self.assertEqual(counted["failures"], len(one))

    def test_programs_are_wrong_and_right_as_they_say(self):
        """Of errors that the checker finds in the text alone."""
        checked = 0
        for part, mode, question, _, answer, _, _ in self.make("programs.db", "--count", 10, "--machine", 0):
            found = re.search(r"What was found:\n```\n[^\n]*error: ([^\n]* \[(?:syntax|names|arguments|stages)\])\n", question)
            if mode != "dsl" or part != "error-api" or not found or checked == 12:
                continue
            checked += 1
            for text, code in ((re.search(r"```python\n(.*?)```\n", question, re.S).group(1), 1), (answer, 0)):
                file = self.at / f"{checked}-{code}" / "program.py"
                file.parent.mkdir()
                file.write_text(text)
                done = akgen("dsl", "check", file)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                self.assertEqual(found.group(1) in done.stdout + done.stderr, code == 1)
        self.assertEqual(checked, 12)

    def test_killed_runs_go_on(self):
        options = ("--count", "96", "--machine", "0")
        whole = self.make("whole.db", *options)
        self.assertGreater(kill_until_done("cot", "errors", "--db", self.at / "killed.db", "--seed", "40", *options, "--jobs", "1"), 0)
        self.assertEqual(self.make("killed.db", *options), whole)

    def test_diagnostics_of_a_run(self):
        """Four wrong kernels of one task, of which two call a function in a way that it does not have."""
        kernel = (TASKS / "level1/Math/Sqrt/reference/op_kernel/sqrt.cpp").read_text()
        self.assertIn("Sqrt(wide, wide, count);", kernel)
        for number, (old, new) in enumerate([("Sqrt(wide, wide, count);", "Sqrt(wide, count);"), ("Sqrt(wide, wide, count);", "Muls(wide, wide, wide, count);"),
                                             ("Sqrt(wide, wide, count);", "Sqrt(wide, wide, cuont);"), ("Sqrt(wide, wide, count);", "")]):
            project = self.at / f"tree/level1/Math/Sqrt/answer/{number}"
            shutil.copytree(TASKS / "level1/Math/Sqrt/reference", project)
            (project / "op_kernel/sqrt.cpp").write_text(kernel.replace(old, new))
        runs = self.at / "runs.db"
        akgen("bench", "--provider", f"dir:{self.at / 'tree'}", "--task", "level1/Math/Sqrt", "--case", 1, "--db", runs)
        with sqlite3.connect(runs) as store:
            self.assertEqual(store.execute("SELECT count(*) FROM verdicts").fetchone()[0], 4)
        counted = json.loads(akgen("cot", "failures", "--verdicts", runs, "--json").stdout)
        self.assertEqual((counted["failures"], counted["verdicts"]["compile_error"]["count"]), (4, 3))
        self.assertEqual({name: row["count"] for name, row in counted["verdicts"]["compile_error"]["classes"].items()}, {"api": 2, "scope": 1})
        made = self.make("clusters.db", "--count", 0, "--verdicts", runs)
        calls = {re.search(r"    (\w+)\(.*\);\n$", row[4]).group(1): row for row in made}
        self.assertEqual(set(calls), {"Sqrt", "Muls"})
        for name, (part, mode, question, chain, _, verdict, _) in calls.items():
            self.assertEqual((part, mode, json.loads(verdict)), ("error-api", "ascendc", {"verdict": "pass", "by": "compiler"}))
            self.assertIn(f"no matching function for call to '{name}'", question)
            self.assertIn(f"{name}(LocalTensor<T> dst", chain)
        self.assertEqual(self.make("clusters.db", "--count", 0, "--verdicts", runs), made)

    def test_candidates_of_a_run(self):
        """A task of one's own with a right kernel and two that compile and fail, and one of a benchmark with as many."""
        home, runs = self.at / "home", self.at / "runs.db"
        task = home / "tasks/mine/level1/Math/Cube"
        task.mkdir(parents=True)
        for name in ("include", "src", "docs", "tasks/npukernelbench"):
            (home / name).symlink_to(HOME / name)
        section = re.search(r"## A task of your own\n(.*?)\n## ", (HOME / "docs/tasks.md").read_text(), re.S)[1]
        for language, text in re.findall(r"^```(yaml|csv)\n(.*?)^```", section, re.S | re.M):
            (task / {"yaml": "task.yaml", "csv": "cases.csv"}[language]).write_text(text)
        own = {"env": {"AKGEN_HOME": str(home)}}
        done = akgen("gen", task, "-o", self.at / "cube", **own)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernel = (self.at / "cube/op_kernel/cube.cpp").read_text()
        second, put = "        Mul(value1, value1, x, m);\n", "        value1OutQueue.EnQue(value1Out);\n"
        for name, path, old in (("mine", self.at / "cube", (second, put)), ("npukernelbench", TASKS / "level1/Math/Sqrt/reference", ("Sqrt(wide, wide, count);", "Sqrt(y, x, count);"))):
            for number, part in enumerate(("", *old)):
                at = self.at / name / ("level1/Math/Cube" if name == "mine" else "level1/Math/Sqrt") / f"answer/{number}"
                shutil.copytree(path, at)
                source = next((at / "op_kernel").glob("*.cpp"))
                self.assertIn(part, source.read_text())
                source.write_text(source.read_text().replace(part, "") if part else source.read_text())
            akgen("bench", "--suite", name, "--provider", f"dir:{self.at / name}", "--task", "level1/Math/*", "--db", runs, "--no-timing", **own)
        with sqlite3.connect(runs) as store:
            judged = dict(store.execute("SELECT sample, verdict FROM verdicts WHERE task = 'level1/Math/Cube'").fetchall())
        self.assertEqual(judged, {0: "pass", 1: "wrong", 2: "fault"})
        command = ("cot", "errors", "--db", self.at / "pairs.db", "--count", 0, "--verdicts", runs)
        done = akgen(*command, **own)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n4 candidates that compile and fail: 2 samples, 2 dropped\n$")
        made = {json.loads(row[5])["before"]["verdict"]: row for row in rows(self.at / "pairs.db")}
        self.assertEqual(set(made), {"wrong", "fault"})
        for verdict, part in (("wrong", second), ("fault", put)):
            where, mode, question, chain, answer, told, _ = made[verdict]
            self.assertEqual((where, mode, answer, json.loads(told)["verdict"]), ("error-kernel", "ascendc", kernel, "pass"))
            self.assertIn(f"```cpp\n{kernel.replace(part, '')}\n```", question)
            self.assertIn(f"+ as it has to be):\n+ {part}", chain)
            self.assertIn("DataCopyPad", chain)
        self.assertIn("The kind of error: computation logic.", made["wrong"][3])
        self.assertEqual(json.loads(made["fault"][5])["before"]["class"], "que_deque_empty")
        self.assertIn("que_deque_empty at op_kernel/cube.cpp:", made["fault"][2])
        self.assertIn("The rule: ", made["fault"][3])
        counted = json.loads(akgen("cot", "stats", "--db", self.at / "pairs.db", "--json").stdout)["dropped"]["errors-pairs"]
        self.assertEqual(counted, {"a benchmark's operator": 2})
        self.assertRegex(akgen(*command, **own).stdout, r"\n4 candidates that compile and fail: 0 samples, 0 dropped\n$")
        self.assertNotIn("Sqrt", "".join(str(row) for row in rows(self.at / "pairs.db")))

    def test_bad_usage(self):
        self.assertEqual(akgen("cot", "errors").returncode, 2)
        self.assertEqual(akgen("cot", "failures").returncode, 2)
        self.assertEqual(akgen("cot", "failures", "--verdicts", self.at / "none.db").returncode, 2)
        self.assertEqual(akgen("cot", "errors", "--db", self.at / "x.db", "--count", 0, "--verdicts", self.at / "none.db").returncode, 3)


if __name__ == "__main__":
    unittest.main()
