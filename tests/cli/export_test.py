#!/usr/bin/env python3
# test: cost=20 labels=long
"""akgen export preferences and sft: which answers become rows, in which order, in which form, and what is said of the rest."""
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, akgen
from export_runs import Runs

SQRT, ABS = "level1/Math/Sqrt", "level1/Math/Abs"


class Exports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.db = pathlib.Path(self.folder.name, "runs.db")
        self.runs = Runs(self.db)
        self.runs.begin(1)

    def export(self, what, *options, code=0):
        """Rows, and what was said."""
        self.runs.commit()
        process = akgen("export", what, "--db", self.db, *options)
        self.assertEqual(process.returncode, code, process.stderr)
        return [json.loads(line) for line in process.stdout.split("\n")[:-1]], process.stderr

    def pairs(self, *options):
        rows, notes = self.export("preferences", "--format", "trl-text", *options)
        return [(row["chosen"], row["rejected"]) for row in rows], notes

    def add(self, verdict, *answers, task=SQRT, **more):
        for answer in answers:
            self.runs.add(1, task, verdict, answer, **more)


class Rule(Exports):
    def test_strategies_choose_the_worse_answers(self):
        self.add("pass", "right")
        self.add("wrong", "wrong")
        self.add("fault", "fault in the kernel")
        self.add("fault", "fault in the tiling", stage="tiling")
        self.add("fault", "fault in the OpDef", stage="host")  # the chip's build runs it
        self.add("timeout", "timeout")
        self.add("compile_error", "no kernel")
        self.add("compile_error", "no answer in it", stage="parse", candidate=None)
        for verdict in ("rejected", "unsupported", "infra_error"):
            self.add(verdict, verdict)
        compiled = {"wrong", "fault in the kernel", "fault in the tiling", "timeout"}
        uncompiled = {"fault in the OpDef", "no kernel", "no answer in it"}
        expected = {"compiled": {("right", a) for a in compiled}, "uncompiled": {("right", a) for a in uncompiled},
                    "both": {("right", a) for a in compiled | uncompiled}}
        expected["ordered"] = expected["both"] | {(a, b) for a in compiled for b in uncompiled}
        for strategy, wanted in expected.items():
            pairs, notes = self.pairs("--strategy", strategy, "--per-task", 0)
            self.assertEqual(set(pairs), wanted, strategy)
            self.assertEqual(len(pairs), len(wanted))
        self.assertIn("19 rows of 1 tasks, of 1 that were asked for; the worse answer compiles in 4, does not in 3, "
                      "both are wrong in 12\n", notes)
        for verdict in ("rejected", "unsupported", "infra_error"):
            self.assertIn(f"left out 1: verdict {verdict}\n", notes)

    def test_the_faster_of_two_right_answers_is_better(self):
        for answer, speedup in {"slow": 0.5, "as slow": 0.59, "fast": 0.6, "fastest": 2, "unknown": None}.items():
            self.add("pass", answer, speedup=speedup)
        self.add("wrong", "wrong", speedup=9)
        pairs, notes = self.pairs("--strategy", "faster", "--per-task", 0)
        self.assertEqual(set(pairs), {("fast", "slow"), ("fastest", "slow"), ("fastest", "as slow"), ("fastest", "fast")})
        self.assertIn("does not in 0, both are wrong in 0, is right and slower in 4\n", notes)
        self.runs.begin(3)  # over other kernels: what it says of eager counts
        self.runs.add(3, SQRT, "pass", "fastest", speedup=0.1, baseline="dir:kernels", eager_speedup=2)
        self.assertEqual(set(self.pairs("--strategy", "faster", "--per-task", 0)[0]), set(pairs))
        self.runs.begin(2)
        self.runs.add(2, SQRT, "pass", "fastest", speedup=0.55)  # the worst that any run says
        pairs, notes = self.pairs("--strategy", "faster", "--per-task", 0)
        self.assertEqual(set(pairs), {("fast", "slow")})
        pairs, notes = self.pairs("--strategy", "faster", "--run", 2)
        self.assertIn("no right answer is 1.2 times as fast as another to the same question: ", notes)

    def test_a_candidate_is_worth_the_worst_that_any_run_says(self):
        self.runs.begin(2)
        for answer, verdicts in {"right": ("pass", "pass"), "by luck": ("pass", "wrong"), "cheat": ("pass", "rejected"),
                                 "unknown": ("pass", "unsupported")}.items():
            for run, verdict in enumerate(verdicts, 1):
                self.runs.add(run, SQRT, verdict, answer)
        pairs, notes = self.pairs()
        self.assertEqual(set(pairs), {("right", "by luck"), ("unknown", "by luck")})
        self.assertIn("left out 1: verdict rejected of the same candidate\n", notes)
        self.assertEqual(len(self.pairs("--run", 1)[0]), 0)
        self.assertEqual({row["completion"] for row in self.export("sft", "--run", 1, "--format", "trl-text")[0]},
                         {"right", "by luck", "cheat", "unknown"})

    def test_pairs_answer_the_same_question(self):
        for prompt, answers in {"a": ("right a", "wrong a"), "b": ("right b", "wrong b")}.items():
            self.runs.prompt(prompt)
            self.runs.add(1, SQRT, "pass", answers[0], prompt=prompt)
            self.runs.add(1, SQRT, "wrong", answers[1], prompt=prompt)
        self.assertEqual(set(self.pairs()[0]), {("right a", "wrong a"), ("right b", "wrong b")})

    def test_the_same_candidate_counts_once(self):
        self.add("pass", "right", "right too", candidate="same")
        self.add("wrong", "wrong", "wrong too", candidate="other")
        self.assertEqual(self.pairs()[0], [("right", "wrong")])
        self.assertEqual([row["completion"] for row in self.export("sft", "--format", "trl-text")[0]], ["right"])

    def test_a_name_of_two_suites_is_two_tasks(self):
        self.runs.begin(2, suite="multikernelbench")
        prompt = self.runs.prompt("the same")
        self.runs.add(1, SQRT, "pass", "right", prompt=prompt)
        self.runs.add(2, SQRT, "wrong", "wrong", prompt=prompt)
        pairs, notes = self.pairs()
        self.assertEqual(pairs, [])
        self.assertIn("1 tasks without rows, every answer is right: npukernelbench/level1/Math/Sqrt\n", notes)
        self.assertIn("1 tasks without rows, no answer is right: multikernelbench/level1/Math/Sqrt\n", notes)


