#!/usr/bin/env python3
# test: cost=19 labels=long
"""Answers that are formulas: the planner's project for them is judged by the task's own reference."""
import pathlib
import tempfile
import unittest

from akgen_program import akgen

# What each operator computes, of a task that has a reference of its own.
RIGHT = {
    "RmsNorm": "rstd = 1 / sqrt(mean(x^2) + epsilon); y = x * rstd * gamma",
    "AddRmsNorm": "x = x1 + x2; rstd = rsqrt(mean(x * x) + epsilon); y = x * rstd * gamma",  # the last output first
    "InplaceAddRmsNorm": "s = x1 + x2; rstd = 1 / sqrt(mean(s**2) + epsilon); x1 = s * rstd * gamma; x2 = s",
    "InplaceAttnSoftmax": "x = softmax(x)",
    "Sscal": "x = alpha * x",
    "ClipByValue": "y = min(max(x, clip_value_min), clip_value_max)",  # floating types and an integer one
    "LessEqual": "y = x1 <= x2",
    "ForeachAddcdivScalar": "y = x1 + x2 / x3 * scalar",
    "ForeachAddScalarList": "y = x + scalars",  # a number for each member, int32 as well
    "ForeachMaximumList": "y = max(x1, x2)",
    "ForeachLerpScalar": "y = x1 + weight * (x2 - x1)",
    "ForeachZeroInplace": "x = 0",  # no input is read
    "Fill": "y = value",  # nor a tensor of more than one element; of integers and floating types, which the kernel's buffer has
    "SelectReduceMaxDSubExpReduceSumDRealDiv": "x = where(sel, input1, input2)\ne = exp(x - amax(x))\nouput = e / sum(e)",
}
REFUSED = {
    "RmsNorm": [("y = x * gamma", "no statement for output 'rstd'"), ("rstd = mean(x); y = x * gama", "gama"), ("y = ", "y")],
    "ForeachExp": [("y = exp(x) / sum(x)", "of lists each element is computed by itself")],
}


# Tensors that are called what the printed kernel calls its own.
NAMES = ("op", "tilingData", "workspace", "tiling", "pipe", "blocks", "scalarBuffer", "half", "x", "xGm")


class Formulas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-formulas-")
        self.addCleanup(folder.cleanup)
        self.answer = pathlib.Path(folder.name) / "answer.txt"

    def judge(self, task, text, *options):
        self.answer.write_text(text)
        return akgen("eval", task, self.answer, "--no-timing", "--language", "graph", *options)

    def test_right_ones_pass(self):
        for task, text in RIGHT.items():
            with self.subTest(task):
                done = self.judge(task, text)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_names_that_the_kernel_has(self):
        task = self.answer.parent / "Named"
        task.mkdir()
        tensor = "  - name: {0}\n    shape: \"[5, 34]\"\n    dtype: float32\n    types: [float32]\n"
        (task / "task.yaml").write_text(
            "suite: named\nlevel: 1\ncategory: Math\nop: Named\nreference: formula\ninputs:\n"
            + "".join((tensor + "    generate: randn\n").format(name) for name in NAMES)
            + "outputs:\n" + tensor.format("y") + f"    formula: \"{' + '.join(NAMES)}\"\n")
        (task / "cases.csv").write_text("case_id\n0\n")
        (task / "desc.md").write_text("# Named\n\nA sum.\n")
        done = self.judge(task, f"y = {' + '.join(NAMES)}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_wrong_ones_are_wrong(self):
        self.assertIn("wrong: 0 of", self.judge("Sqrt", "y = x", "--case", 0).stdout)
        # What is assigned again is another value from there on.
        self.assertEqual(self.judge("Sqrt", "y = x; y = sqrt(y)", "--case", 0).returncode, 0)

    def test_what_cannot_be_planned_is_a_compile_error_with_its_reason(self):
        for task, answers in REFUSED.items():
            for text, why in answers:
                with self.subTest(text):
                    done = self.judge(task, text, "--case", 0)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("compile_error", done.stdout)
                    self.assertIn(why, done.stdout)

    def test_forms_of_answers(self):
        for text in ("```\ny = sqrt(x)\n```\n", "`y = sqrt(x)`", "<think>a root</think>\ny = sqrt(x)\n", "\n\ny = x**0.5;\n"):
            with self.subTest(text):
                self.assertEqual(self.judge("Sqrt", text, "--case", 0).returncode, 0)

    def test_prompts(self):
        brief = akgen("gen", "Lerp", "--language", "graph", "--print-prompt").stdout
        self.assertIn("in start float16 [48,128,512]", brief)
        self.assertNotIn("reciprocal", brief)
        self.assertIn("Answer with the statements alone", akgen("gen", "Lerp", "--language", "graph", "--variant", "one-shot", "--print-prompt").stdout)


if __name__ == "__main__":
    unittest.main()
