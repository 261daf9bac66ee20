#!/usr/bin/env python3
"""Answers as models write them, from their text to a verdict: akgen eval and akgen bench of files. What is read of which text is
unit/candidate/answer_test's."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from akgen_program import HOME, akgen, verdict

FOLDER = HOME / "tests/gen/answers"
SQRT = "npukernelbench/level1/Math/Sqrt"
ADD = "npukernelbench/level1/Math/AddCustom"


class Answers(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-answers-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def write(self, name, text):
        path = self.directory / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def test_projects_and_programs_pass(self):
        for name in ["tags_npukernelbench_both", "tags_escaped", "fences_names_in_headings", "fences_without_names_reversed",
                     "fences_halves_of_a_host", "fences_two_files_in_one", "banners_equals", "json_list_fenced", "names_swapped_header",
                     "bytes_crlf", "program_with_prose_around", "program_in_two_blocks"]:
            with self.subTest(answer=name):
                language = "dsl" if name.startswith("program") else "ascendc"
                result = verdict(SQRT, FOLDER / f"{name}.txt", "--case", "4", "--language", language)
                self.assertEqual((result["verdict"], result["exit_code"]), ("pass", 0), result["reason"])

    def test_kernels_pass(self):
        for name in ["tags_npukernelbench_repeated", "fences_revised", "thinking_deepseek", "thinking_gpt_oss", "bytes_not_utf8",
                     "fences_numbered_lines"]:
            with self.subTest(answer=name):
                result = verdict(ADD, FOLDER / f"{name}.txt", "--scope", "kernel", "--mode", "static")
                self.assertEqual((result["verdict"], result["exit_code"]), ("pass", 0), result["reason"])

    def test_a_cut_answer_does_not_compile(self):
        result = verdict(SQRT, FOLDER / "fences_unclosed.txt", "--case", "4")
        self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "kernel"))
        diagnostic = result["compile"]["diagnostics"][0]
        self.assertEqual((diagnostic["class"], diagnostic["file"]), ("syntax", "op_kernel/sqrt.cpp"))

    def test_no_answer_is_an_error_of_class_syntax(self):
        for name, reason in [("none_empty", "the answer is empty"), ("thinking_alone", "nothing stands behind the thinking"),
                             ("none_diff", "the answer is a diff, expected whole files"),
                             ("none_pytorch", "the answer holds no kernel, expected op_kernel/sqrt.cpp")]:
            with self.subTest(answer=name):
                result = verdict(SQRT, FOLDER / f"{name}.txt")
                self.assertEqual((result["verdict"], result["stage"], result["exit_code"]), ("compile_error", "parse", 1))
                self.assertTrue(result["reason"].startswith(reason), result["reason"])
                [diagnostic] = result["compile"]["diagnostics"]
                self.assertEqual((diagnostic["class"], diagnostic["severity"], diagnostic["file"]), ("syntax", "error", None))
                self.assertEqual(diagnostic["message"], result["reason"])

    def test_a_name_that_is_a_file_and_a_folder(self):
        """It is the answer's mistake in every form, and no message says where AKGen would have written it."""
        parts = {f"op_{role}/sqrt.cpp": (FOLDER / f"parts/sqrt_{role}.cpp").read_text() for role in ["kernel", "host"]}
        forms = {"fences": lambda path, text: f"```cpp:{path}\n{text}\n```\n", "tags": lambda path, text: f"<{path}>\n{text}\n</{path}>\n",
                 "heredocs": lambda path, text: f"```bash\ncat > {path} <<'EOF'\n{text}\nEOF\n```\n",
                 "JSON": lambda path, text: json.dumps({"path": path, "content": text}),
                 "banners": lambda path, text: f"=== {path} ===\n{text}\n"}
        header = "#pragma once\n#include <cstdint>\nconstexpr int32_t ONE = 1;"
        for name, form in forms.items():
            for file, below in [("op_kernel/sqrt.cpp", "op_kernel/sqrt.cpp/x.h"), ("op_host/sqrt.cpp", "op_host/sqrt.cpp/y/x.cpp"),
                                ("op_kernel/CMakeLists.txt", "op_kernel/CMakeLists.txt/x.h"), ("op_kernel/a.h", "op_kernel/a.h/b.h")]:
                own = [form(*part) for part in {**parts, **({} if file in parts else {file: header})}.items()]
                for files in [own + [form(below, header)], [form(below, header)] + own]:
                    with self.subTest(form=name, below=below, first=files[0][:20]):
                        answer = f"[{','.join(files)}]" if name == "JSON" else "".join(files)
                        result = verdict(SQRT, self.write("answer.txt", answer), "--case", "4")
                        self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "parse"), result["reason"])
                        self.assertEqual(result["reason"], f"the answer names a file {file} and a file below it, {below}; "
                                         "a name is a file or a folder")
                        self.assertEqual([d["class"] for d in result["compile"]["diagnostics"]], ["syntax"])

    def test_a_header_included_under_a_name_that_no_file_can_have(self):
        kernel, host = ((FOLDER / f"parts/sqrt_{role}.cpp").read_text() for role in ["kernel", "host_alone"])
        include = f'#include "{"b" * 300}.h"\n'
        header = "```cpp\n#pragma once\n__aicore__ inline void F() {}\n```\n"
        answer = f"```cpp:op_kernel/sqrt.cpp\n{include}{kernel}```\n```cpp:op_host/sqrt.cpp\n{host}```\n{header}"
        result = verdict(SQRT, self.write("answer.txt", answer), "--case", "4")
        self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "kernel"), result["reason"])

    def test_a_program_that_is_refused(self):
        program = (FOLDER / "parts/sqrt_program.py").read_text()
        for old, new, line, kind, rule in [("tl.vsqrt(y_ub", "tl.vroot(y_ub", 15, "scope", "names"),
                                           ("mask=offsets < end)\n        with tl.compute", "mask=offsets < last)\n        with tl.compute",
                                            13, "scope", "names"),
                                           ("for at in range(start, end, tile):", "try:", 10, "syntax", "not-in-the-language"),
                                           ("tl.vsqrt(y_ub, x_ub)", "tl.vsqrt(y_ub)", 15, "api", "arguments"),
                                           ("tl.vsqrt(y_ub, x_ub)", "tl.vsqrt(y_ub, x)", 15, "dtype", "types")]:
            self.assertIn(old, program)
            with self.subTest(new=new):
                answer = self.write("answer.md", f"The program:\n```python\n{program.replace(old, new)}```\n")
                result = verdict(SQRT, answer, "--case", "4", "--language", "dsl")
                self.assertEqual((result["verdict"], result["stage"]), ("compile_error", "parse"), result["reason"])
                diagnostic = result["compile"]["diagnostics"][0]
                self.assertEqual(diagnostic["file"], "program.py")
                self.assertIn(f"program.py:{diagnostic['line']}:{diagnostic['column']}: ", result["reason"])
                self.assertEqual((diagnostic["line"], diagnostic["class"]), (line, kind), diagnostic)
                self.assertIn(f"[{rule}]", diagnostic["message"])

    def test_a_fault_of_a_program_names_its_line(self):
        """The map of lines comes along: a wrong result of a program is explained in its own terms."""
        program = (FOLDER / "parts/sqrt_program.py").read_text().replace("tl.vsqrt(y_ub", "tl.vabs(y_ub")
        result = verdict(SQRT, self.write("abs.py", program), "--case", "4")
        self.assertEqual((result["verdict"], result["stage"]), ("wrong", "compare"))

    def test_a_tree_of_answers(self):
        answers = self.directory / "tree/level1/Math/Sqrt/answer"
        answers.mkdir(parents=True)
        for number, name in enumerate(["banners_equals.txt", "program_fenced.md", "program_bare.py", "none_refusal.txt"]):
            shutil.copy(FOLDER / f"{pathlib.Path(name).stem}.txt", answers / f"{number}{pathlib.Path(name).suffix}")
        single = self.directory / "tree/level1/Math"
        shutil.copy(FOLDER / "fences_revised.txt", single / "AddCustom.md")
        process = akgen("bench", "--provider", f"dir:{self.directory}/tree", "--task", "level1/Math/Sqrt", "--case", "4", "--language", "any")
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        self.assertRegex(process.stdout, r"all +1 +3 +75\.0% +3 +75\.0% +3/4")
        self.assertIn("compile_error level1/Math/Sqrt #3 (parse): the answer holds no code", process.stdout)
        process = akgen("bench", "--provider", f"dir:{self.directory}/tree", "--task", "level1/Math/AddCustom", "--scope", "kernel",
                        "--mode", "static")
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)

    def test_the_classes_of_rules_are_those_of_the_page(self):
        page = dict(re.findall(r"^\| (api|dtype|scope|memory|syntax) \| ([^|]+) \|$", (HOME / "docs/answers.md").read_text(), re.M))
        rules = dict(re.findall(r'^RULE\((\w+), "([^"]+)"', (HOME / "src/dsl/rules.def").read_text(), re.M))
        classes = re.findall(r"^    CLASS_(\w+) = DIAG_(\w+),", (HOME / "src/candidate/answer_candidate.c").read_text(), re.M)
        self.assertEqual({rule for rule, _ in classes}, set(rules))
        self.assertEqual({(rules[rule], name.lower()) for rule, name in classes},
                         {(rule, name) for name, row in page.items() for rule in row.split(", ")})

    def test_nothing_is_written_outside(self):
        before = sorted(path for path in self.directory.rglob("*"))
        for name in ["names_that_lead_out", "names_absolute"]:
            result = verdict(SQRT, FOLDER / f"{name}.txt", "--case", "4", env={"TMPDIR": str(self.directory)})
            self.assertEqual(result["verdict"], "pass", result["reason"])
        self.assertEqual(sorted(path for path in self.directory.rglob("*")), before)
        self.assertFalse(os.path.exists("/etc/cron.d/sqrt.cpp"))

    def test_what_is_no_file_of_an_answer(self):
        for name in ["answer.docx", "answer"]:
            process = akgen("eval", SQRT, self.write(name, "x"))
            self.assertEqual(process.returncode, 2)
            self.assertIn("a model's answer in a .txt, .md or .py file", process.stderr)


if __name__ == "__main__":
    unittest.main()