class Balance(Exports):
    def test_every_prefix_uses_answers_evenly(self):
        for right, wrong in ((1, 5), (3, 7), (7, 3), (4, 4), (6, 4)):
            with self.subTest(right=right, wrong=wrong):
                self.setUp()
                self.add("pass", *(f"right {i}" for i in range(right)))
                self.add("wrong", *(f"wrong {i}" for i in range(wrong)))
                pairs, _ = self.pairs("--per-task", 0)
                self.assertEqual(len(set(pairs)), right * wrong)
                for end in range(1, len(pairs) + 1):
                    for side, size in ((0, right), (1, wrong)):
                        uses = collections.Counter(pair[side] for pair in pairs[:end])
                        least = min(uses.values()) if len(uses) == size else 0
                        self.assertLessEqual(max(uses.values()) - least, 1 if size == max(right, wrong) else 2, (end, uses))
                        if end >= max(right, wrong):
                            self.assertEqual(len(uses), size)

    def test_kinds_and_tasks_share_alike(self):
        for task in (SQRT, ABS):
            self.add("pass", *(f"right {i}" for i in range(5)), task=task)
            self.add("wrong", *(f"wrong {i}" for i in range(20)), task=task)
            self.add("compile_error", *(f"broken {i}" for i in range(2)), task=task)
        rows, _ = self.export("preferences", "--per-task", 6, "--provenance")
        tasks = collections.Counter(row["provenance"]["task"].split("/")[-1] for row in rows)
        kinds = collections.Counter(row["provenance"]["rejected"]["verdict"] for row in rows)
        self.assertEqual(tasks, {"Sqrt": 6, "Abs": 6})
        self.assertEqual(kinds, {"wrong": 6, "compile_error": 6})

    def test_the_seed_decides_and_the_order_of_rows_in_the_file_does_not(self):
        self.add("pass", *(f"right {i}" for i in range(9)))
        self.add("wrong", *(f"wrong {i}" for i in range(9)))
        first = self.pairs("--per-task", 4)[0]
        self.assertEqual(first, self.pairs("--per-task", 4)[0])
        self.assertNotEqual(first, self.pairs("--per-task", 4, "--seed", 1)[0])
        self.setUp()
        self.add("wrong", *(f"wrong {i}" for i in reversed(range(9))))
        self.add("pass", *(f"right {i}" for i in reversed(range(9))))
        self.assertEqual(first, self.pairs("--per-task", 4)[0])

    def test_held_out_tasks(self):
        for task in (SQRT, ABS, "level2/Norm/RmsNorm"):
            self.add("pass", task, task=task)
        names = lambda *options: {row["completion"] for row in self.export("sft", "--format", "trl-text", *options)[0]}
        self.assertEqual(names("--exclude", "level1/*"), {"level2/Norm/RmsNorm"})
        self.assertEqual(names("--only", "*/Math/*", "--exclude", "*/Abs"), {SQRT})
        self.assertEqual(names("--only", "npukernelbench/*/Abs", "--only", "level2/*"), {ABS, "level2/Norm/RmsNorm"})
        _, notes = self.export("sft", "--only", "level9/*", code=2)
        self.assertIn("has no verdict of such runs and tasks", notes)


