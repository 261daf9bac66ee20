#!/usr/bin/env python3
# test: cost=16 labels=long
"""The language that was asked for is the one that counts: akgen eval, bench, report and export of answers in Ascend C, AscendDSL and
formulas."""
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from akgen_program import HOME, akgen, verdict

FOLDER = HOME / "tests/gen/answers"
SQRT = "npukernelbench/level1/Math/Sqrt"
ONE = ("--case", "4", "--no-timing")
FORMULA, PROGRAM, PROJECT = "y = sqrt(x)", FOLDER / "program_bare.txt", FOLDER / "banners_equals.txt"
NAMES = {"ascendc": "Ascend C was", "dsl": "a program in AscendDSL was", "graph": "formulas were"}
FOUND = {"ascendc": "Ascend C", "dsl": "a program in AscendDSL", "graph": "formulas"}


class Languages(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-language-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.read_text() if isinstance(text, pathlib.Path) else text)
        return path

    def check(self, path, asked, language, *options):
        """The answer counts in `language` where `asked` is given (None: nothing is), or is refused if that is None."""
        result = verdict(SQRT, path, *ONE, *options, *(("--language", asked) if asked else ()))
        if language:
            self.assertEqual((result["verdict"], result["language"]), ("pass", language), result["reason"])
            return
        self.assertEqual((result["verdict"], result["stage"], result["language"]), ("compile_error", "parse", asked or "ascendc"))
        [diagnostic] = result["compile"]["diagnostics"]
        self.assertEqual((diagnostic["class"], diagnostic["message"]), ("syntax", result["reason"]))
        self.assertIn(f"but {NAMES[asked or 'ascendc']} asked for", result["reason"])

    def test_a_text_is_ascend_c_unless_said_otherwise(self):
        for name, text in (("ascendc", PROJECT), ("dsl", PROGRAM), ("graph", FORMULA)):
            answer = self.write(f"{name}.txt", text)
            for asked in (None, "ascendc", "dsl", "graph", "any"):
                with self.subTest(answer=name, asked=asked):
                    self.check(answer, asked, name if asked in (name, "any") or not asked and name == "ascendc" else None)

    def test_folders_and_python_files_are_taken_in_their_own_form(self):
        reference = HOME / "tasks" / SQRT / "reference"
        program = self.write("program.py", PROGRAM)
        for asked in (None, "ascendc", "any"):
            self.check(reference, asked, "ascendc")
        for asked in (None, "dsl", "any"):
            self.check(program, asked, "dsl")
        self.check(reference, "dsl", None)
        self.check(program, "ascendc", None)
        self.check(self.write("formula.py", FORMULA), None, None)  # a line of Python, and no form of a .py file
        six = HOME / "tests/cli/responses/relu_fenced.txt"
        answer = self.write("relu.py", six)
        result = verdict("multikernelbench/level1/Activation/Relu", answer, "--case", "0", "--no-timing")
        self.assertEqual((result["verdict"], result["language"]), ("pass", "ascendc"), result["reason"])

    def test_the_terminal_names_the_language_and_what_to_do(self):
        done = akgen("eval", SQRT, self.write("answer.txt", FORMULA), *ONE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(", sync auto, language ascendc)\n", done.stdout)
        self.assertIn("error [syntax]: the answer is formulas, but Ascend C was asked for (--language graph counts it)\n", done.stdout)

    def test_a_project_beside_a_program_counts_where_ascend_c_is_asked_for(self):
        both = f"The program:\n```python\n{PROGRAM.read_text()}```\nand what it becomes:\n" + (FOLDER / "fences_names_in_headings.txt").read_text()
        answer = self.write("both.md", both)
        self.check(answer, None, "ascendc")
        self.check(answer, "dsl", "dsl")

    def bench(self, *options, code, language, passed):
        db = self.directory / "runs.db"
        done = akgen("bench", "--task", "level1/Math/Sqrt", *ONE, "--db", db, *options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(f", language {language}, provider ", done.stdout)
        with sqlite3.connect(db) as base:
            run, stored = base.execute("SELECT id, language FROM runs ORDER BY id DESC").fetchone()
            rows = [(kind, json.loads(text)["language"]) for kind, text in
                    base.execute("SELECT verdict, json FROM verdicts WHERE run = ? ORDER BY sample", (run,))]
        self.assertEqual((stored, [kind == "pass" for kind, _ in rows]), (language, passed))
        if language != "any":
            self.assertEqual({word for _, word in rows}, {language})
        return done

    def test_a_run_is_of_one_language(self):
        formula = f"exec:echo '{FORMULA}'"
        done = self.bench("--provider", formula, code=1, language="ascendc", passed=[False])
        self.assertIn("ER", done.stdout)
        self.bench("--provider", formula, "--language", "graph", code=0, language="graph", passed=[True])
        self.bench("--provider", formula, "--language", "any", code=0, language="any", passed=[True])
        self.bench("--provider", "reference", code=0, language="ascendc", passed=[True])
        self.bench("--provider", "dsl", code=0, language="dsl", passed=[True])
        tree = self.directory / "tree"
        for number, (name, text) in enumerate((("txt", PROJECT), ("md", PROGRAM), ("py", PROGRAM), ("txt", FORMULA))):
            self.write(f"tree/level1/Math/Sqrt/answer/{number}.{name}", text)
        self.bench("--provider", f"dir:{tree}", code=1, language="ascendc", passed=[True, False, False, False])
        self.bench("--provider", f"dir:{tree}", "--language", "dsl", code=1, language="dsl", passed=[False, True, True, False])
        self.bench("--provider", f"dir:{tree}", "--language", "any", code=0, language="any", passed=[True] * 4)
        self.write("programs/level1/Math/Sqrt.py", PROGRAM)
        self.bench("--provider", f"dir:{self.directory}/programs", code=0, language="dsl", passed=[True])
        for provider, language in (("reference", "dsl"), ("dsl", "ascendc"), ("dsl", "graph")):
            done = akgen("bench", "--provider", provider, "--language", language, "--task", "level1/Math/Sqrt")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--language {language}: provider {provider} gives answers in ", done.stderr)

    def test_resume_and_compare_keep_languages_apart(self):
        db = self.directory / "runs.db"
        run = ("bench", "--provider", f"exec:echo '{FORMULA}'", "--task", "level1/Math/Sqrt", *ONE, "--db", db)
        akgen(*run, "--language", "graph")
        akgen(*run)
        with sqlite3.connect(db) as base:
            base.execute("UPDATE runs SET seconds = NULL WHERE id = 1")
            base.execute("UPDATE runs SET settings = (SELECT settings FROM runs WHERE id = 1)")
        done = akgen(*run, "--resume")
        self.assertEqual(done.returncode, 3)
        self.assertIn("language", done.stderr)
        done = akgen("report", "--db", db, "--compare", "1")
        self.assertIn("the runs do not compare: language graph, language ascendc\n", done.stdout, done.stderr)

    def test_exports_are_of_one_language(self):
        db = self.directory / "runs.db"
        run = ("bench", "--provider", f"exec:echo '{FORMULA}'", "--task", "level1/Math/Sqrt", *ONE, "--db", db)
        akgen(*run)
        done = akgen("export", "sft", "--db", db)  # a formula that was asked for in Ascend C is no right answer
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no answer is right", done.stderr)
        akgen(*run, "--language", "graph")
        done = akgen("export", "sft", "--db", db)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("holds answers in several languages (ascendc, graph), and an export is of one: --language names it", done.stderr)
        done = akgen("export", "sft", "--db", db, "--language", "graph")
        self.assertEqual([json.loads(line)["completion"][0]["content"].strip() for line in done.stdout.splitlines()], [FORMULA])
        self.assertIn("left out 1: language ascendc\n", done.stderr)
        self.assertEqual(akgen("export", "sft", "--db", db, "--language", "any").returncode, 2)

    def test_runs_of_an_earlier_akgen_have_no_language(self):
        db = self.directory / "runs.db"
        akgen("bench", "--provider", f"exec:echo '{FORMULA}'", "--task", "level1/Math/Sqrt", *ONE, "--db", db, "--language", "graph")
        with sqlite3.connect(db) as base:
            base.execute("UPDATE verdicts SET json = json_remove(json, '$.language')")
            for column in ("language", "salt"):
                base.execute(f"ALTER TABLE runs DROP COLUMN {column}")
            for table in ("words", "samples", "done", "dropped", "asked"): # which runs shared no file with
                base.execute(f"DROP TABLE IF EXISTS {table}")
            base.execute("ALTER TABLE answers RENAME TO samples")
            base.execute("PRAGMA user_version = 4")
            base.execute("PRAGMA application_id = 0")
        done = akgen("export", "sft", "--db", db)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("left out 1: language unknown, as an earlier akgen wrote no language (--language unknown takes them)\n", done.stderr)
        self.assertEqual(len(akgen("export", "sft", "--db", db, "--language", "unknown").stdout.splitlines()), 1)
        self.assertEqual(akgen("export", "sft", "--db", db, "--language", "graph").stdout, "")
        done = akgen("report", "--db", db)
        self.assertIn(", language unknown, provider ", done.stdout)
        self.assertIn(",unknown\n", akgen("report", "--db", db, "--format", "csv").stdout.replace('"', ""))


if __name__ == "__main__":
    unittest.main()
