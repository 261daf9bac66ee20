#!/usr/bin/python3
# test: builds=release cost=20
"""--baseline: speedups over a kernel in place of eager, and kernels that are no baseline."""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import tempfile
import unittest

import jsonschema

from akgen_program import HOME, TASKS, akgen, copy_reference, edit, verdict

SQRT = "level1/Math/Sqrt"
ADD = "level1/Math/AddCustom"
REFERENCE = TASKS / SQRT / "reference"
SCHEMA = json.loads((HOME / "docs/verdict.schema.json").read_text())
WORK = "Sqrt(wide, wide, count);"  # of halves, as case 1 has them


def times_of(result):
    return {row["case"]: row["timing"]["us"] for row in result["cases"]}


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="akgen-baseline-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def slow(self, name="slow"):
        """Right, and slower: one buffer where the reference has two."""
        project = self.scratch / name
        shutil.copytree(REFERENCE, project)
        for queue in ("inQueue", "outQueue"):
            edit(project / "op_kernel/sqrt.cpp", f"InitBuffer({queue}, 2", f"InitBuffer({queue}, 1")
        return project

    def broken(self, old, new):
        project = copy_reference(SQRT, self.scratch)
        edit(project / "op_kernel/sqrt.cpp", old, new)
        return project


class Baseline(Scratch):
    """akgen eval: a kernel for one task."""

    def against(self, baseline, *options):
        result = verdict(SQRT, REFERENCE, f"--baseline=dir:{baseline}", *options)
        self.assertEqual(result.pop("exit_code"), 0)
        jsonschema.validate(result, SCHEMA)
        self.assertEqual(result["baseline"], f"dir:{baseline}")
        return result

    def test_of_one_task_the_path_is_the_kernel(self):
        slow = self.slow()
        alone = verdict(SQRT, slow)
        result = self.against(slow)
        own, other = times_of(result), times_of(alone)
        self.assertEqual(len(own), 5)
        self.assertEqual({row["case"]: row["baseline_us"] for row in result["cases"]}, other)
        mean = sum(other[case] / own[case] for case in own) / 5
        self.assertAlmostEqual(result["speedup"], mean, delta=1e-4)
        self.assertGreater(result["speedup"], 1.2)
        self.assertEqual(result["baseline_kernel"], {"candidate": alone["candidate"], "verdict": "pass", "lack": None})
        eager = verdict(SQRT, REFERENCE)
        self.assertEqual((eager["baseline"], eager["speedup"]), ("eager", result["eager_speedup"]))
        self.assertNotIn("baseline_kernel", eager)
        self.assertEqual(verdict(SQRT, REFERENCE, "--baseline=eager")["speedup"], eager["speedup"])

    def test_a_kernel_against_itself(self):
        self.assertEqual(self.against(REFERENCE, "--profile=strict")["speedup"], 1)

    def test_programs_and_answers(self):
        """An answer in a file; one in a tree."""
        program = TASKS / SQRT / "program.py"
        result = self.against(program, "--case=1")
        self.assertEqual(result["baseline_kernel"]["verdict"], "pass")
        times = times_of(verdict(SQRT, program, "--case=1"))
        self.assertEqual(result["cases"][0]["baseline_us"], times[1])
        (self.scratch / "level1/Math").mkdir(parents=True)
        shutil.copy(program, self.scratch / "level1/Math/Sqrt.py")
        self.assertEqual(self.against(self.scratch, "--case=1")["speedup"], result["speedup"])

    def test_as_text(self):
        slow = self.slow()
        done = akgen("eval", SQRT, REFERENCE, f"--baseline=dir:{slow}", "--case=1", "--timing").stdout
        us, times = re.search(r"^  modelled, case 1: the baseline's kernel ([\d.]+) us; ([\d.]+) times as fast$", done, re.M).groups()
        own = re.search(r"^  modelled, case 1: ([\d.]+) us, the launch [\d.]+ of it; bound by HBM: [\d.]+ us, \d+ %$", done, re.M)[1]
        self.assertAlmostEqual(float(us) / float(own), float(times), delta=0.01)
        self.assertIn(f"  modelled, mean of the cases: {times} times as fast as the kernel of dir:{slow}\n", done)
        self.assertRegex(done, r"\n  and [\d.]+ times as fast as eager\n")
        done = akgen("eval", SQRT, REFERENCE, "--case=1", "--timing").stdout
        self.assertRegex(done, r"\n  modelled, case 1: eager [\d.]+ us, [\d.]+ with half of each launch, [\d.]+ with twice; ")

    def check_none(self, baseline, kind, lack, *options):
        """It is told, and it is no win."""
        result = self.against(baseline, "--case=1", *options)
        self.assertEqual((result["verdict"], result["baseline_kernel"]["verdict"]), ("pass", kind))
        self.assertRegex(result["baseline_kernel"]["lack"], rf"^{kind}: .*{lack}")
        self.assertNotIn("speedup", result)
        self.assertNotIn("baseline_us", result["cases"][0])
        self.assertGreater(result["eager_speedup"], 0)
        self.assertGreater(result["cases"][0]["timing"]["bound_us"], 0)

    def test_a_wrong_kernel(self):
        wrong = self.broken(WORK, "Abs(wide, wide, count);")
        self.check_none(wrong, "wrong", "elements are wrong")
        done = akgen("eval", SQRT, REFERENCE, f"--baseline=dir:{wrong}", "--case=1")
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"\n  no speedup over dir:{wrong}: its kernel is no baseline: wrong: case 1: ", done.stdout)
        self.assertNotIn("times as fast as the kernel", done.stdout)

    def test_a_kernel_that_hangs(self):
        self.check_none(self.broken(WORK, f"for (;;) {WORK}"), "timeout", "not done after 1 s", "--timeout=1")

    def test_a_kernel_that_does_not_compile(self):
        self.check_none(self.broken("op.Process();", "op.Proces();"), "compile_error", "Proces")

    def test_a_kernel_that_crashes(self):
        self.check_none(self.broken(WORK, f"{WORK} *(volatile int *)8 = 1;"), "fault", "case 1")

    def test_a_host_part_that_cheats(self):
        project = copy_reference(SQRT, self.scratch)
        host = project / "op_host/sqrt.cpp"
        host.write_text(f'#include <stdio.h>\n{host.read_text()}\nstatic FILE *const answers = fopen("/proc/self/environ", "r");\n')
        self.check_none(project, "rejected", "system call open")

    def test_a_kernel_for_another_task(self):
        self.check_none(TASKS / ADD / "reference", "compile_error", "no kernel source sqrt.cpp")

    def test_links(self):
        """The path that is named may be a link; what lies below a tree may not lead out of it."""
        link = self.scratch / "link"
        link.symlink_to(self.slow())
        self.assertGreater(self.against(link, "--case=1")["speedup"], 1.2)
        tree = self.scratch / "tree"
        (tree / "level1/Math").mkdir(parents=True)
        (tree / "level1/Math/Sqrt").symlink_to(self.scratch / "slow")
        self.check_none(tree, "compile_error", "link")

    def test_wrong_use(self):
        (self.scratch / "empty").mkdir()
        (self.scratch / "file").write_text("x")
        os.mkfifo(self.scratch / "pipe.txt")
        for name, message in (
                ("fast", "baseline 'fast' is neither 'eager' nor 'dir:PATH'"),
                ("dir:", "baseline: : No such file or directory"),
                (f"dir:{self.scratch}/none", "none: No such file or directory"),
                (f"dir:{self.scratch}/file", "file: neither a folder nor an answer in a .txt, .md or .py file"),
                (f"dir:{self.scratch}/pipe.txt", "pipe.txt: neither a folder nor an answer"),
                (f"dir:{self.scratch}/empty", f"holds op_kernel/, and has none for {SQRT}")):
            done = akgen("eval", SQRT, REFERENCE, f"--baseline={name}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertIn(message, done.stderr)
        for option in ("--no-timing", "--schedule=random:3"):
            for command in (("eval", SQRT, REFERENCE), ("bench", "--task=*/Sqrt")):
                done = akgen(*command, f"--baseline=dir:{REFERENCE}", option)
                self.assertEqual(done.returncode, 2)
                self.assertIn("--baseline: time is modelled in program order only", done.stderr)


class Runs(Scratch):
    """akgen bench: a kernel for each task, or for some."""

    def tree(self):
        tree = self.scratch / "kernels"
        (tree / "level1/Math").mkdir(parents=True)
        self.slow("kernels/level1/Math/Sqrt")
        shutil.copytree(TASKS / ADD / "reference", tree / ADD)
        edit(tree / ADD / "op_kernel/add_custom.cpp", "Add(z, x, y, count);", "Sub(z, x, y, count);")
        return tree

    def bench(self, *options, task="level1/Math/[ASM][dqu][drl][Cts]*"):
        return akgen("bench", f"--task={task}", "--case=0", *options)

    def test_a_run(self):
        tree, db, page = self.tree(), self.scratch / "runs.db", self.scratch / "run.html"
        done = self.bench(f"--baseline=dir:{tree}", f"--db={db}", f"--report={page}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = {task: json.loads(text) for task, text in sqlite3.connect(db).execute("SELECT task, json FROM verdicts")}
        self.assertEqual(sorted(rows), [ADD, "level1/Math/Muls", SQRT])
        for row in rows.values():
            jsonschema.validate(row, SCHEMA)
        speedup = rows[SQRT]["speedup"]
        self.assertEqual([("speedup" in rows[task], rows[task]["baseline_kernel"]["verdict"]) for task in sorted(rows)],
                         [(False, "wrong"), (False, None), (True, "pass")])
        self.assertEqual(sqlite3.connect(db).execute("SELECT baseline FROM runs").fetchall(), [(f"dir:{tree}",)])
        one = verdict(SQRT, REFERENCE, "--case=0", f"--baseline=dir:{tree}")
        self.assertEqual((speedup, one["baseline_kernel"]), (one["speedup"], rows[SQRT]["baseline_kernel"]))
        # Of three tasks one is as fast as the baseline; the others have none, and are not fast.
        self.assertRegex(done.stdout, rf"(?m)^all +3 +3 +100\.0% +3 +100\.0% +3/3 +33\.3% +33\.3% +33\.3% +{speedup:.2f}$")
        self.assertIn(f"\nspeed over the kernels of dir:{tree}, both modelled\n", done.stdout)
        self.assertIn("\nfor 1 task, which counts as not fast, the baseline has no kernel: level1/Math/Muls\n", done.stdout)
        self.assertRegex(done.stdout, rf"\nfor 1 task, .*does not pass or has no time: {ADD} \(wrong: case 0: ")
        self.assertIn(f", provider reference, baseline dir:{tree})\n", done.stdout)
        self.assertEqual(akgen("report", "--db", db).stdout, done.stdout)
        self.assertIn(f"<p>baseline of speedups: <b>the kernels of dir:{tree}</b>, modelled", page.read_text())
        report = json.loads(akgen("report", "--db", db, "--format=json").stdout)
        self.assertEqual((report["baseline"], report["shares"]["fast"]["1.0"]), (f"dir:{tree}", 1 / 3))
        self.assertEqual([row["launches"] for row in report["shares"]["modelled"]], [None])

    def test_another_baseline_is_another_run(self):
        tree, db = self.tree(), self.scratch / "runs.db"
        self.bench(f"--baseline=dir:{tree}", f"--db={db}", task="*/Sqrt")
        with sqlite3.connect(db) as database:
            database.execute("UPDATE runs SET seconds = NULL")
        done = self.bench(f"--db={db}", "--resume", task="*/Sqrt")
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"run 1 differs in baseline (dir:{tree}, now eager)", done.stderr)
        done = self.bench(f"--baseline=dir:{tree}", f"--db={db}", "--resume", task="*/Sqrt")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.bench(f"--db={db}", task="*/Sqrt")
        done = akgen("report", "--db", db, "--run", 2, "--compare", 1).stdout
        self.assertIn(f"run 1 (reference, baseline dir:{tree}) -> run 2 (reference, baseline eager)\n", done)
        self.assertIn(f"\nthe speedups do not compare: over the kernels of dir:{tree}, over eager of a 910B2\n", done)

    def test_a_kernel_of_several_answers_is_none(self):
        tree = self.scratch / "tree"
        for number in (0, 1):
            shutil.copytree(REFERENCE, tree / SQRT / "answer" / str(number))
        done = self.bench(f"--baseline=dir:{tree}", task="*/Sqrt")
        self.assertIn("the baseline has no kernel: level1/Math/Sqrt\n", done.stdout)
        self.assertNotIn("modelled:", done.stdout)
        shutil.rmtree(tree / SQRT / "answer/1")
        self.assertRegex(self.bench(f"--baseline=dir:{tree}/", task="*/Sqrt").stdout, r"(?m)^all .* 1\.00$")

    def test_wrong_use_of_a_run(self):
        (self.scratch / "empty").mkdir()
        done = self.bench(f"--baseline=dir:{self.scratch}/empty")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has a kernel for none of these 3 tasks; one for each is expected there, as level1/Math/AddCustom", done.stderr)
        done = self.bench(f"--baseline=dir:{REFERENCE}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is one kernel, for one task, and these are 3", done.stderr)
        self.assertRegex(self.bench(f"--baseline=dir:{REFERENCE}", task="*/Sqrt").stdout, r"(?m)^all .* 1\.00$")


if __name__ == "__main__":
    unittest.main()
