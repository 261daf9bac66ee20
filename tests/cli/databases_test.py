#!/usr/bin/env python3
"""Databases of an earlier akgen are opened and migrated. databases/NAME.sql is one as that akgen wrote it, databases/NAME.txt what it printed
of it; runs and samples to train on had files of their own then, and share one now."""
import contextlib
import os
import pathlib
import resource
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, akgen

DATABASES = pathlib.Path(__file__).resolve().parent / "databases"
NAMES = ("runs", "samples")
RENAMED = {("runs", "samples"): "answers"}
MARKS = {"runs": (0, 5), "samples": (1095459700, 1)}
NOW = (1095459700, 7)
ADDED = {"runs": ", ''"} # what migrating adds to a row: columns
READERS = {"runs": "report --db runs.db", "samples": "cot stats --db samples.db"}


def pragma(database, name):
    return database.execute(f"PRAGMA {name}").fetchone()[0]


def marks(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        return pragma(database, "application_id"), pragma(database, "user_version")


def rows(path):
    """{table: its rows}, of all tables that somebody else's SQL can read."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'words_*'")]
        return {table: sorted(map(repr, database.execute(f"SELECT * FROM {table}"))) for table in tables}


class Databases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-databases-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, name):
        path = self.folder / f"{name}.db"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript("PRAGMA synchronous = OFF;" + (DATABASES / f"{name}.sql").read_text())
        self.assertEqual(marks(path), MARKS[name])
        return path

    def prints(self, command, **more):
        return subprocess.run([AKGEN, *shlex.split(command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.folder,
                              env=dict(os.environ, NO_COLOR="1"), **more).stdout

    def expected(self, name):
        """(command, what it printed) of the file."""
        for part in (DATABASES / f"{name}.txt").read_text().split("$ akgen ")[1:]:
            yield part.split("\n", 1)

    def test_what_is_printed_is_what_was_printed(self):
        for name in NAMES:
            for command, text in self.expected(name):
                with self.subTest(command=command):
                    self.make(name) # each command has a file to migrate
                    self.assertEqual(self.prints(command), text)
                    (self.folder / f"{name}.db").unlink()

    def test_every_row_is_there(self):
        for name in NAMES:
            with self.subTest(name=name):
                path = self.make(name)
                before = rows(path)
                self.prints(READERS[name])
                after = rows(path)
                self.assertEqual(marks(path), NOW)
                for table, lines in before.items():
                    expected = [f"{line[:-1]}{ADDED.get(table, '')})" for line in lines]
                    self.assertEqual(after[RENAMED.get((name, table), table)], expected, table)
                    self.assertTrue(lines or table in ("words",), table)
                with contextlib.closing(sqlite3.connect(path)) as database:
                    self.assertEqual(pragma(database, "integrity_check"), "ok")

    def test_the_version_before(self):
        """A file of version 6 has both kinds of tables."""
        path = self.make("runs")
        self.prints(READERS["runs"])
        printed = dict(self.expected("runs"))
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript("ALTER TABLE runs DROP COLUMN salt; PRAGMA user_version = 6")
        for command, text in printed.items():
            self.assertEqual(self.prints(command), text)
        self.assertEqual(marks(path), NOW)
        with contextlib.closing(sqlite3.connect(path)) as database:
            self.assertEqual(database.execute("SELECT DISTINCT salt FROM runs").fetchall(), [("",)])

    def test_one_file_has_both(self):
        question = self.folder / "rows.jsonl"
        question.write_text('{"question": "Which unit computes a matrix product?", "answer": "The cube unit of an AIC.", "licence": "MIT"}\n')
        runs, samples = self.make("runs"), self.make("samples")
        process = akgen("cot", "corpus", question, "--db", runs)
        self.assertIn("1 samples added", process.stdout, process.stderr)
        for command, text in self.expected("runs"):
            self.assertEqual(self.prints(command), text)
        self.assertIn("cube unit", akgen("cot", "search", "AIC", "--json", "--db", runs).stdout)
        process = akgen("bench", "--provider", f"dir:{self.folder}", "--task", "level1/Math/Sqrt", "--db", samples)
        self.assertEqual(process.returncode, 1, process.stderr)
        for command, text in self.expected("samples"):
            self.assertEqual(self.prints(command), text)
        self.assertIn("level1/Math/Sqrt,1,Math,0,compile_error,parse", akgen("report", "--format", "csv", "--db", samples).stdout)

    def test_a_killed_migration_leaves_the_file_as_it_was(self):
        """The kernel kills akgen at the first byte behind the file's end, when pages before it are written: the journal has what they were."""
        for name in NAMES:
            with self.subTest(name=name):
                path = self.make(name)
                before, size = rows(path), path.stat().st_size
                limit = (size, size)
                process = subprocess.run([AKGEN, *shlex.split(READERS[name])], cwd=self.folder, capture_output=True,
                                         preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
                self.assertEqual(process.returncode, -signal.SIGXFSZ, process.stderr)
                self.assertTrue(path.with_name(f"{name}.db-journal").stat().st_size)
                killed = self.folder / "killed"
                killed.mkdir(exist_ok=True)
                for part in (path, path.with_name(f"{name}.db-journal")):
                    shutil.copy(part, killed)
                self.assertEqual((marks(path), rows(path)), (MARKS[name], before))
                command, text = next(iter(self.expected(name)))
                self.assertEqual(subprocess.run([AKGEN, *shlex.split(command)], cwd=killed, capture_output=True, text=True).stdout, text)
                self.assertEqual(marks(killed / path.name), NOW)

    def test_several_migrate_at_once(self):
        command, text = next(iter(self.expected("runs")))
        self.make("runs")
        programs = [subprocess.Popen([AKGEN, *shlex.split(command)], cwd=self.folder, stdout=subprocess.PIPE, text=True) for _ in range(6)]
        self.assertEqual({program.communicate()[0] for program in programs}, {text})

    def test_a_file_that_cannot_be_written_is_read(self):
        for name, mode, folder in ((name, *modes) for name in NAMES for modes in ((0o444, 0o755), (0o666, 0o555))):
            path = self.make(name)
            before = path.read_bytes()
            path.chmod(mode)
            self.folder.chmod(folder)
            for command, text in self.expected(name):
                with self.subTest(command=command, mode=mode):
                    self.assertEqual(self.prints(command, **({"user": 65534} if os.geteuid() == 0 else {})), text)
            self.assertEqual(path.read_bytes(), before)
            self.folder.chmod(0o755)
            path.unlink()

    def test_other_files_are_refused(self):
        writers = ["bench --task level1/Math/Sqrt --provider dir:. --db X", "cot corpus X --db X"]
        commands = ["report --db X", "export sft --db X", "cot show 1 --db X", "cot failures --verdicts X", *writers]
        for made, reason in (("CREATE TABLE runs (id INTEGER)", "X is a database of another kind"),
                             ("CREATE TABLE t (id INTEGER); PRAGMA user_version = 5", "X is a database of another kind"),
                             ("CREATE TABLE runs (id INTEGER); PRAGMA user_version = 5; PRAGMA application_id = 7", "X is a database of another kind"),
                             ("PRAGMA application_id = 1095459700; PRAGMA user_version = 8", "X was written by a newer akgen (schema 8, this one reads 7)"),
                             (None, "X: file is not a database")):
            path = self.folder / "X"
            path.unlink(missing_ok=True)
            if made:
                with contextlib.closing(sqlite3.connect(path)) as database:
                    database.executescript(made)
            else:
                path.write_text("no database at all\n" * 100)
            before = path.read_bytes()
            for command in commands:
                with self.subTest(made=made, command=command):
                    self.assertIn(reason, self.prints(command))
                    self.assertEqual(path.read_bytes(), before)
        path.write_bytes(b"")
        for command in commands[:4]:
            self.assertIn("X is a database of another kind", self.prints(command))
            self.assertEqual(path.read_bytes(), b"")


if __name__ == "__main__":
    unittest.main()
