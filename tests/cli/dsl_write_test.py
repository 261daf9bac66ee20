#!/usr/bin/env python3
"""akgen dsl write: formulas become programs, which are right on the machine; what the planner has no plan for is said."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, akgen, verdict

TASK = """suite: mine
level: 1
category: Math
op: {op}
reference: formula
vary: sizes
inputs:
  - name: x
    shape: "$shape"
    dtype: "{dtype}"
    types: [{types}]
    generate: "uniform(-4, 4)"
    strict: "randn*choose(0.1, 1, 8)"
  - name: z
    shape: "$shape"
    dtype: "{dtype}"
    types: [{types}]
    generate: "randn"
outputs:
{outputs}attrs:
  - name: hi
    type: float
    value: "$hi"
"""
OUTPUT = """  - name: {name}
    shape: "$shape"
    dtype: "{dtype}"
    types: [{types}]
    formula: "{formula}"
"""
CASES = "case_id;shape;dtype;hi\n0;[33, 65];float32;0.75\n1;[7, 5];float16;0.5\n2;[5000];bfloat16;1.5\n"


class Formulas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-write-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def task(self, *formulas, types="float16, float32, bfloat16", dtype="$dtype"):
        """The directory of a task whose outputs are the formulas."""
        task = self.folder / "mine" / "level1" / "Math" / "Own"
        task.mkdir(parents=True, exist_ok=True)
        outputs = "".join(OUTPUT.format(name=f"y{i}", formula=formula, types=types, dtype=dtype)
                          for i, formula in enumerate(formulas))
        (task / "task.yaml").write_text(TASK.format(op="Own", outputs=outputs, types=types, dtype=dtype))
        (task / "cases.csv").write_text(CASES if "float16" in types else CASES.splitlines()[0] + "\n0;[7];int32;1\n")
        (task / "desc.md").write_text("own\n")
        return task

    def assert_right(self, *formulas):
        task = self.task(*formulas)
        program = self.folder / "program.py"
        process = akgen("dsl", "write", task, "-o", program)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertEqual(akgen("dsl", "fmt", "--check", program).returncode, 0)
        project = self.folder / "project"
        process = akgen("dsl", "build", program, "--task", task, "-o", project)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        result = verdict(task, project, "--profile", "strict")
        self.assertEqual(result["verdict"], "pass", f"{formulas}: {result['reason']}")
        return program.read_text()

    def test_functions_and_signs(self):
        self.assert_right("x*0.5*(1+erf(x/1.4142135623730951))")
        self.assert_right("log1p(x*x) + expm1(x/8) - 2")
        self.assert_right("1 / (hi + abs(x)) - tanh(z)**2 + max(min(x, z), -hi)")

    def test_choices_and_comparisons(self):
        self.assert_right("x > hi ? hi : x < 0 - hi ? 3 - x : sigmoid(x)**2 / (1 + abs(z)) + max(x, z)")
        self.assert_right("(x > z) * 2 + (hi <= x)")

    def test_several_outputs_and_one_input_alone(self):
        text = self.assert_right("x + hi*z", "sqrt(abs(z))")
        self.assertEqual(text.count("tl.store("), 2)
        text = self.assert_right("x*x")
        self.assertNotIn("tl.load(z", text)

    def test_an_input_as_it_is(self):
        self.assert_right("x")
        self.assert_right("hi")

    def test_what_has_no_plan(self):
        process = akgen("dsl", "write", self.task("x + z", types="int32", dtype="int32"))
        self.assertEqual(process.returncode, 1)
        self.assertIn("'x' may be int32; the planner computes float16, bfloat16 and float32", process.stderr)
        process = akgen("dsl", "write", "Sqrt")
        self.assertEqual(process.returncode, 1)
        self.assertIn("output 'y' has no formula", process.stderr)
        process = subprocess.run([AKGEN, "dsl", "write", "NoSuchTask"], capture_output=True, text=True)
        self.assertEqual(process.returncode, 2)


if __name__ == "__main__":
    unittest.main()
