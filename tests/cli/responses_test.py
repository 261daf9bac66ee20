#!/usr/bin/env python3
# test: cost=17 labels=long
"""Answers in MultiKernelBench's format: the corpus in tests/cli/responses, each with its verdict, and trees of them."""
import csv
import pathlib
import re
import shutil
import tempfile
import unittest

from akgen_program import akgen, verdict

FOLDER = pathlib.Path(__file__).resolve().parent / "responses"
RELU = "multikernelbench/level1/Activation/Relu"


class Responses(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-responses-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def test_corpus(self):
        with open(FOLDER / "expected.csv") as file:
            rows = list(csv.DictReader(file, delimiter=";"))
        self.assertEqual({row["answer"] for row in rows},
                         {path.name for path in FOLDER.iterdir() if path.suffix in (".txt", ".py")})
        for row in rows:
            with self.subTest(answer=row["answer"]):
                result = verdict(row["task"], FOLDER / row["answer"], "--case", row["case"],
                                 env={"TMPDIR": str(self.directory)})
                self.assertEqual((result["verdict"], result["stage"]), (row["verdict"], row["stage"]), result["reason"])
                self.assertRegex(result["reason"] or "", row["reason"])
                self.assertEqual(result["exit_code"], 0 if row["verdict"] == "pass" else 1)
                self.assertEqual(result["wrapper"] is not None, "wrapper" in (result["reason"] or ""))
        self.assertEqual([path for path in self.directory.iterdir() if path.name.startswith("akgen-answer")], [],
                         "what was unpacked is gone")

    def test_lines_are_those_of_the_answer(self):
        for name, text in [("relu_executes.txt", "os.system("), ("relu_helper_function.txt", "def make_kernel"),
                           ("relu_two_calls.txt", "return custom_ops_lib.relu_custom(y)"),
                           ("relu_vendor_operator.txt", "aclnnRelu,"), ("relu_binding_reshapes.txt", "x.view(")]:
            with self.subTest(answer=name):
                lines = (FOLDER / name).read_text().splitlines()
                expected = next(number for number, line in enumerate(lines, 1) if text in line)
                reason = verdict(RELU, FOLDER / name, "--case", "2")["reason"]
                self.assertEqual(int(re.search(r"(?:txt:|line )(\d+)", reason)[1]), expected, reason)

    def test_a_tree_of_answers(self):
        tree = self.directory / "tree"
        answers = tree / "level1/Activation/Relu/answer"
        answers.mkdir(parents=True)
        for number, name in enumerate(["relu_fenced.txt", "relu_unfenced.py", "relu_two_calls.txt", "relu_arithmetic.txt",
                                       "relu_helper_function.txt", "relu_wrong_result.txt"]):
            shutil.copy(FOLDER / name, answers / f"{number}{pathlib.Path(name).suffix}")
        shutil.copy(FOLDER / "leaky_relu_attribute.txt", tree / "leaky_relu.txt")  # as MultiKernelBench leaves it
        page = self.directory / "run.html"
        process = akgen("bench", "--suite", "multikernelbench", "--provider", f"dir:{tree}", "--task", "*/*Relu", "--case",
                        "2", "--report", page)
        self.assertEqual(process.returncode, 1, process.stdout + process.stderr)
        # Relu: 2 of the 3 that count; LeakyRelu: 1 of 1.
        self.assertRegex(process.stdout, r"all +2 +4 +100\.0% +3 +83\.3% +3/4( +100\.0%){3} +[\d.]+  \(3 excluded\)")
        self.assertRegex(process.stdout, r"unsupported 3  \(of the unsupported, 2 wrappers that do more than one plain call\)")
        text = page.read_text()
        self.assertIn("class Kernel {", text)
        self.assertIn("more than one plain call: 2</p>", text)

    def test_a_case_that_a_task_lacks(self):
        options = ["bench", "--suite", "multikernelbench", "--provider", f"dir:{self.directory}", "--task", "level1/[AR]*"]
        process = akgen(*options, "--case", "99")
        self.assertEqual(process.returncode, 2)
        self.assertRegex(process.stderr, r"none of these 20 tasks has a case 99")
        process = akgen("bench", "--task", "level1/Math/[AS]*", "--case", "5")
        skipped = re.search(r"(\d+) tasks skipped: they have no case 5", process.stdout)
        self.assertTrue(skipped, process.stdout)
        self.assertNotIn("infra_error", process.stdout)


if __name__ == "__main__":
    unittest.main()
