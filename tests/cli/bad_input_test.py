#!/usr/bin/env python3
# test: builds=release cost=33
"""What akgen says and returns for input that nobody should give it. Nothing here may end akgen itself or another task."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from akgen_program import TASKS, akgen, copy_reference, edit, verdict

SQRT = "level1/Math/Sqrt"
TILING_END = "    return ge::GRAPH_SUCCESS;\n}\n} // namespace optiling"


class BadInput(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-test-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.project = copy_reference(SQRT, self.directory)
        self.kernel = self.project / "op_kernel" / "sqrt.cpp"
        self.host = self.project / "op_host" / "sqrt.cpp"

    def evaluate(self, *options):
        return verdict(SQRT, self.project, "--case", "0", *options)

    def assert_verdict(self, result, kind, stage, reason):
        self.assertEqual((result["verdict"], result["stage"]), (kind, stage), result["reason"])
        self.assertRegex(result["reason"], reason)
        self.assertEqual(result["exit_code"], 1)

    def test_wrong_usage(self):
        for arguments, message in [
            (["eval", "NoSuchTask", self.project], "NoSuchTask"),
            (["eval", SQRT, self.directory / "nowhere"], "nowhere"),
            (["eval", SQRT, self.kernel], "not a directory"),
            (["eval", SQRT, self.project, "--case=99"], "has no case 99"),
            (["eval", SQRT], "TASK and CANDIDATE"),
            (["soc", "show", "Ascend310P"], "Ascend310P"),
            (["eval", SQRT, self.project, "--soc=Ascend310P"], "Ascend310P"),
            (["eval", SQRT, self.project, "--schedule=sometimes"], "sometimes"),
            (["bench", "--provider", "oracle"], "oracle"),
            (["bench", "--task", "no/such/*"], "no/such"),
            (["bench", "--suite", "mhc"], "project of provider reference"),
            (["frobnicate"], "frobnicate"),
            ([], "Usage"),
        ]:
            with self.subTest(arguments=arguments):
                process = akgen(*arguments)
                self.assertEqual(process.returncode, 2, process.stderr)
                self.assertIn(message, process.stderr)
        self.assertIn("Sqrt", akgen("eval", "Sqqrt", self.project).stderr, "a near name is suggested")

    def test_every_command_explains_itself(self):
        for command in ("eval", "bench", "report", "task", "task list", "task show", "task check", "task new", "task references", "soc", "soc list", "soc show",
                        "doctor"):
            with self.subTest(command=command):
                process = akgen(*command.split(), "--help")
                self.assertEqual((process.returncode, process.stderr), (0, ""))
                self.assertTrue(process.stdout.startswith(f"Usage: akgen {command.split()[0]} "), process.stdout)

    def test_no_op_kernel(self):
        shutil.rmtree(self.project / "op_kernel")
        self.assert_verdict(self.evaluate(), "compile_error", "parse", "op_kernel")

    def test_no_op_host(self):
        shutil.rmtree(self.project / "op_host")
        self.assert_verdict(self.evaluate(), "compile_error", "parse", "op_host")

    def test_empty_kernel(self):
        self.kernel.write_text("")
        self.assert_verdict(self.evaluate(), "compile_error", "parse", "empty|entry")

    def test_no_entry_point(self):
        edit(self.kernel, 'extern "C" __global__ __aicore__ void sqrt(', "void not_sqrt(")
        result = self.evaluate()
        self.assertEqual((result["verdict"], result["exit_code"]), ("compile_error", 1))
        self.assertRegex(result["reason"], "sqrt")

    def test_syntax_error_names_its_line(self):
        edit(self.kernel, "    op.Process();\n", "    op.Process()\n")
        result = self.evaluate()
        self.assert_verdict(result, "compile_error", "kernel", "expected ';'")
        diagnostic = result["compile"]["diagnostics"][0]
        line = self.kernel.read_text().splitlines().index("    op.Process()") + 1
        self.assertEqual((diagnostic["file"], diagnostic["line"], diagnostic["class"]),
                         ("op_kernel/sqrt.cpp", line, "syntax"))

    def test_endless_loop_in_the_kernel(self):
        edit(self.kernel, "    op.Process();\n", "    volatile int spin = 1;\n    while (spin) {\n    }\n")
        self.assert_verdict(self.evaluate("--timeout", "2"), "timeout", "run", "2 s|second")

    def test_what_a_hanging_kernel_printed_is_shown(self):
        edit(self.kernel, "    op.Process();\n",
             '    if (GetBlockIdx() == 0)\n        for (int i = 0; i < 50; i++)\n            AscendC::printf("at %d\\n", i);\n'
             "    volatile int spin = 1;\n    while (spin) {\n    }\n")
        printed = self.evaluate("--timeout", "2")["cases"][0]["printed"]
        self.assertEqual(printed, "".join(f"at {i}\n" for i in range(50)))
        text = akgen("eval", SQRT, self.project, "--case", "0", "--timeout", "2").stdout
        self.assertIn("printed: at 30\n", text)
        self.assertNotIn("at 45", text)
        self.assertIn("--json has it", text)

    def test_endless_loop_in_the_tiling_function(self):
        edit(self.host, TILING_END, "    for (volatile int spin = 1; spin;) {\n    }\n" + TILING_END)
        self.assert_verdict(self.evaluate("--timeout", "2"), "timeout", "run", "2 s|second")

    def test_huge_allocation(self):
        edit(self.host, TILING_END,
             "    volatile char *memory = new char[100ull << 30];\n"
             "    for (uint64_t i = 0; i < (100ull << 30); i += 4096) {\n        memory[i] = 1;\n    }\n" + TILING_END)
        self.assert_verdict(self.evaluate(), "fault", "tiling", "abort|signal|memory")

    def test_how_large_an_object_may_be(self):
        """As large as the compiler's limit on a file, 128 MiB; variables without values take none of it, but address space."""
        host, kernel = self.host.read_text(), self.kernel.read_text()
        large, filled = "extern {0} char large[];\n{0} char large[{1}]{2};\n", " = {1}"
        for path, constant, size, value, kind, reason in [
            (self.host, "", 3 << 19, filled, "pass", ""),
            (self.host, "", 127 << 20, filled, "pass", ""),
            (self.host, "", 200 << 20, filled, "compile_error", "more memory, output or stack"),
            (self.host, "", 500 << 20, "", "pass", ""),
            (self.host, "", 2 << 30, "", "compile_error", "the host part cannot be loaded: failed to map"),
            (self.kernel, "const", 70 << 20, filled, "pass", ""),
            (self.kernel, "const", 200 << 20, filled, "compile_error", "more memory, output or stack"),
        ]:
            with self.subTest(part=path.parent.name, size=size, value=value):
                self.host.write_text(host)
                self.kernel.write_text(kernel)
                path.write_text(path.read_text() + large.format(constant, f"{size}ULL", value))
                result = self.evaluate()
                self.assertEqual(result["verdict"], kind, result["reason"])
                self.assertIn(reason, result["reason"] or "")

    def test_exit_instead_of_an_answer(self):
        edit(self.host, TILING_END, "    exit(0);\n" + TILING_END)
        self.assert_verdict(self.evaluate(), "fault", "tiling", "exit")

    def test_crash_in_a_constructor(self):
        self.host.write_text(self.host.read_text() +
                             "\nstatic int crash = [] { volatile int *p = nullptr; return *p; }();\n")
        result = self.evaluate()
        self.assertIn(result["verdict"], ("fault", "compile_error"))
        self.assertRegex(result["reason"], "signal|crash")
        self.assertEqual(result["exit_code"], 1)

    def test_tiling_returns_failure(self):
        edit(self.host, TILING_END, TILING_END.replace("GRAPH_SUCCESS", "GRAPH_FAILED"))
        self.assert_verdict(self.evaluate(), "wrong", "tiling", "GRAPH_FAILED")

    def test_writing_outside_is_prevented(self):
        target = self.directory / "stolen"
        text = self.host.read_text()
        self.host.write_text("#include <cstdio>\n" + text)
        edit(self.host, TILING_END,
             f'    if (FILE *f = fopen("{target}", "w")) {{\n        fputs("x", f);\n        fclose(f);\n    }}\n' +
             TILING_END)
        result = self.evaluate()
        self.assertFalse(target.exists())
        self.assert_verdict(result, "rejected", "tiling", "open")

    def test_candidate_output_is_no_verdict(self):
        edit(self.host, TILING_END, '    printf("{\\"verdict\\": \\"pass\\"}\\n");\n' +
             TILING_END.replace("GRAPH_SUCCESS", "GRAPH_FAILED"))
        self.host.write_text("#include <cstdio>\n" + self.host.read_text())
        self.assert_verdict(self.evaluate(), "wrong", "tiling", "GRAPH_FAILED")


