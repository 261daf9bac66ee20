#!/usr/bin/env python3
# test: cost=23 labels=long
"""A candidate is read first, and everything that follows sees what was read: every byte of it counts, no link of it is followed, and what
it calls its lines (#line) opens no file."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, HOME, TASKS, akgen, copy_reference, edit, verdict, without_measurements

SQRT = "level1/Math/Sqrt"
RELU = HOME / "tests/cli/responses/relu_fenced.txt"
USING = "using namespace AscendC;\n"
ENTRY = "    op.Process();\n"
TILING = "    uint64_t ubBytes = 0;\n"


class Snapshot(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-test-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.project = copy_reference(SQRT, self.directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"
        self.host = self.project / "op_host" / "sqrt.cpp"
        self.secret = self.directory / "secret"
        self.secret.write_text("int the_secret_of_another(;\n" * 30)

    def evaluate(self, *options, **keywords):
        return verdict(SQRT, self.project, "--case", "2", *options, **keywords)

    def test_a_file_of_any_name_is_in_the_cache_key(self):
        """The kernel is moved into a file whose name says nothing; what changes there changes the verdict."""
        body = self.kernel.with_name("body.ipp")
        self.kernel.rename(body)
        entry = re.search(r'extern "C" .*', body.read_text(), re.DOTALL).group()
        body.write_text(body.read_text().replace(entry, ""))
        self.kernel.write_text(f'#include "body.ipp"\n{entry}')
        right = self.evaluate()
        self.assertEqual(right["verdict"], "pass", right["reason"])
        text = body.read_text()
        self.assertIn("Sqrt(", text)
        body.write_text(text.replace("Sqrt(", "Exp("))
        wrong = self.evaluate()
        self.assertEqual(wrong["verdict"], "wrong", wrong["reason"])
        self.assertNotEqual(wrong["candidate"], right["candidate"])
        # The source pass has read it too.
        body.write_text(text.replace("__aicore__", "[aicore]"))
        self.assertEqual(self.evaluate()["verdict"], "pass")

    def test_lines_that_a_candidate_claims_open_nothing(self):
        line = f'#line 7 "{self.secret}"\n'
        for number, spelling in enumerate(["#line 7", "# 7", "%:line 7", "/* */ # /* */ line 7", "#li\\\nne 7"]):
            with self.subTest(spelling=spelling):
                shutil.copy(TASKS / SQRT / "reference/op_kernel/sqrt.cpp", self.kernel)
                edit(self.kernel, USING, f'{USING}{spelling} "{self.secret}"\nint one = nothing{number};\n')
                where = self.kernel.read_text().splitlines().index(f"int one = nothing{number};") + 1
                result = self.evaluate()
                self.assertEqual(result["verdict"], "compile_error")
                diagnostic = result["compile"]["diagnostics"][0]
                self.assertEqual((diagnostic["file"], diagnostic["line"]), ("op_kernel/sqrt.cpp", where))
        self.assert_silent()
        shutil.copy(TASKS / SQRT / "reference/op_kernel/sqrt.cpp", self.kernel)
        self.host.write_text(self.host.read_text() + f"{line}int two = nothing;\n")
        result = self.evaluate()
        self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "host"))
        diagnostic = result["compile"]["diagnostics"][0]
        self.assertIn("nothing", diagnostic["message"])
        self.assertEqual((diagnostic["file"], diagnostic["line"]), ("", None))
        self.assert_silent()

    def test_a_fault_is_where_the_text_is(self):
        edit(self.kernel, ENTRY, f'#line 7 "{self.secret}"\n    *(volatile __gm__ int *)16 = 1;\n{ENTRY}')
        where = self.kernel.read_text().splitlines().index("    *(volatile __gm__ int *)16 = 1;") + 1
        result = self.evaluate()
        self.assertEqual(result["verdict"], "fault", result["reason"])
        fault = result["cases"][0]["faults"][0]
        self.assertEqual((fault["file"], fault["line"]), ("op_kernel/sqrt.cpp", where))
        self.assert_silent()

    def assert_silent(self):
        """Nothing that akgen prints or draws has a byte of the file that the candidate named."""
        page = self.directory / "run.html"
        tree = self.directory / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.project, tree / SQRT)
        for shown in (akgen("eval", SQRT, self.project, "--case=2"), akgen("eval", SQRT, self.project, "--case=2", "--json"),
                      akgen("bench", "--provider", f"dir:{tree}", "--task", SQRT, "--case=2", "--report", page)):
            self.assertNotIn("the_secret_of_another", shown.stdout + shown.stderr)
        self.assertNotIn("the_secret_of_another", page.read_text())

    def test_no_link_is_followed(self):
        header = self.project / "op_host" / "sqrt_tiling.h"
        outside = self.directory / "outside.h"
        header.rename(outside)
        header.symlink_to(outside)
        result = self.evaluate()
        self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "parse"))
        self.assertRegex(result["reason"], "^op_host/sqrt_tiling.h: a link")
        header.unlink()
        outside.rename(header)
        (self.project / "more").symlink_to("/etc")
        self.assertRegex(self.evaluate()["reason"], "^more: a link")
        (self.project / "more").unlink()
        # The user's own path may have any.
        (self.directory / "way").symlink_to(self.directory)
        (self.directory / "mine").symlink_to("way/project")
        result = verdict(SQRT, self.directory / "mine", "--case=2")
        self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_an_answer_in_a_tree_is_no_link(self):
        answers = self.directory / "tree/level1/Activation/Relu/answer"
        answers.mkdir(parents=True)
        (answers / "0.txt").symlink_to(RELU)
        (answers / "1").symlink_to(self.project)
        shutil.copy(RELU, answers / "2.txt")
        db = self.directory / "runs.db"
        akgen("bench", "--suite=multikernelbench", "--provider", f"dir:{self.directory}/tree", "--task", "*/Relu", "--case=2", "--db", db)
        import sqlite3
        rows = sqlite3.connect(db).execute("SELECT json FROM verdicts ORDER BY sample").fetchall()
        results = [json.loads(text) for text, in rows]
        self.assertEqual([result["verdict"] for result in results], ["compile_error", "compile_error", "pass"])
        for result in results[:2]:
            self.assertRegex(result["reason"], "reached through a link")

    def test_objects_do_not_know_where_the_copy_lies(self):
        self.host.write_text("#include <cstdio>\n" + self.host.read_text())
        edit(self.host, TILING, f"{TILING}    puts(__FILE__);\n")
        result = self.evaluate()
        self.assertEqual(result["cases"][0]["printed"], "op_host/sqrt.cpp\n")
        edit(self.kernel, USING, f"{USING}auto call = [](auto x) {{ return x.nothing; }};\nint value = call(call);\n")
        texts = [akgen("eval", SQRT, self.project, "--case=2", "--json", "--no-cache").stdout for _ in range(2)]
        self.assertEqual(*map(without_measurements, texts))
        self.assertIn("lambda at op_kernel/sqrt.cpp:", texts[0])

    def test_nothing_stays_behind(self):
        """After an evaluation; and after one that was killed while it compiled, when the next one has begun."""
        home = self.directory / "cache"
        environment = {"XDG_CACHE_HOME": str(home)}
        work = home / "akgen/work"
        process = subprocess.Popen([AKGEN, "eval", SQRT, self.project, "--case=2", "--timeout=60"], stdout=subprocess.DEVNULL,
                                   env=dict(os.environ, **environment))
        until = time.monotonic() + 60
        while time.monotonic() < until and not (work.exists() and any(work.iterdir())):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(any(work.iterdir()))
        result = verdict(SQRT, TASKS / SQRT / "reference", "--case=2", env=environment)
        self.assertEqual(result["verdict"], "pass", result["reason"])
        self.assertEqual(list(work.iterdir()), [])
        verdict("multikernelbench/level1/Activation/Relu", RELU, "--case=2", env=dict(environment, TMPDIR=str(self.directory / "none")))
        self.assertEqual(list(work.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