class Forms(Exports):
    SYSTEM, QUESTION = "You write kernels.", f"Write of {SQRT}."

    def setUp(self):
        super().setUp()
        self.add("pass", "right", reasoning="because")
        self.add("wrong", "<think>\nhm\n</think>\n\nwrong")

    def row(self, what, form, *options):
        rows, _ = self.export(what, "--format", form, *options)
        self.assertEqual(len(rows), 1)
        return rows[0]

    def test_preferences(self):
        system, user = {"role": "system", "content": self.SYSTEM}, {"role": "user", "content": self.QUESTION}
        self.assertEqual(self.row("preferences", "trl"),
                         {"prompt": [system, user], "chosen": [{"role": "assistant", "content": "right"}],
                          "rejected": [{"role": "assistant", "content": "wrong"}]})
        self.assertEqual(self.row("preferences", "trl-text"),
                         {"prompt": f"{self.SYSTEM}\n\n{self.QUESTION}", "chosen": "right", "rejected": "wrong"})
        self.assertEqual(self.row("preferences", "alpaca"),
                         {"instruction": self.QUESTION, "input": "", "system": self.SYSTEM, "chosen": "right",
                          "rejected": "wrong"})
        self.assertEqual(self.row("preferences", "sharegpt"),
                         {"conversations": [{"from": "human", "value": self.QUESTION}], "system": self.SYSTEM,
                          "chosen": {"from": "gpt", "value": "right"}, "rejected": {"from": "gpt", "value": "wrong"}})

    def test_demonstrations(self):
        system, user = {"role": "system", "content": self.SYSTEM}, {"role": "user", "content": self.QUESTION}
        answer = {"role": "assistant", "content": "right"}
        self.assertEqual(self.row("sft", "trl"), {"prompt": [system, user], "completion": [answer]})
        self.assertEqual(self.row("sft", "trl-messages"), {"messages": [system, user, answer]})
        self.assertEqual(self.row("sft", "trl-text"),
                         {"prompt": f"{self.SYSTEM}\n\n{self.QUESTION}", "completion": "right"})
        self.assertEqual(self.row("sft", "alpaca"),
                         {"instruction": self.QUESTION, "input": "", "system": self.SYSTEM, "output": "right"})
        self.assertEqual(self.row("sft", "sharegpt"),
                         {"conversations": [{"from": "human", "value": self.QUESTION}, {"from": "gpt", "value": "right"}],
                          "system": self.SYSTEM})

    def test_reasoning(self):
        row = self.row("preferences", "trl-text", "--reasoning")
        self.assertEqual(row["chosen"], "<think>\nbecause\n</think>\n\nright")
        self.assertEqual(row["rejected"], "<think>\nhm\n</think>\n\nwrong")

    def test_provenance(self):
        row = self.row("preferences", "alpaca", "--provenance")
        self.assertEqual(row["provenance"]["task"], f"npukernelbench/{SQRT}")
        self.assertEqual(row["provenance"]["rejected"], {"run": 1, "sample": 1, "verdict": "wrong", "stage": "compare",
                                                         "model": "tiny", "akgen": "0.1.0"})

    def test_a_command_is_named_by_its_provider(self):
        self.runs.begin(2, provider="exec:mymodel", settings='{"command": "mymodel"}')
        self.runs.add(2, SQRT, "pass", "other")
        rows, _ = self.export("sft", "--run", 2, "--provenance")
        self.assertEqual(rows[0]["provenance"]["answer"]["model"], "exec:mymodel")

    def test_repairs(self):
        self.runs.prompt("repair", {"role": "user", "content": "Write."}, {"role": "assistant", "content": "bad"},
                         {"role": "user", "content": "It does not compile."})
        self.runs.add(1, ABS, "pass", "repaired", prompt="repair", round=1)
        self.runs.add(1, ABS, "wrong", "not repaired", prompt="repair", round=1)
        rows, _ = self.export("preferences", "--format", "sharegpt", "--only", ABS)
        self.assertEqual([turn["from"] for turn in rows[0]["conversations"]], ["human", "gpt", "human"])
        self.assertEqual(rows[0]["system"], "")
        rows, _ = self.export("sft", "--format", "trl-text", "--only", ABS)
        self.assertEqual(rows[0]["prompt"], "user:\nWrite.\n\nassistant:\nbad\n\nuser:\nIt does not compile.\n\nassistant:\n")
        rows, notes = self.export("preferences", "--format", "alpaca", "--only", ABS)
        self.assertEqual(rows, [])
        self.assertIn("left out 2: alpaca's rows have one question, a repair's prompt has several\n", notes)
        rows, notes = self.export("preferences", "--first-round", "--only", ABS)
        self.assertEqual(rows, [])
        self.assertIn("left out 2: answers a repair\n", notes)


