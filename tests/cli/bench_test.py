#!/usr/bin/env python3
# test: cost=65 labels=long
"""akgen bench: the table, the database, the page, other people's trees, interruption."""
import json
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time
import unittest

from akgen_program import AKGEN, TASKS, akgen, copy_reference, edit

# Unit tests look at all references with the sanitizer.
CHROMIUM = shutil.which("chromium")


class Bench(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-bench-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def test_table_database_and_page_agree(self):
        db, page = self.directory / "runs.db", self.directory / "run.html"
        process = akgen("bench", "--task", "level1/Math/*", "--case", "0", "--db", db, "--report", page)
        count = len(list((TASKS / "level1/Math").glob("*/reference")))
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertRegex(process.stdout, rf"level 1 / Math +{count} +{count} +100\.0% +{count} +100\.0% +{count}/{count}")
        rows = sqlite3.connect(db).execute("SELECT task, verdict, cases_passed, json FROM verdicts").fetchall()
        self.assertEqual(len(rows), count)
        for task, verdict, passed, text in rows:
            self.assertEqual((verdict, passed, json.loads(text)["task"]), ("pass", 1, task))
        text = page.read_text()
        self.assertEqual(text.count("<summary>level1/Math/"), count)
        self.assertEqual(text.count("<summary>source of the kernel"), count)
        for chart in ("Rates by level", "Rates by category", "Right samples by operator", "Samples by verdict"):
            self.assertIn(f"<h3>{chart}</h3>", text)
        self.assertEqual(text.count(">1 of 1</text>"), count)
        self.assertIn(f"Of {count} tasks: Comp@1 100.0 %, Pass@1 100.0 %; modelled, over eager of a 910B2", text)
        self.assertRegex(text, rf"\(geometric mean of {count} tasks\); the best reach \d+\.\d % of what their bound allows, modelled</p>")
        best = [json.loads(row[3])["cases"][0]["timing"]["roofline"] for row in rows]
        self.assertIn(f"\n{100 * sum(best) / count:.1f} % of what their bound allows, modelled, whatever the baseline: mean of the best of {count} tasks; "
                      f"median {100 * statistics.median(best):.1f} %\n", process.stdout)
        self.assertNotIn("<h2>pass@k", text, "one sample per task")
        self.assertNotRegex(text, r"(src|href)\s*=|https?://(?!json-schema)", "the page must need nothing else")

    def test_other_peoples_tree(self):
        tree = self.directory / "answers"
        answer = tree / "level1/Math/Sqrt/answer/0"
        answer.parent.mkdir(parents=True)
        shutil.copytree(TASKS / "level1/Math/Sqrt/reference", answer)
        broken = tree / "level1/Math/AddCustom"
        broken.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(TASKS / "level1/Math/AddCustom/reference", broken)
        edit(broken / "op_kernel/add_custom.cpp", "Add(z, x, y, count);", "Ad(z, x, y, count);")
        process = akgen("bench", "--provider", f"dir:{tree}", "--task", "level1/Math/[AS]*[mt]*", "--case", "0")
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        self.assertRegex(process.stdout, r"compile_error level1/Math/AddCustom \(kernel\): .*Ad")
        self.assertNotRegex(process.stdout, r"\w+ level1/Math/Sqrt ")

    def test_markup_of_a_candidate_stays_text(self):
        project = copy_reference("level1/Math/Sqrt", self.directory)
        tree = self.directory / "tree/level1/Math"
        tree.mkdir(parents=True)
        project.rename(tree / "Sqrt")
        edit(tree / "Sqrt/op_kernel/sqrt.cpp", "    op.Process();\n",
             '    static_assert(sizeof(op) == 0, "<script>alert(1)</script>");\n')
        page = self.directory / "run.html"
        akgen("bench", "--provider", f"dir:{self.directory / 'tree'}", "--task", "*/Sqrt", "--report", page)
        text = page.read_text()
        self.assertIn("&lt;script&gt;alert(1)", text)
        self.assertNotIn("<script>", text)

    def test_killing_a_run_keeps_its_verdicts(self):
        db = self.directory / "runs.db"
        process = subprocess.Popen([AKGEN, "bench", "--task", "level1*", "--case", "0", "--jobs", "1", "--db", str(db)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        count, deadline = 0, time.monotonic() + 60
        while count < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
            try:
                count = sqlite3.connect(db).execute("SELECT count(*) FROM verdicts").fetchone()[0]
            except sqlite3.OperationalError:
                pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertGreaterEqual(count, 3)
        rows = sqlite3.connect(db).execute("SELECT verdict, json FROM verdicts").fetchall()
        self.assertGreaterEqual(len(rows), count)
        for verdict, text in rows:
            self.assertEqual(json.loads(text)["verdict"], verdict)

        total = len(list(TASKS.glob("level1/*/*/reference")))
        resumed = akgen("bench", "--task", "level1*", "--case", "0", "--db", db, "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.stdout + resumed.stderr)
        self.assertRegex(resumed.stdout, rf"all +{total} +{total} ")
        self.assertEqual(sqlite3.connect(db).execute("SELECT count(DISTINCT run), count(*) FROM verdicts").fetchone(),
                         (1, total))
        again = akgen("bench", "--task", "level1*", "--case", "0", "--db", db, "--resume")
        self.assertEqual(again.returncode, 3)
        self.assertIn("no unfinished run", again.stderr)

    def make_samples(self):
        """A tree with four answers for Sqrt (two right, one wrong, one that does not compile) and one for AddCustom."""
        tree = self.directory / "samples/level1/Math"
        for number in (0, 1, 2, 10):
            shutil.copytree(TASKS / "level1/Math/Sqrt/reference", tree / f"Sqrt/answer/{number}")
        wrong = tree / "Sqrt/answer/2/op_kernel/sqrt.cpp"
        edit(wrong, "Sqrt(wide, wide, count);", "Abs(wide, wide, count);")
        edit(tree / "Sqrt/answer/10/op_kernel/sqrt.cpp", "op.Process();", "op.Proces();")
        shutil.copytree(TASKS / "level1/Math/AddCustom/reference", tree / "AddCustom/answer/0")
        return self.directory / "samples"

    def test_several_samples_and_reports(self):
        db = self.directory / "runs.db"
        tree = self.make_samples()
        options = ("--provider", f"dir:{tree}", "--case", "0", "--db", db)
        process = akgen("bench", *options, "--task", "level1/Math/[AS][dq][dr][Ct]*")
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        # Sqrt: 3 of 4 compile, 2 of 4 are right; AddCustom: 1 of 1. Means over the two tasks.
        self.assertRegex(process.stdout, r"all +2 +4 +87\.5% +3 +75\.0% +3/5")
        self.assertRegex(process.stdout, r"compile_error level1/Math/Sqrt #10 \(kernel\): .*Proces")
        self.assertRegex(process.stdout, r"ER pass@1 +75\.0%")
        self.assertRegex(process.stdout, r"first error .*syntax 1")
        self.assertEqual(akgen("report", "--db", db).stdout.splitlines()[0:2], process.stdout.splitlines()[2:4])
        rows = akgen("report", "--db", db, "--format=csv").stdout.splitlines()
        self.assertEqual(len(rows), 6)
        self.assertTrue(rows[1].startswith("level1/Math/AddCustom,1,Math,0,pass,compare,1,1,"), rows[1])
        report = json.loads(akgen("report", "--db", db, "--format=json").stdout)
        self.assertEqual(report["groups"][-1]["execution_rate"], 0.75)
        self.assertEqual(sqlite3.connect(db).execute("SELECT class, file FROM diagnostics").fetchall(),
                         [("syntax", "op_kernel/sqrt.cpp")])
        page = self.directory / "page.html"
        akgen("report", "--db", db, "--format=html", "--output", page)
        self.assertIn("level1/Math/Sqrt #10", page.read_text())

        shutil.rmtree(tree / "level1/Math/Sqrt/answer/10")
        akgen("bench", *options, "--task", "*/Sqrt")
        comparison = akgen("report", "--db", db, "--run", "2", "--compare", "1").stdout
        self.assertRegex(comparison, r"ER pass@1 +75\.0% -> +66\.7%")
        self.assertRegex(comparison, r"gone +level1/Math/AddCustom")
        self.assertEqual(akgen("report", "--db", db, "--run", "9").returncode, 2)
        self.assertEqual(akgen("report", "--db", self.directory / "none.db").returncode, 2)

    def test_answers_that_are_missing(self):
        """Three tasks of four have none, or too few: they count as wrong, whichever way the run is shown."""
        tree, db, page = self.make_samples(), self.directory / "runs.db", self.directory / "page.html"
        shutil.rmtree(tree / "level1/Math/Sqrt/answer/10")
        process = akgen("bench", "--provider", f"dir:{tree}", "--case", "0", "--db", db, "-k", "1,2", "--report", page,
                        "--task", "level1/Math/[ACS][bdqo][dsr][CMtS]*")
        # Sqrt: 2 of 3 right; AddCustom: 1 of 1; AbsMath and CosMath have no answer. ER@2: Sqrt always, AddCustom's second is wrong.
        self.assertRegex(process.stdout, r"pass@k +tasks .*\n(.*\n)+?all +4 +50\.0% +50\.0% +41\.7% +50\.0%\n")
        missing = ("2 of 4 tasks have no answer, 1 more has fewer than 2; a missing one counts as wrong: "
                   "level1/Math/AbsMath (0), level1/Math/AddCustom (1), level1/Math/CosMath (0)")
        self.assertIn(f"missing      {missing}\n", process.stdout)
        self.assertNotIn("no answer\n", process.stdout.replace(missing, ""), "one line is enough")
        self.assertIn(missing, page.read_text())
        shown = akgen("report", "--db", db, "-k", "1,2")
        self.assertIn(f"missing      {missing}\n", shown.stdout)
        report = json.loads(akgen("report", "--db", db, "-k", "1,2", "--format", "json").stdout)
        self.assertEqual(report["missing"], {"tasks": 4, "no_answer": 2, "fewer": [{"k": 1, "tasks": 0}, {"k": 2, "tasks": 1}]})
        self.assertIn({"name": "all", "k": 2, "tasks": 4, "left_out": 0, "compile_rate": 0.5, "execution_rate": 0.5}, report["pass_at_k"])
        # A run that was killed before it came to some of the tasks: those are missing too, and so is a sample of Sqrt.
        with sqlite3.connect(db) as connection:
            connection.execute("DELETE FROM verdicts WHERE task NOT LIKE '%Sqrt' OR sample = 2")
            connection.execute("UPDATE runs SET seconds = NULL")
        shown = akgen("report", "--db", db, "-k", "1,2").stdout
        self.assertRegex(shown, r"(?m)^all +4 +2 +16\.7% +2 +16\.7% ")
        self.assertIn("missing      3 of 4 tasks have no answer; ", shown)
        self.assertRegex(shown, r"of 4 tasks +Comp@2 +25\.0% +Pass@2 +25\.0%")

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_page_in_a_browser(self):
        page = self.directory / "run.html"
        akgen("bench", "--task", "*/Sqrt", "--case", "0", "--report", page)
        shot = self.directory / "page.png"
        for width in (400, 1200):  # a phone and a desk
            browser = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.directory / 'profile'}",
                 f"--window-size={width},900", f"--screenshot={shot}", "--dump-dom", page.as_uri()],
                capture_output=True, text=True, timeout=120)
            self.assertIn("level 1 / Math", browser.stdout, browser.stderr[-2000:])
            self.assertGreater(shot.stat().st_size, 5000)


class Commands(unittest.TestCase):
    def test_help_on_every_level(self):
        self.assertIn("bench", akgen("--help").stdout)
        for command, word in [("eval", "--schedule"), ("bench", "--provider"), ("task", "check"), ("soc", "show"),
                              ("doctor", "Usage")]:
            process = akgen(command, "--help")
            self.assertEqual(process.returncode, 0)
            self.assertIn(word, process.stdout)
        self.assertRegex(akgen("--version").stdout, r"^akgen \d+\.\d+\.\d+$")

    def test_tasks_and_chips(self):
        listed = json.loads(akgen("task", "list", "--json").stdout)
        self.assertEqual(len(listed), len(list(TASKS.parent.glob("*/*/*/*/task.yaml"))))
        self.assertGreaterEqual(len({row["category"] for row in listed}), 12)
        shown = akgen("task", "show", "Sqrt").stdout
        self.assertRegex(shown, r"x +float16/float32/bfloat16")
        self.assertEqual(akgen("task", "check", timeout=600).returncode, 0)
        self.assertIn("Ascend910B2", akgen("soc", "list").stdout)
        chip = akgen("soc", "show", "910B2").stdout
        self.assertRegex(chip, r"48 AIV in all")
        self.assertRegex(chip, r"196608 bytes.*196352", re.S)
        self.assertEqual(akgen("soc", "show", "910Z").returncode, 2)

    def test_doctor(self):
        process = akgen("doctor")
        self.assertEqual(process.returncode, 0, process.stdout)
        self.assertRegex(process.stdout, r"ok +compiler +.*clang version")
        process = akgen("doctor", env={"PATH": "/nowhere", "AKGEN_HOME": "/nowhere"})
        self.assertEqual(process.returncode, 3)
        self.assertIn("BAD", process.stdout)


if __name__ == "__main__":
    unittest.main()
