#!/usr/bin/env python3
# test: cost=78 labels=long
"""Failures on purpose: the Nth allocation, read or write of akgen fails or its Nth process is killed (AKGEN_INJECT,
src/base/inject.h), or the disk is full. The outcome is the right verdict or a clean failure of our own (exit code 3, a message, infra_error), and what was left in the cache or
in the database does not mislead the next run."""
import json
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME, TASKS, without_sanitizer

TASK = "level1/Math/Sqrt"
REFERENCE = TASKS / TASK / "reference"
OWN_FAILURE = 3


def numbers(most):
    """1, 2, 3, 4, 5, 7, 9, 12, ... : every early one, fewer of the later ones."""
    number = 1
    while number < most:
        yield number
        number += 1 + number // 4


class Failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.folder.name)
        cls.cache = cls.home / "akgen"
        done = cls.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json")
        assert done.returncode == 0, done.stderr
        cls.right = cls.stripped(done.stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_akgen(cls, *arguments, inject=None, file_bytes=None):
        environment = dict(os.environ, NO_COLOR="1", XDG_CACHE_HOME=str(cls.home))
        if inject:
            environment["AKGEN_INJECT"] = inject

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a full disk does not send it either
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        return subprocess.run([AKGEN, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=300,
                              preexec_fn=limit if file_bytes is not None else None)

    @staticmethod
    def stripped(text):
        """A verdict without what differs between two runs of one program."""
        verdict = json.loads(text)
        verdict.pop("seconds")
        verdict.pop("compile")
        for row in verdict["cases"]:
            if row["run"]:
                row["run"].pop("seconds")
            row["printed"] = without_sanitizer(row["printed"])
        return verdict

    def check(self, done, inject):
        """True if this was the right verdict; else it must be a clean failure of our own."""
        with self.subTest(inject=inject):
            self.assertGreaterEqual(done.returncode, 0, done.stderr)  # below: ended by a signal
            if done.returncode == 0:
                self.assertEqual(self.stripped(done.stdout), self.right)
            elif done.stdout:
                self.assertEqual(done.returncode, OWN_FAILURE)
                self.assertEqual(json.loads(done.stdout)["verdict"], "infra_error")
            else:
                self.assertIn(done.returncode, (2, OWN_FAILURE))  # 2: the task could not be read
                self.assertRegex(done.stderr, r"^akgen: .+")
        return done.returncode == 0

    def test_memory(self):
        failed = 0
        for number in numbers(1 << 14):
            if self.check(self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json", inject=f"memory:{number}"), number):
                break
            failed += 1
        self.assertGreater(failed, 15)

    def test_reads(self):
        """The first ones are the task's, then come all headers, whose digest names what is cached, then the project's."""
        headers = sum(path.is_file() for path in (HOME / "include").rglob("*"))
        passed = [self.check(self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json", inject=f"read:{number}"), number)
                  for number in [*range(1, 8), *range(headers, headers + 30)]]
        self.assertTrue(passed[-1])
        self.assertGreater(len(passed) - sum(passed), 12)

    def test_writes_and_what_the_cache_holds_then(self):
        """Each write of a build into an empty cache; the next run finds what the broken one left. Some are made good again: a job
        that the compile server does not get is done without it."""
        rights, enough = [], [True] * 6
        while len(rights) < 60 and rights[-6:] != enough:
            number = len(rights) + 1
            shutil.rmtree(self.cache / "objects")
            rights.append(self.check(self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json", inject=f"write:{number}"),
                                     number))
            again = self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(self.stripped(again.stdout), self.right)
        self.assertGreater(rights.count(False), 3)  # what is compiled is not written
        self.assertEqual(rights[-6:], enough)

    def test_a_process_that_is_killed(self):
        """Each process of an evaluation with nothing in the cache, once, twice (its second attempt, too) and from there on: the
        verdict is the right one or a failure of ours, and the next run finds nothing of it."""
        for options in ((), ("--profile=strict",), ("--seeds=2",)):
            right, outcomes = None, []
            for first in range(0, 40):
                kinds = []
                for last in (first, first + 1, 999):
                    shutil.rmtree(self.cache / "objects", ignore_errors=True)
                    done = self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json", *options, inject=f"kill:{first}-{last}")
                    right = right or self.stripped(done.stdout)  # the 0th is none
                    kind = json.loads(done.stdout)["verdict"]
                    kinds.append(kind)
                    with self.subTest(options=options, first=first, last=last):
                        self.assertIn(kind, ("pass", "infra_error"), done.stdout)
                        if kind == "pass":
                            self.assertEqual(self.stripped(done.stdout), right)
                        elif last == 999:
                            again = self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json", *options)
                            self.assertEqual(self.stripped(again.stdout), right)
                        if last == first:
                            self.assertEqual(kind, "pass")
                outcomes.append(kinds)
                if first and kinds[2] == "pass":
                    break
            self.assertGreater(sum("infra_error" in kinds for kinds in outcomes), 5)

    def test_a_bench_goes_on(self):
        database = self.home / "killed.db"
        self.bench(database)
        right = dict(self.rows(database))
        database.unlink()
        self.bench(database, inject="kill:3-6")
        found = dict(self.rows(database))
        self.assertEqual(found.keys(), right.keys())
        different = [task for task in right if found[task] != right[task]]
        self.assertTrue(all(found[task] == "infra_error" for task in different), found)
        self.assertGreater(len(different), 0)

    def test_a_cached_object_that_was_cut_off(self):
        for path in self.cache.glob("objects/*/*.so"):
            os.truncate(path, path.stat().st_size // 2)
        self.assertTrue(self.check(self.run_akgen("eval", TASK, REFERENCE, "--case=0", "--json"), "truncated"))

    def bench(self, database, **keywords):
        return self.run_akgen("bench", "--task=level1/Math/S*", "--case=0", "--jobs=1", "--db", database, **keywords)

    @staticmethod
    def rows(database):
        """What the database says, None if it has no run yet; it must be sound."""
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            tables = {name for name, in connection.execute("SELECT name FROM sqlite_master")}
            if "runs" not in tables or not connection.execute("SELECT count(*) FROM runs").fetchone()[0]:
                return None
            for text, in connection.execute("SELECT json FROM verdicts"):
                json.loads(text)
            return connection.execute("SELECT task, verdict FROM verdicts ORDER BY task").fetchall()

    def test_database(self):
        """The program ends in the middle of a run: the rows that are there are whole, and --resume makes it complete."""
        database = self.home / "runs.db"
        complete = self.bench(database).returncode
        rows = self.rows(database)
        self.assertGreater(len(rows), 2)
        low, high = 1, 1 << 17  # fails at low, not at high
        while high - low > 130:
            number = (low + high) // 2
            ended = self.bench(self.home / "total.db", inject=f"memory:{number}").returncode == OWN_FAILURE
            low, high = (number, high) if ended else (low, number)
        parts = set()
        for share in (0.5, 0.95, 0.97, 0.98, 0.985, 0.99, 0.995):  # the tasks are read first, which takes most of them
            database.unlink(missing_ok=True)
            done = self.bench(database, inject=f"memory:{int(low * share)}")
            self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (OWN_FAILURE, "akgen: out of memory"))
            part = self.rows(database)
            if part is None:
                continue
            self.assertLessEqual(set(part), set(rows))
            parts.add(len(part))
            resumed = self.run_akgen("bench", "--task=level1/Math/S*", "--case=0", "--db", database, "--resume")
            self.assertEqual(resumed.returncode, complete, resumed.stderr)
            self.assertEqual(self.rows(database), rows)
        self.assertGreater(len(parts), 1)

    def test_database_on_a_full_disk(self):
        self.bench(self.home / "cache_is_warm.db")
        for size in (0, 4096, 16384, 32768):
            database = self.home / f"full{size}.db"
            done = self.bench(database, file_bytes=size)
            with self.subTest(size=size):
                self.assertEqual(done.returncode, OWN_FAILURE, done.stdout)
                self.assertIn("akgen: ", done.stderr)
                self.rows(database)


if __name__ == "__main__":
    unittest.main()
