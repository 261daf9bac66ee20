#!/usr/bin/env python3
"""Databases of runs that somebody else hands over: whatever a column of them holds, no page runs it, no terminal obeys it and no
spreadsheet computes it."""
import csv
import html.parser
import io
import json
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

from akgen_program import TASKS, akgen, edit

POISON = "=<script>alert(1)</script>'\" onload=x & \x1b[31m\x9b31m\x07\x7f\r"
CONTROL = {chr(c) for c in [*range(32), *range(127, 160)]} - {"\n", "\t"}
FORMATS = ["table", "csv", "json", "html"]


class Page(html.parser.HTMLParser):
    """The tags and the attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)


def poisoned(value):
    """A JSON value with poison in each of its texts, and in the names that are data."""
    if isinstance(value, dict):
        return {POISON + key if key in ("S", "V", "MTE2", "MTE3") else key: poisoned(child) for key, child in value.items()}
    if isinstance(value, list):
        return [poisoned(child) for child in value]
    return POISON + value if isinstance(value, str) else value


class ForeignDatabase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-foreign-"))
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.clean = cls.directory / "clean.db"
        tree = cls.directory / "tree/level1/Math"
        for number in range(4):
            shutil.copytree(TASKS / "level1/Math/Sqrt/reference", tree / f"Sqrt/answer/{number}")
        kernel = "op_kernel/sqrt.cpp"
        edit(tree / "Sqrt/answer/1" / kernel, "Sqrt(wide, wide, count);", "Abs(wide, wide, count);")
        edit(tree / "Sqrt/answer/2" / kernel, "op.Process();", "op.Proces();")
        edit(tree / "Sqrt/answer/3" / kernel, "inQueue.FreeTensor(x);", "inQueue.FreeTensor(x); inQueue.FreeTensor(x);")
        shutil.copytree(TASKS / "level1/Math/AddCustom/reference", tree / "AddCustom/answer/0")
        for _ in range(2):
            akgen("bench", "--provider", f"dir:{cls.directory}/tree", "--task", "level1/Math/[AS][dq][dr][Ct]*", "--case", "0",
                  "--db", cls.clean)
        with sqlite3.connect(cls.clean) as db:
            db.execute("UPDATE runs SET settings = ?, planned = 9", [json.dumps({"model": "m", "sampling": {"top_p": "x"}})])
            db.execute("INSERT INTO prompts VALUES ('p', '[]', 1)")
            db.execute("INSERT INTO answers SELECT run, task, sample, 0, 0, 'p', 'q', 'r', 'a', 't', 'stop', 'f', 1, 1, 0, 1, 1 FROM verdicts")
        kinds = {kind for kind, in sqlite3.connect(cls.clean).execute("SELECT verdict FROM verdicts")}
        assert {"pass", "wrong", "compile_error", "fault"} <= kinds, kinds

    def make(self, name, spare=()):
        """The database with poison in all text columns, in the texts of JSON alone where a column holds JSON; not in those of `spare`."""
        path = self.directory / name
        shutil.copy(self.clean, path)
        with sqlite3.connect(path) as db:
            db.create_function("poisoned", 1, lambda text: json.dumps(poisoned(json.loads(text))))
            tables = [table for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            for table in tables:
                for _, column, kind, *_ in db.execute(f"PRAGMA table_info({table})").fetchall():
                    if kind == "TEXT" and (table, column) not in spare:
                        value = f"poisoned({column})" if column in ("json", "settings") else f"? || {column}"
                        db.execute(f"UPDATE {table} SET {column} = {value}", [POISON] * value.count("?"))
        return path

    def report(self, db, *options):
        output = ["--output", self.directory / "page.html"] if "html" in options else []
        process = akgen("report", "--db", db, *output, *options)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stdout + process.stderr

    def check(self, db):
        for run in (1, 2):
            with self.subTest(db=db.name, run=run):
                self.assertEqual(CONTROL & set(self.report(db, "--run", str(run))), set())
                self.assertEqual(CONTROL & set(self.report(db, "--run", str(run), "--format", "json")) - {"\x7f"}, set())
                rows = list(csv.reader(io.StringIO(self.report(db, "--run", str(run), "--format", "csv"))))
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                self.assertEqual([cell for row in rows for cell in row if cell[:1] in "=+-@" and cell], [])
                self.assertEqual((CONTROL | {"\t", "\n"}) & set("".join("".join(row) for row in rows)), set())
                self.report(db, "--run", str(run), "--format", "html")
                text = (self.directory / "page.html").read_text()
                page, plain = Page(text), self.plain_page()
                self.assertEqual(CONTROL & set(text) - {chr(c) for c in range(128, 160)}, set())
                self.assertEqual((page.tags - plain.tags, page.attributes - plain.attributes), (set(), set()))
                self.assertIn("&lt;script&gt;", text)
        self.assertEqual(CONTROL & set(self.report(db, "--run", "2", "--compare", "1")), set())

    def plain_page(self):
        """What a page of such a run has of its own."""
        path = self.directory / "plain.html"
        if not path.exists():
            akgen("report", "--db", self.clean, "--format", "html", "--output", path)
        return Page(path.read_text())

    def test_every_column(self):
        self.check(self.make("all.db"))

    def test_verdicts_that_are_known(self):
        """Other branches of the reports: rows that pass, rows that do not compile."""
        self.check(self.make("known.db", [("verdicts", "verdict"), ("verdicts", "stage"), ("runs", "suite"), ("runs", "baseline")]))

    def test_a_verdict_that_is_unknown_is_no_pass(self):
        path = self.directory / "unknown.db"
        shutil.copy(self.clean, path)
        with sqlite3.connect(path) as db:
            db.execute("UPDATE verdicts SET verdict = 'passed', stage = 'end'")
        groups = json.loads(self.report(path, "--format", "json"))["groups"]
        self.assertEqual((groups[-1]["passed"], groups[-1]["compiled"], groups[-1]["excluded"]), (0, 0, 5))

    def test_views_and_triggers(self):
        for number, (sql, said) in enumerate((("ALTER TABLE verdicts RENAME TO other; CREATE VIEW verdicts AS SELECT * FROM other", "the view 'verdicts'"),
                                              ("CREATE TRIGGER \"a\x1b[31m\" AFTER INSERT ON runs BEGIN DELETE FROM verdicts; END", "the trigger 'a"))):
            path = self.directory / f"schema-{number}.db"
            shutil.copy(self.clean, path)
            with sqlite3.connect(path) as db:
                db.executescript(sql)
            for command in (["report"], ["export", "sft"], ["cot", "stats"], ["bench", "--provider", "reference", "--task", "level1/Math/Sqrt", "--case", "0"]):
                process = akgen(*command, "--db", path)
                self.assertEqual(process.returncode, 3 if command[0] == "bench" else 2, command)
                self.assertIn(f"{path.name} holds {said}", process.stderr)
                self.assertIn(", expected tables alone (docs/store.md)", process.stderr)
                self.assertEqual(CONTROL & set(process.stderr), set())

    def test_bytes_that_are_no_text(self):
        path = self.directory / "bytes.db"
        shutil.copy(self.clean, path)
        with sqlite3.connect(path) as db:
            db.execute("UPDATE runs SET soc = CAST(x'ff9b41' AS TEXT)")
            db.execute("UPDATE verdicts SET reason = CAST(x'ff9b41' AS TEXT)")
        self.assertEqual(json.loads(self.report(path, "--format", "json"))["soc"], "??A")


class Terminal(unittest.TestCase):
    def test_a_name_of_a_file_in_a_candidate(self):
        """#line gives a file any name: that of a diagnostic, and that of a fault."""
        with tempfile.TemporaryDirectory(prefix="akgen-foreign-") as directory:
            candidate = pathlib.Path(directory) / "candidate"
            shutil.copytree(TASKS / "level1/Math/Sqrt/reference", candidate)
            edit(candidate / "op_kernel/sqrt.cpp", "op.Process();", 'op.Process();\n#line 7 "\\033[31mred"\nop.Proces();')
            process = akgen("eval", "Sqrt", candidate, "--case", "0")
            self.assertEqual(process.returncode, 1)
            self.assertEqual(CONTROL & set(process.stdout + process.stderr), set())

    def test_an_error_that_quotes(self):
        process = akgen("eval", "Sqrt\x1b[31m", "/nowhere\x1b[31m")
        self.assertEqual(process.returncode, 2)
        self.assertEqual(CONTROL & set(process.stdout + process.stderr), set())


if __name__ == "__main__":
    unittest.main()