class Trouble(Exports):
    def test_answers_that_are_no_text(self):
        for answer in ("", " \n", "<think>cut off", "<think>x</think>\n"):
            self.add("pass", answer, candidate=f"c{answer}")
        for answer in (b"a\0b", b"\xff\xfe", b"\xed\xa0\x80"):
            self.runs.add(1, SQRT, "pass", "x", candidate=f"c{answer}")
            self.runs.db.execute("UPDATE answers SET answer = CAST(? AS TEXT) WHERE sample = (SELECT max(sample) FROM answers)",
                                 (answer,))
        self.runs.add(1, SQRT, "infra_error", None, candidate=None)
        self.add("pass", "good \u2028 \U0001f600 \x01 \"")
        rows, notes = self.export("sft", "--format", "trl-text")
        self.assertEqual([row["completion"] for row in rows], ["good \u2028 \U0001f600 \x01 \""])
        self.assertIn("left out 4: the answer is empty\n", notes)
        self.assertIn("left out 3: the answer is no text (NUL or no UTF-8)\n", notes)

    def test_prompts_that_are_none(self):
        broken = {"no JSON": "no list of messages", "[]": "does not end with a question", '{"role": "user"}': "no list of messages",
                  '[{"role": "user"}]': "no list of messages", '[1]': "no list of messages",
                  '[{"role": "user", "content": [{"type": "text"}]}]': "no list of messages",
                  '[{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]': "does not end with a question"}
        for i, messages in enumerate(broken):
            self.runs.db.execute("INSERT INTO prompts VALUES (?, ?, 0)", (f"p{i}", messages))
            self.runs.add(1, SQRT, "pass", f"a{i}", prompt=f"p{i}")
        rows, notes = self.export("sft")
        self.assertEqual(rows, [])
        for text, times in collections.Counter(broken.values()).items():
            self.assertIn(f"left out {times}: the prompt {'is ' if text.startswith('no') else ''}{text}\n", notes)

    def test_runs_without_prompts_and_without_end(self):
        self.runs.begin(2, provider="dir:answers")
        self.runs.add(2, "level7/Gone/Op", "pass", "x", prompt=False)
        self.runs.begin(3, seconds=None)
        self.runs.add(3, "level7/Gone/Op", "pass", "y")
        rows, notes = self.export("sft")
        self.assertEqual(len(rows), 1)
        self.assertIn("left out 1: no prompt and answer are kept (dir:, reference, dsl)\n", notes)
        self.assertIn("run 3: openai:http://localhost/v1, 2026-01-01T00:00:00Z; it has no end yet: what is there is taken\n",
                      notes)

    def test_files_that_are_none(self):
        self.add("pass", "right")
        self.assertIn("has no run 7", self.export("sft", "--run", 7, code=2)[1])
        gone = akgen("export", "sft", "--db", self.db.with_name("none.db"))
        self.assertEqual((gone.returncode, "No such file" in gone.stderr), (2, True))
        self.assertFalse(self.db.with_name("none.db").exists())
        text = self.db.with_name("text.db")
        text.write_text("no database" * 100)
        self.assertIn("file is not a database", akgen("export", "sft", "--db", text).stderr)
        text.write_text("")
        self.assertIn("is a database of another kind", akgen("export", "sft", "--db", text).stderr)

    def test_nobody_waits_for_whoever_reads_the_rows(self):
        self.add("pass", *(f"right {i}" for i in range(40)))
        self.add("wrong", *(f"wrong {i} " + "kernel " * 2000 for i in range(40)))
        self.runs.commit()
        process = subprocess.Popen([AKGEN, "export", "preferences", "--db", str(self.db), "--per-task", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        lines = [process.stdout.readline()]  # the pipe is full soon, and akgen waits
        self.runs.db.execute("PRAGMA busy_timeout = 20000")
        self.add("pass", "one more")
        lines += [process.stdout.readline() for _ in range(400)]
        self.runs.commit()
        self.assertEqual(len(lines + process.stdout.readlines()), 1600)
        self.assertEqual(process.wait(), 0)

    def test_an_earlier_schema(self):
        self.add("pass", "right")
        self.runs.db.executescript("DROP TABLE answers; DROP TABLE prompts; ALTER TABLE runs DROP COLUMN settings;"
                                   "ALTER TABLE runs DROP COLUMN planned; ALTER TABLE runs DROP COLUMN salt; PRAGMA user_version = 2; PRAGMA application_id = 0")
        rows, notes = self.export("sft")
        self.assertEqual(rows, [])
        self.assertIn("left out 1: no prompt and answer are kept (dir:, reference, dsl)", notes)

    def test_the_database_is_not_written(self):
        self.add("pass", "right")
        self.runs.commit()
        before = self.db.read_bytes()
        self.db.chmod(0o444)
        self.assertEqual(len(self.export("sft")[0]), 1)
        self.assertEqual(self.db.read_bytes(), before)
        self.assertEqual(os.listdir(self.folder.name), ["runs.db"])

    def test_output(self):
        self.add("pass", "right")
        target = self.db.with_name("rows.jsonl")
        target.write_text("older")
        self.export("sft", "--run", 9, "-o", target, code=2)
        self.assertEqual(target.read_text(), "older")
        rows, _ = self.export("sft", "-o", target)
        self.assertEqual(rows, [])
        self.assertEqual(len(target.read_text().splitlines()), 1)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["rows.jsonl", "runs.db"])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(target.stat().st_mode & 0o777, 0o666 & ~mask)
        _, notes = self.export("sft", "-o", self.db.with_name("no") / "folder", code=3)
        self.assertIn("No such file or directory", notes)

    def test_a_full_disk(self):
        self.add("pass", "right " * 10000)
        self.runs.commit()
        with open("/dev/full", "w") as full:
            process = subprocess.run([AKGEN, "export", "sft", "--db", str(self.db)], stdout=full, stderr=subprocess.PIPE,
                                     text=True)
        self.assertEqual(process.returncode, 3)
        self.assertIn("cannot write the rows: No space left on device", process.stderr)

    def test_wrong_usage(self):
        for arguments in (("preferences",), ("--db", "x"), ("both", "--db", "x"), ("sft", "--db", "x", "--format", "parquet"),
                          ("preferences", "--db", "x", "--format", "trl-messages"), ("sft", "--db", "x", "--per-task", "-1"),
                          ("sft", "more", "--db", "x")):
            self.assertEqual(akgen("export", *arguments).returncode, 2, arguments)


class Size(Exports):
    def test_a_run_of_the_papers_size(self):
        kinds = ("pass", "wrong", "compile_error", "fault")
        for t in range(158):
            task = f"level1/Math/Op{t}"
            for s in range(100):
                self.add(kinds[(s * 7 + t) % 4], f"{t} {s} " + "kernel " * 400, task=task)
        start = time.monotonic()
        rows, notes = self.export("preferences", "-o", self.db.with_name("rows"))
        seconds = time.monotonic() - start
        self.assertIn("1264 rows of 158 tasks, of 158 that were asked for; the worse answer compiles in 632, does not in "
                      "632", notes)
        self.assertLess(seconds, 30)
        self.export("preferences", "--per-task", 0, "--strategy", "ordered", "--only", "*/Op1?", "-o",
                    self.db.with_name("all"))
        with open(self.db.with_name("all")) as file:
            self.assertEqual(sum(1 for _ in file), 10 * (25 * 75 + 50 * 25))


if __name__ == "__main__":
    unittest.main()
