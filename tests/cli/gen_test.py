#!/usr/bin/python3
# test: cost=152 labels=long
"""akgen gen without a model: a task's program, or its formulas, becomes a project that is proved; what lies in the way is refused."""
import json
import pathlib
import tempfile
import unittest

import jsonschema

from akgen_program import HOME, akgen, verdict

SQRT = "npukernelbench/level1/Math/Sqrt"
YAML = """suite: mine
level: 1
category: Math
op: Scaled
reference: formula
vary: sizes
inputs:
  - name: x
    shape: "$shape"
    dtype: "$dtype"
    types: [float16, float32]
    generate: "randn"
outputs:
  - name: y
    shape: "$shape"
    dtype: "$dtype"
    types: [float16, float32]
    formula: "FORMULA"
"""


class Gen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-gen-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def task(self, formula):
        task = self.folder / "mine/level1/Math/Scaled"
        task.mkdir(parents=True)
        (task / "task.yaml").write_text(YAML.replace("FORMULA", formula))
        (task / "cases.csv").write_text("case_id;shape;dtype\n0;[5, 33];float16\n1;[2, 3, 1001];float32\n")
        (task / "desc.md").write_text("# Scaled\n")
        return task

    def test_a_task_with_a_program(self):
        project = self.folder / "sqrt"
        process = akgen("gen", SQRT, "-o", project, "--case", 0)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertRegex(process.stdout, r"program   \S*Sqrt/program.py, \d+ lines\nproject   .*op_kernel/sqrt.cpp; 0\.\d\d s\n")
        self.assertRegex(process.stdout, r"strict, sync auto[\s\S]*\npass: 1 of 1 cases, ")
        self.assertEqual((project / "evidence/program.py").read_text(), (HOME / "tasks" / SQRT / "program.py").read_text())
        verdict = json.loads((project / "evidence/verdict.json").read_text())
        self.assertEqual((verdict["verdict"], verdict["profile"], verdict["cases_passed"]), ("pass", "strict", 1))
        again = akgen("eval", SQRT, project, "--profile", "strict", "--case", 0)
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertEqual(akgen("gen", SQRT, "-o", project, "--case", 0).returncode, 0, "its own folder is overwritten")

    def trace_of(self, project):
        """The kept trace's events, and what the verdict says of it."""
        verdict = json.loads((project / "evidence/verdict.json").read_text())
        jsonschema.validate(verdict, json.loads((HOME / "docs/verdict.schema.json").read_text()))
        self.assertEqual(verdict["trace"]["file"], "trace.json")
        return json.loads((project / "evidence/trace.json").read_text()), verdict

    def test_the_trace_is_of_the_longest_case(self):
        project = self.folder / "sqrt"
        process = akgen("gen", SQRT, "-o", project)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        events, verdict = self.trace_of(project)
        us = {row["case"]: row["timing"]["us"] for row in verdict["cases"] if not row["hidden"]}
        longest = max(us, key=us.get)
        self.assertEqual((verdict["trace"]["case"], verdict["trace"]["whole"]), (longest, True))
        self.assertIn(f"\ntrace     {project}/evidence/trace.json: case {longest}, {us[longest]:.2f} us, modelled\n", process.stdout)
        slices = [event for event in events if event["ph"] == "X"]
        end = max(event["ts"] + event["dur"] for event in slices)
        self.assertLessEqual(end, us[longest] + 1e-3)
        self.assertGreater(end, max(time for case, time in us.items() if case != longest) - 5)
        copied = next(row["run"]["bytes_out"] for row in verdict["cases"] if row["case"] == longest)
        self.assertEqual(sum(event["args"].get("bytes", 0) for event in slices if event["name"].startswith("DataCopy")), 2 * copied)
        # Chosen by --case; not there where no time is known.
        self.assertEqual(akgen("gen", SQRT, "-o", project, "--case", 4).returncode, 0)
        self.assertEqual(self.trace_of(project)[1]["trace"], {"file": "trace.json", "case": 4, "whole": True})
        self.assertEqual(akgen("gen", SQRT, "-o", project, "--case", 4, "--no-timing").returncode, 0)
        self.assertFalse((project / "evidence/trace.json").exists())
        self.assertNotIn("trace", json.loads((project / "evidence/verdict.json").read_text()))

    def test_a_trace_beyond_its_bound_ends_where_it_says(self):
        project, task, bound = self.folder / "norm", "npukernelbench/level2/Norm/RmsNorm", 8 << 20
        process = akgen("gen", task, "-o", project, "--case", 6)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertRegex(process.stdout, r"\ntrace     .*: case 6, [\d.]+ us, modelled; cut at 8 MiB\n")
        size = (project / "evidence/trace.json").stat().st_size
        self.assertTrue(bound - (1 << 15) < size <= bound, size)
        events, verdict = self.trace_of(project)
        self.assertIs(verdict["trace"]["whole"], False)
        self.assertEqual((events[-1]["ph"], events[-1]["name"]), ("i", "what follows has no room"))
        ends = {}
        for event in events:
            if event["ph"] == "X":
                ends[event["pid"]] = max(ends.get(event["pid"], 0), event["ts"] + event["dur"])
        row = verdict["cases"][0]["timing"]
        self.assertEqual(len(ends), row["aiv"]["cores"], "it shows every core")
        self.assertAlmostEqual(events[-1]["ts"], max(ends.values()), delta=1e-3)
        self.assertLess(events[-1]["ts"], row["us"])
        self.assertGreater(min(ends.values()), 0.5 * max(ends.values()), "up to about the same time")
        self.assertEqual({event["id"] for event in events if event["ph"] == "s"}, {event["id"] for event in events if event["ph"] == "f"})
        # What is beside a candidate is part of it, and must not be too much.
        again = akgen("eval", task, project, "--profile", "strict", "--case", 6)
        self.assertEqual(again.returncode, 0, again.stdout)

    def test_a_formula(self):
        task = self.task("x * rsqrt(mean(x*x) + 1e-6)")
        process = akgen("gen", task, "-o", self.folder / "scaled")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        self.assertIn("program   written from the formulas, ", process.stdout)
        self.assertRegex(process.stdout.splitlines()[-1], r"^pass: (\d+) of \1 cases, ")
        self.assertIn("tl.row_sum", (self.folder / "scaled/evidence/program.py").read_text())
        # The provider of `akgen bench` takes the planner's program as well.
        process = akgen("bench", "--suite", "mine", "--provider", "dsl", env={"AKGEN_HOME": str(self.home())})
        self.assertIn("pass 1", process.stdout, process.stderr)

    def home(self):
        """AKGen's folder, with the tasks of the test in place of its own."""
        home = self.folder / "home"
        home.mkdir()
        for path in HOME.iterdir():
            if path.name != "tasks":
                (home / path.name).symlink_to(path)
        (home / "tasks").mkdir()
        (home / "tasks/mine").symlink_to(self.folder / "mine")
        return home

    def test_what_cannot_be(self):
        process = akgen("gen", self.task("r = softmax(x, 0); r / sum(r)"), "-o", self.folder / "no")
        self.assertEqual(process.returncode, 1)
        self.assertIn("the planner has no plan for", process.stderr)
        self.assertFalse((self.folder / "no").exists())
        task = self.folder / "other/level1/Math/Relued"
        akgen("task", "new", task, "--reference", "rms_norm")
        process = akgen("gen", task, "-o", self.folder / "asked")
        self.assertIn(process.returncode, (0, 1))  # a model is asked, which may be right
        self.assertIn("no program and no formulas: the model in models/ is asked for 10 answers", process.stdout)
        self.assertEqual(akgen("gen", "Nothing").returncode, 2)
        self.assertEqual(akgen("gen", SQRT, "--case", 77).returncode, 2)

    def describe(self, text, *options):
        path = self.folder / "op.md"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return akgen("gen", "--describe", path, "-o", self.folder / "op", *options)

    def test_the_example_becomes_a_proved_kernel(self):
        process = akgen("gen", "--describe", HOME / "examples/rms_norm.md", "-o", self.folder / "op", "--yes")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        self.assertTrue(process.stdout.startswith(
            "RmsNorm: x [$N, $C], weight [$C] -> y [$N, $C]\neps = 1e-6\ny = x * rsqrt(mean(x*x) + eps) * weight\n"
            "'y' has the shape [$N, $C]\nvalues: randn\nprogram   written from the formulas, "), process.stdout)
        self.assertRegex(process.stdout.splitlines()[-1], r"^pass: (\d+) of \1 cases, ")
        process = akgen("task", "check", self.folder / "op/task")
        self.assertEqual(process.returncode, 0, process.stdout)
        result = verdict(self.folder / "op/task", self.folder / "op")  # upstream, the default of eval
        self.assertEqual((result["verdict"], result["cases_passed"], result["profile"], result["protocol"]),
                         ("pass", 9, "upstream", "strict limits, the task has no check"))
        self.assertEqual((self.folder / "op/task/desc.md").read_text(), (HOME / "examples/rms_norm.md").read_text())

    def test_a_draft_waits_for_confirmation(self):
        process = self.describe("# halves\nx [N, 2*C] in fp16, where scale = 0.5.\n\nh = gelu(x[:size(x)//2] * scale)\n"
                                "y = h * x[size(x)//2:]\n")
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertIn("Halves: x [$N, 2*$C] -> y [$N, $C]\n", process.stdout.replace("y [$N]", "y"))
        self.assertTrue(process.stdout.endswith(
            f"holds the draft. To go on: akgen gen {self.folder}/op/task -o {self.folder}/op\n"), process.stdout)
        self.assertFalse((self.folder / "op/op_kernel").exists())
        process = akgen("gen", self.folder / "op/task", "-o", self.folder / "op")
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)

    def test_what_a_description_leaves_open(self):
        process = self.describe("# Roots\ny = log(x) + sqrt(x)\n")
        self.assertIn("x $shape -> y $shape", process.stdout)
        self.assertIn("values: uniform(0.1, 4)\n", process.stdout)
        self.assertIn("data types: float16, float32, bfloat16\n", process.stdout)
        process = self.describe("# Loss\r\nd = x - t\r\nloss = mean(abs(d) < 1 ? 0.5*d*d : abs(d) - 0.5, all)\r\n")
        self.assertIn("x $shape, t $shape -> loss [1]\n", process.stdout)
        process = self.describe("# Pair\n| x | [N, C] |\n| mu (N) |\n1. `mu` = mean(x)\n2. `y` = x - mu.\n")
        self.assertIn("x [$N, $C] -> mu [$N], y [$N, $C]\n", process.stdout)

    def test_as_people_write(self):
        for text, tensors, formulas in (
                ("# A\nInput `x` of shape [N, 2*C]. Output `y` of shape [N, C].\n\ny = gelu(x[:size(x)//2]) * x[size(x)//2:]\n",
                 "x [$N, 2*$C] -> y [$N, $C]", ""),
                ("# A\n| Name | Type | Shape |\n|---|---|---|\n| x | fp32 | (N, C) |\n| `b` | fp32 | (C,) |\n    y = x + b\n",
                 "x [$N, $C], b [$C] -> y [$N, $C]", "y = x + b"),
                ("# A\n$y = \\frac{x}{\\sqrt{\\mathrm{mean}(x^2) + \\epsilon}} \\cdot w$\n- $x$: [N, C]\n- $w$: [C]\n$\\epsilon = 10^{-6}$\n",
                 "x [$N, $C], w [$C] -> y [$N, $C]", "y = ((x)/(sqrt(mean(x^2) + epsilon))) * w"),
                ("# A\n$$ d = |p - t| $$\nThe loss is `loss = mean(where(d < delta, 0.5*d*d, delta*(d - 0.5*delta)), all)`, delta = 1.0.\n",
                 "p $shape, t $shape -> loss [1]", "delta = 1.0\nd = abs(p - t)"),
                ("# A\n\\[ y = x \\cdot \\sigma(g_i) + e^{-x} \\]\nx and g have shape [N, C].\n", "x [$N, $C], g [$N, $C] -> y [$N, $C]",
                 "y = x * sigmoid(g) + exp(-x)"),
                ("# A\ny = x² · σ(x) − √(|x| + 1) × 2\n", "x $shape -> y $shape", "y = x^2 * sigmoid(x) - sqrt(abs(x) + 1) * 2"),
                ("Operator: soft cap\nInputs: x (N, C)\nOutput: y = cap * tanh(x / cap)\ncap: 30.0\n", "x [$N, $C] -> y [$N, $C]",
                 "cap = 30.0\ny = cap * tanh(x / cap)"),
                ("# A\n```python\ndef f(x: Tensor[N, C], eps: float = 1e-6):\n    y = x * torch.rsqrt((x*x).mean(-1, keepdim=True) + eps)\n"
                 "    return y\n```\n", "x [$N, $C] -> y [$N, $C]", "eps = 1e-6"),
                ("# A\n`y = x * mask / (1 - p)`, elementwise; fp16\n* `mask` – 0/1 mask, shape [N, C]\n* `x` – values\n* `p` – share, default 0.1\n",
                 "mask [$N, $C], x [$N, $C] -> y [$N, $C]", "p = 0.1\ny = x * mask / (1 - p)"),
                ("# A\nArgs:\n    x (Tensor): logits, shape [N, C]\n    gamma (float): focus. Default: 2.0\nReturns:\n"
                 "    loss (Tensor): [N, C]\nq = sigmoid(x)\nloss = (1 - q)**gamma   # focal\n", "x [$N, $C] -> loss [$N, $C]",
                 "gamma = 2.0\nq = sigmoid(x)\nloss = (1 - q)**gamma"),
                ("# A\nlr = 1e-3, beta = 0.9.\np_new = p - lr*m_new\nm_new = beta*m + g\nInputs p, m, g: [N]; all float32.\n",
                 "p [$N], m [$N], g [$N] -> m_new [$N], p_new [$N]", "m_new = beta*m + g\np_new = p - lr*m_new"),
                ("# A\nq: [N, C] int8\nscale: [C] float32\nmask: [N, 1] bool\ny = q * scale if mask else 0\n",
                 "q [$N, $C], scale [$C], mask [$N, 1] -> y [$N, $C]", ""),
                ("# A\nCompute y = a * x + b with a = 2.0 and b = -0.5 for x of shape [N, C].\n", "x [$N, $C] -> y [$N, $C]", "b = -0.5\n"),
                ("# A\nm := max(x). s := m + log(sum(exp(x - m)))\nx has shape [batch, seq].\n", "x [$batch, $seq] -> s [$batch]", "m = max(x)\n"),
                ("# A\nSoftmax over the last axis of a [N, C].\n- x: logits\ny = softmax(x)\n",
                 "x [$N, $C] -> y [$N, $C]", "'axis' of line 2 is read as a word, not as a tensor"),
                ("# A\n- x: [N,C]\n- x: [N, C]\n- m: bool mask\n- γ: -0.5\nAdam - the optimiser of 2014\nN = 7\ny = m ? x * γ : π\n",
                 "x [$N, $C], m [$N, $C] -> y [$N, $C]", "gamma = -0.5\ny = m ? x * gamma : pi\n"),
                ("# A\n- x: [N, C]\ny = x + 1\nz = x * 2\nFor x = 0 the result is y = 1.\n", "x [$N, $C] -> y [$N, $C], z [$N, $C]",
                 "y = x + 1\nz = x * 2\n"),
                ("# A\ngate: [T, F], up: [T, F]\nout = silu(gate) * up. gate is fp16\n", "gate [$T, $F], up [$T, $F] -> out [$T, $F]", "")):
            process = self.describe(text)
            self.assertEqual((process.returncode, process.stderr), (0, ""), text)
            self.assertTrue(process.stdout.split(": ", 1)[1].startswith(tensors + "\n"), f"{text}{process.stdout}")
            self.assertIn(formulas, process.stdout, text)

    def test_values_with_which_terms_do_not_cancel(self):
        process = self.describe("# Step\nv_new = 0.999*v + 0.001*g*g\np_new = p - 0.1*g/(sqrt(abs(v_new)) + 1e-8)\n")
        self.assertIn("values: uniform(0.1, 4)\n", process.stdout)

    def test_descriptions_that_say_too_little_or_too_much(self):
        for text, message in (
                ("", "op.md: no line says how an output is computed"),
                ("y = x\n", "op.md: no heading names the operator"),
                ("# A\ny = x\ny = x*2\n", "op.md:3: 'y' is assigned a second time, the first one is in line 2"),
                ("# A\n- x: [N, C]\n- x: [C]\ny = x\n", "op.md:3: 'x' has a second shape, the first one is in line 2"),
                ("# A\n- x: [..., C]\ny = x\n", "op.md:2: '[..., C]': expected sizes"),
                ('# A\ny = "x"\n', "op.md:2: a formula holds neither quotes nor backslashes"),
                ("# A\ny = atan2(x, 1)\n", "there is no function 'atan2'"),
                ("# A\ny = x / maen(x)\n", "there is no function 'maen'; did you mean mean"),
                ("# A\na = b + 1\nb = a * x\n", "op.md:3: 'b' needs a step that needs 'b'"),
                ("# A\n$y = \\sum_{i=1}^{N} x_i$\n", "op.md:2: sums are written sum(x)"),
                ("# A\nk = 2\ny = k + 1\n", "op.md: no formula uses a tensor"),
                ("# A\n- x: [N, C]\n- x: [n, C]\ny = x\n", "line 2: a tensor has one, either [N, C] or [n, C]"),
                ("# A\n- x: [N, C]\ny[t] = x[t] + y[t-1]\n", "op.md:3: 'y[t] = ...': a formula computes a whole tensor"),
                ("# A\n- x: [N, C]\ny = 1\nx = relu(x)\n", "op.md:4: 'x' is computed from itself: give the result a name of its own, "
                 "such as 'x_new = relu(x)'"),
                ("# A\n- x: [N, C]\ny = x.T\n", "op.md:3: in 'x.T', column 2: '.T' is not supported: a formula does not transpose"),
                ("# A\ny = a @ b\n", "op.md:2: in 'a @ b', column 3: '@' is not supported: a formula has no matrix products"),
                ("# A\ny = argmax(x)\n", "op.md:2: in 'argmax(x)', column 1: there is no function 'argmax'; write a program"),
                ("# A\ny = x +\n", "op.md:2: in 'x +', column 4: expected a value, found the end"),
                (b"\xff\xfe#\0 \0A\0", "op.md: no line says how an output is computed")):
            process = self.describe(text)
            self.assertEqual(process.returncode, 2, text)
            self.assertIn(message, process.stderr)
            self.assertEqual(process.stderr.count("\n"), 1, process.stderr)
        self.assertEqual(akgen("gen", "--describe", self.folder / "none.md").returncode, 2)
        self.assertEqual(akgen("gen").returncode, 2)
        self.assertEqual(akgen("gen", SQRT, "--describe", "x.md").returncode, 2)

    def test_what_is_declared_is_used_and_what_is_used_is_declared(self):
        unused, undeclared = "is declared, but no formula uses or computes it", "which no line declares"
        for text, message in (
                ("# A\n- `x`: [N, C] float16\ny = a * gelu_tanh(b)\n", f"op.md:3: a formula uses 'a', {undeclared} (declared, but not used: x)"),
                ("# A\n- p: [N, C]\n- t: [N, C]\ny = mean(d)\n", f"op.md:4: a formula uses 'd', {undeclared} (declared, but not used: p, t)"),
                ("# A\n- X: [N, C]\ny = x + 1\n", f"op.md:3: a formula uses 'x', {undeclared} (declared, but not used: X)"),
                ("# A\n* `mask`: 0/1 mask, shape [N, C]\ny = x * mask\n", f"op.md:3: a formula uses 'x', {undeclared}: "),
                ("# A\n- x: [N, C]\n- y: [N, C]\nz = x + 1\n", f"op.md:3: 'y' {unused}"),
                ("# A\nInputs: logits [N, C], target [N, C]\ny = mean(logits)\n", f"op.md:2: 'target' {unused}"),
                ("# A\nlogits has shape [N, C].\n`x` and `t` are [N, C].\ny = x - t\n", f"op.md:2: 'logits' {unused}"),
                ("# A\n| x | [N, C] |\n| t | [N, C] |\ny = x\n", f"op.md:3: 't' {unused}"),
                ("# A\n- x: [N, C]\n- `target`: float32\ny = x\n", f"op.md:3: 'target' {unused}"),
                ("# A\n- x: [N, C]\n- eps = 1e-6\ny = x\n", "op.md:3: 'eps' is 1e-6, but no formula uses it"),
                ("# A\n- x: [N, C]\nThe share is p = 0.5.\ny = x\n", "op.md:3: 'p' is 0.5, but no formula uses it"),
                ("# A\n- x: [N, C]\n- eps = 1e-6\ny = x / (norm(x) + epsilon)\n", f"op.md:4: a formula uses 'epsilon', {undeclared} (declared, but not used: eps)"),
                ("# A\ny = x / (norm(x) + eps)\n", f"op.md:2: a formula uses 'eps', {undeclared}: '- eps: [N, C]' declares a tensor, 'eps = 0.5' a number"),
                ("# A\ny = x * e\n", f"op.md:2: a formula uses 'e', {undeclared}"),
                ("# A\n- x: [N, C]\ny = x / N\n", "op.md:3: 'N' is a size, which a formula does not take: write size(x)"),
                ("# A\n- x: [N, C]\n- y: [N, C]\nz = x\ny = 0\n", "op.md:5: 'y' has the value 0, and the shape [N, C] in line 3"),
                ("# A\n- x: [N, C]\nThe rate is lr = 0.1.\nFirst the rate is lr = 0.2.\ny = x * lr\n", "op.md:4: 'lr' is 0.2 here and 0.1 in line 3")):
            process = self.describe(text, "--yes")
            self.assertEqual((process.returncode, process.stdout), (2, ""), text)
            self.assertIn(message, process.stderr)
            self.assertFalse((self.folder / "op").exists(), text)

    def test_files_of_others_stay(self):
        mine = self.folder / "mine.txt"
        mine.write_text("mine")
        process = akgen("gen", SQRT, "-o", self.folder)
        self.assertEqual(process.returncode, 2)
        self.assertIn("holds files that are not of 'akgen gen'", process.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["mine.txt"])


if __name__ == "__main__":
    unittest.main()