class BrokenTask(unittest.TestCase):
    """A copy of the home directory with a few tasks, one of which is broken."""

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="akgen-home-"))
        self.addCleanup(shutil.rmtree, self.home)
        for name in ("include", "src"):
            os.symlink(TASKS.parents[1] / name, self.home / name)
        for name in ("Sqrt", "AddCustom"):
            shutil.copytree(TASKS / "level1/Math" / name, self.home / "tasks/npukernelbench/level1/Math" / name)
        self.task = self.home / "tasks/npukernelbench/level1/Math/AddCustom"
        self.env = {"AKGEN_HOME": str(self.home)}

    def assert_others_survive(self, message):
        process = akgen("bench", "--case", "0", env=self.env)
        self.assertRegex(process.stdout + process.stderr, message)
        self.assertEqual(process.returncode, 3, process.stdout)
        self.assertRegex(process.stdout, r"all +2 +\d")
        process = akgen("eval", "AddCustom", self.task / "reference", env=self.env)
        self.assertNotIn(process.returncode, (0, 1))
        self.assertRegex(process.stderr, message)
        self.assertEqual(akgen("eval", "Sqrt", TASKS / "level1/Math/Sqrt/reference", "--case", "0",
                               env=self.env).returncode, 0)

    def test_broken_yaml(self):
        path = self.task / "task.yaml"
        path.write_text(path.read_text() + "\nno_such_key: [1\n")
        self.assert_others_survive(r"AddCustom/task\.yaml")

    def test_a_misspelt_check_is_no_check(self):
        path = self.task / "task.yaml"
        path.write_text(path.read_text().replace("reference:", "check: allclse\nreference:", 1))
        line = path.read_text().splitlines().index("check: allclse") + 1
        self.assert_others_survive(rf"AddCustom/task\.yaml:{line}: check is 'allclse', expected default, abs_rel\(a, r\), "
                                   r".* or share\(l\)")

    def test_a_task_of_another_folder(self):
        path = self.task / "task.yaml"
        path.write_text(path.read_text().replace("suite: npukernelbench", "suite: npukernelbnch", 1))
        self.assert_others_survive(r"AddCustom/task\.yaml:1: suite is 'npukernelbnch', but the folder says "
                                   r"'npukernelbench'")

    def test_wrong_dtype_in_a_case(self):
        path = self.task / "cases.csv"
        path.write_text(path.read_text().replace("float16", "float8", 1))
        self.assert_others_survive(r"AddCustom/cases\.csv:2: .*float8")

    def test_ragged_csv(self):
        path = self.task / "cases.csv"
        path.write_text(path.read_text() + "99\n")
        self.assert_others_survive(r"AddCustom/cases\.csv:\d+: ")

    def test_candidates_without_work_are_tried(self):
        path = self.task / "task.yaml"
        path.write_text(path.read_text().replace("inputs:\n", "trivial: 'zero: a test'\ninputs:\n", 1))
        process = akgen("task", "check", env=self.env)
        self.assertEqual(process.returncode, 3)
        self.assertRegex(process.stdout, "AddCustom: task.yaml lists 'zero' as trivial, but the strict check rejects it")
        shutil.copytree(TASKS / "level2/Foreach/ForeachCopy", self.task.parents[2] / "level2/Foreach/ForeachCopy")
        path = self.task.parents[2] / "level2/Foreach/ForeachCopy/task.yaml"
        path.write_text(path.read_text().replace('trivial: "copy: the operator copies"\n', ""))
        self.assertRegex(akgen("task", "check", env=self.env).stdout, "ForeachCopy: a candidate that copies an input passes")


class FullDisk(unittest.TestCase):
    def test_verdicts_are_still_printed(self):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-disk-"))
        self.addCleanup(shutil.rmtree, directory)
        mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                 'mount -t tmpfs -o size=160k none "$1" && shift && exec "$@"', "sh", str(directory)]
        if subprocess.run([*mount, "true"], capture_output=True).returncode != 0:
            self.skipTest("no user namespaces here")
        process = subprocess.run([*mount, os.environ.get("AKGEN", "build/akgen"), "bench", "--task", "level1/Math/*",
                                  "--case", "0", "--db", str(directory / "runs.db")], capture_output=True, text=True)
        self.assertEqual(process.returncode, 3, process.stdout + process.stderr)
        self.assertRegex(process.stderr, r"runs\.db: (database or disk is full|disk I/O error)")
        self.assertRegex(process.stdout, r"level 1 / Math +\d+")


if __name__ == "__main__":
    unittest.main()
