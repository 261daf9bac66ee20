#!/usr/bin/env python3
# test: builds=release cost=90
"""akgen dsl write: formulas become programs, which are right on the machine, without automatic synchronisation, in any order of
the cores, and as the interpreter computes them; what the planner has no plan for is said."""
import pathlib
import re
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
        (task / "cases.csv").write_text(CASES if "float16" in types else CASES.splitlines()[0] + f"\n0;[7];{dtype};1\n")
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
        self.assert_right("0.5 - hi > sigmoid(hi) - 1 ? x : x + z")

    def test_several_outputs_and_one_input_alone(self):
        text = self.assert_right("x + hi*z", "sqrt(abs(z))")
        self.assertEqual(text.count("tl.store("), 2)
        text = self.assert_right("x*x")
        self.assertNotIn("tl.load(z", text)

    def test_functions_of_others(self):
        self.assert_right("pow(abs(x), 1.5) + mish(z) + hardswish(x) + leaky_relu(z, 0.1)", "elu(x, hi) + selu(z) + logsigmoid(x)",
                          "x > 0 and not (z > 0) ? gelu_tanh(x) : logaddexp(x, z)", "round(x*hi/3) * 0.5 + x // 3 + x % 3")
        text = self.assert_right("x * sqrt(2*hi) + log(1 + hi)**2")
        self.assertIn("    number1 = tl.sqrt(2 * hi)\n", text) # of numbers: once, in the host function
        self.assertIn("def own_kernel(x, y0, number1, number3, total,", text)

    def test_steps_take_the_type_of_a_tensor(self):
        text = self.assert_right("x + type_as(type_as(z * 3, x) / 7, z)", "type_as(x, x) + type_as(hi, z) + type_as(x > z, z)")
        self.assertIn("x_rounded_ub = tl.alloc_ub(tile, dtype=x.dtype)", text)
        self.assertEqual(text.count("tl.cast("), 2 + 2 + 1 + 3)  # x is of its type already; of x > z numbers are made first
        text = self.assert_right("d = type_as(x - mean(x), x); v = type_as(mean(type_as(d*d, x)), x); d * rsqrt(v + 1)")
        self.assertIn("x_rounded_column_ub", text)
        self.assert_right("type_as(x / 3, z)[0] * x + type_as(sum(x), x) + type_as(mean(z, all), z)")
        process = akgen("dsl", "write", self.task("type_as(x, hi)"))
        self.assertIn("'hi' is an attribute, which has no data type to round to", process.stderr)

    def test_an_input_as_it_is(self):
        self.assert_right("x")
        self.assert_right("hi")

    def test_how_much_is_worth_a_core(self):
        """A core is started for fewer elements the more is computed of each."""
        for formula, elements in (("relu(x)", 8192), ("x * z", 8192), ("hi * elu(x, 1.0) + exp(abs(x)) * z", 4096), ("gelu(x)", 512), ("cos(x)", 512),
                                  (" + ".join(f"sqrt(abs(x * {i}))" for i in range(2, 8)), 2048)):
            text = akgen("dsl", "write", self.task(formula)).stdout
            self.assertIn(f"cores = max(1, min(tl.num_vec_cores(), tl.cdiv(total, {elements})))", text, formula)
            self.assertIn(f"# at least {elements} elements for a core, in steps of 64", text)

    def test_what_has_no_plan(self):
        process = akgen("dsl", "write", self.task("x + z", types="uint32", dtype="uint32"))
        self.assertEqual(process.returncode, 1)
        self.assertIn("'x' may be uint32; the planner computes float16, bfloat16 and float32, or bool and integers", process.stderr)
        process = akgen("dsl", "write", self.task("x * 1e9 + 1e9", types="int32", dtype="int32"))
        self.assertEqual(process.returncode, 1)
        self.assertIn("'y0' has integers beyond 2^24", process.stderr)
        for formula, message in [("x + cumsum(x)[-1]", "column 14: the planner has no plan for a part of this"),
                                 ("x * size(x[:size(x, all)//size(x, all)])", "the planner has no plan for such a bound")]:
            process = akgen("dsl", "write", self.task(formula))
            self.assertEqual(process.returncode, 1, formula)
            self.assertIn(message, process.stderr)
            self.assertEqual(process.stderr.count("\n"), 1, process.stderr)
        process = akgen("dsl", "write", "Sqrt")
        self.assertEqual(process.returncode, 1)
        self.assertIn("output 'y' has no formula", process.stderr)
        process = subprocess.run([AKGEN, "dsl", "write", "NoSuchTask"], capture_output=True, text=True)
        self.assertEqual(process.returncode, 2)


TYPES = ["float32", "float16", "bfloat16"]
SHAPES = [[3, 33], [1, 1], [7, 8], [2, 50000], [300, 5], [5, 4095], [2, 3, 1000], [0, 7], [1, 4097]]
FULL, HALF, COLUMN, ONE = "$shape", "$lead + [$n // 2]", "$lead + [1]", "[1]"


class Rows(unittest.TestCase):
    """Formulas over rows: one row, few and many, which fit into UB or come in pieces."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-write-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def task(self, inputs, outputs, shapes=SHAPES, generate="uniform(-4, 4)"):
        task = self.folder / "mine" / "level1" / "Math" / "Own"
        task.mkdir(parents=True, exist_ok=True)
        types = ", ".join(TYPES)
        even = " even" if any(HALF in shape for shape, *_ in outputs.values()) or HALF in inputs.values() else ""
        lines = ["suite: mine", "level: 1", "category: Math", "op: Own", "reference: formula",
                 f'vary: "sizes{even}; n = $shape[-1]; lead = $shape[:-1]"', "inputs:"]
        for name, shape in inputs.items():
            shape, dtype, values = shape if isinstance(shape, tuple) else (shape, None, generate)
            lines += [f"  - name: {name}", f'    shape: "{shape}"', f'    dtype: "{dtype or "$dtype"}"',
                      f"    types: [{', '.join([dtype] * 3) if dtype else types}]", f'    generate: "{values}"']
        lines.append("outputs:")
        for name, (shape, formula, *dtype) in outputs.items():
            lines += [f"  - name: {name}", f'    shape: "{shape}"', f'    dtype: "{dtype[0] if dtype else "$dtype"}"',
                      f"    types: [{', '.join(dtype * 3) if dtype else types}]", f'    formula: "{formula}"']
        lines += ["attrs:", "  - name: eps", "    type: float", '    value: "1e-5"', ""]
        (task / "task.yaml").write_text("\n".join(lines))
        rows = [f"{i};{shape};{shape[:-1]};{shape[-1]};{TYPES[i % 3]}" for i, shape in enumerate(shapes)]
        (task / "cases.csv").write_text("\n".join(["case_id;shape;lead;n;dtype", *rows, ""]))
        (task / "desc.md").write_text("own\n")
        return task

    def assert_right(self, inputs, outputs, **keywords):
        task = self.task(inputs, outputs, **keywords)
        program, project = self.folder / "program.py", self.folder / "project"
        process = akgen("dsl", "write", task, "-o", program)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertEqual(akgen("dsl", "fmt", "--check", program).returncode, 0)
        process = akgen("dsl", "build", program, "--task", task, "-o", project, "--verify")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        result = verdict(task, project, "--profile", "strict", "--sync", "manual", "--schedule", "random:2",
                         "--strict-order")
        self.assertEqual(result["verdict"], "pass", f"{outputs}: {result['reason']}")
        return program.read_text()

    def test_softmax_needs_two_passes(self):
        text = self.assert_right({"x": FULL}, {"y": (FULL, "softmax(x)")})
        self.assertEqual(text.count("for at in range("), 2)
        self.assertIn("if piece < cols:", text)

    def test_log_softmax_and_its_sum(self):
        self.assert_right({"x": FULL}, {"y": (FULL, "log_softmax(x)"), "s": (COLUMN, "logsumexp(x)")})

    def test_norms(self):
        self.assert_right({"x": FULL, "gamma": "[$n]"},
                          {"y": (FULL, "x * rsqrt(mean(x*x) + eps) * gamma")})
        self.assert_right({"x": FULL, "gamma": "[$n]", "beta": "[$n]"},
                          {"y": (FULL, "d = x - mean(x); d / sqrt(mean(d*d) + eps) * gamma + beta")})
        self.assert_right({"x": FULL}, {"y": (FULL, "x / max(sqrt(sum(x*x)), 1e-12)")})

    def test_mean_and_variance_share_a_pass(self):
        text = self.assert_right({"x": FULL}, {"y": (FULL, "d = x - mean(x); d / sqrt(mean(square(d)) + eps)")})
        self.assertEqual(text.count("for at in range("), 2)
        shapes = [[2, 50000], [9, 5], [300, 6], [3, 4095], [24, 16400], [1, 1]]
        for rows, whole in [("d = x - sum(x)/size(x); d * rsqrt(sum(d**2)/size(x) + eps)", "var(x) + mean(x)"),
                            ("(x - mean(x, all)) * rsqrt(var(x, all) + eps)", "mean(x, all) + x - x")]:
            column = COLUMN if "all" not in rows else FULL
            text = self.assert_same_on_all_chips({"x": FULL}, {"y": (FULL, rows), "z": (column, whole)}, shapes,
                                                 generate="1000 + randn")
            self.assertEqual(text.count("for at in range("), 2)

    def test_outputs_share_steps(self):
        text = self.assert_right({"x": FULL, "r": FULL, "gamma": "[$n]"},
                                 {"s": (FULL, "x + r"), "y": (FULL, "s * rsqrt(mean(s*s) + eps) * gamma")})
        self.assertEqual(text.count("tl.load_rows(r + "), 2) # in the first pass, and again where rows come in pieces
        self.assert_right({"x": FULL}, {"mu": ("$lead", "mean(x)"), "y": (FULL, "(x - mu) * rsqrt(var(x) + eps)")},
                          shapes=[shape for shape in SHAPES if shape[-1] > 1])

    def test_parts_of_rows(self):
        shapes = [shape[:-1] + [shape[-1] // 2 * 2 or 2] for shape in SHAPES]
        text = self.assert_right({"x": FULL}, {"y": (HALF, "silu(x[:size(x)//2]) * x[size(x)//2:]")}, shapes=shapes)
        self.assertIn("for block in range(", text)
        self.assert_right({"x": FULL}, {"y": (HALF, "h = gelu(x[:-size(x)//2]) * x[size(x)//2:]; h / (sum(h*h) + 1)")},
                          shapes=shapes)
        self.assert_right({"x": FULL}, {"y": (FULL, "x - x[0]"), "z": (COLUMN, "x[-1]")},
                          shapes=[shape for shape in SHAPES if shape[0]])

    def test_positions(self):
        some = [shape for shape in SHAPES if shape[0]]
        text = self.assert_right({"x": FULL}, {"y": (FULL, "where(index(x, -1) <= index(x, -2), x, 0)")})
        self.assertIn("tl.iota(", text)
        self.assertIn("row % period", text)
        self.assert_right({"x": FULL}, {"y": (FULL, "softmax(where(index(x) < index(x, -2) + 3, x, -10000))"),
                                        "first": (COLUMN, "amin(where(x == amax(x), index(x), 1e6))", "float32")})
        self.assert_right({"x": FULL, "z": FULL}, {"y": (FULL, "index(x) * 0.5 - index(x, -2)"), "t": (ONE, "mean((x - z) * index(x), all)")},
                          shapes=some)
        shapes = [[2, 3, 1000], [5, 1, 7], [9, 40, 3], [1, 1, 1]]
        self.assert_right({"x": FULL}, {"y": (FULL, "x * (index(x, 0) + 1) + index(x, 1) - index(x, 2)")}, shapes=shapes)
        self.assert_right({"x": FULL}, {"y": (FULL, "x + index(x, 1) * 100 + index(x, -2) * 10 + index(x, 0)")},
                          shapes=[[2, 3, 5, 7], [4, 30, 3, 100], [3, 1, 9, 2]])
        self.assert_right({"x": FULL}, {"y": (HALF, "s = x + index(x); s[size(x)//2:] * index(s[size(x)//2:])")},
                          shapes=[[4, 8], [3, 1000], [2, 12002]])
        for formula, message in [("x + index(x, 0)", "the planner counts axes from the end where cases differ in their number"),
                                 ("x + index(x + 1, -2)", "the planner has no plan for rows' positions in what is no input")]:
            process = akgen("dsl", "write", self.task({"x": FULL}, {"y": (FULL, formula)}))
            self.assertEqual(process.returncode, 1)
            self.assertIn(message, process.stderr)
        process = akgen("dsl", "write", self.task({"x": FULL}, {"y": (FULL, "sum(x, 0) * x + index(x)")}, shapes=shapes))
        self.assertIn("the planner has no plan for positions beside sums along other axes than the last", process.stderr)

    def test_rows_put_together(self):
        shapes = [[3, 34], [1, 4], [7, 8], [2, 50000], [300, 6], [2, 3, 1000], [0, 8], [1, 4098]]
        text = self.assert_right({"x": FULL, "dy": HALF}, {"dx": (FULL, "n = size(x) // 2; s = sigmoid(x[:n]); concat(dy * x[n:] * s, dy * x[:n] * s)")},
                                 shapes=shapes)
        self.assertEqual(text.count("tl.store_rows(dx + "), 2)
        self.assert_right({"x": FULL, "z": FULL}, {"y": ("$lead + [2 * $n + 1]", "c = concat(concat(x, sum(z)), z - mean(z)); c"), "t": (FULL, "x * z")},
                          shapes=[[3, 33], [2, 20000], [40, 7], [1, 1]])
        self.assert_right({"x": FULL, "z": FULL}, {"y": ("$lead + [2 * $n]", "concat(x, z)")}, shapes=shapes[:4])
        self.assert_right({"x": FULL, "z": FULL}, {"y": ("$lead + [2 * $n]", "concat(x > z, round(z))", "int32")}, shapes=shapes[:4])
        for formula, message in [("concat(x, z)[:size(x)] + x", "the planner puts rows together at the end alone, as an output"),
                                 ("c = concat(x, z); sum(c) + x", "the planner puts rows together at the end alone")]:
            process = akgen("dsl", "write", self.task({"x": FULL, "z": FULL}, {"y": (FULL, formula)}))
            self.assertEqual(process.returncode, 1)
            self.assertIn(message, process.stderr)

    def test_broadcasts(self):
        self.assert_right({"x": FULL, "b": "[$n]", "c": COLUMN}, {"y": (FULL, "(x + b) * c - b / c")},
                          generate="uniform(1, 2)")
        self.assert_right({"x": FULL, "b": "[$n]"},
                          {"y": (FULL, "x > mean(x) ? b : where(x < b, 0, clamp(x, -1, eps))"), "z": (FULL, "max(x)")})

    def test_running_sums(self):
        self.assert_right({"x": FULL}, {"y": (FULL, "cumsum(x)")})
        self.assert_right({"x": FULL, "z": FULL}, {"y": (FULL, "c = cumsum(x); c / (1 + amax(abs(c)))"),
                                                   "s": (COLUMN, "sum(cumsum(x) * z)")})

    def test_losses(self):
        some = [shape for shape in SHAPES if shape[0]]
        text = self.assert_right({"x": FULL, "t": FULL}, {"y": (ONE, "mean((x - t)**2, all)")}, shapes=some)
        self.assertIn("tl.sync_all()", text)
        self.assert_right({"x": FULL, "t": FULL},
                          {"y": (ONE, "d = abs(x - t); mean(d < 1 ? 0.5*d*d : d - 0.5, all)")}, shapes=some)
        self.assert_right({"x": FULL, "t": FULL}, {"y": (ONE, "var(min(x - t), all)")}, shapes=some)    # of a number of each row, twice
        self.assert_right({"x": FULL, "t": FULL}, {"y": (ONE, "mean(-sum(log_softmax(x) * softmax(t)), all)")},
                          shapes=some)
        self.assert_right({"x": FULL}, {"y": (FULL, "(x - mean(x, all)) / sqrt(var(x, all) + eps)"),
                                        "z": (ONE, "sqrt(sum(x*x, all)) + amax(x, all)")}, shapes=some)

    def assert_same_on_all_chips(self, inputs, outputs, shapes, **keywords):
        """48 and 40 vector cores give the same bytes."""
        text = self.assert_right(inputs, outputs, shapes=shapes, **keywords)
        task, project = self.folder / "mine" / "level1" / "Math" / "Own", self.folder / "project"
        for case in range(len(shapes)):
            for name in outputs:
                results = []
                for chip in ["Ascend910B2", "Ascend910B3"]:
                    result = self.folder / f"{chip}.npy"
                    process = akgen("run", task, project, "--case", case, "--soc", chip, f"--dump={name}={result}")
                    self.assertTrue(result.exists(), process.stdout + process.stderr)
                    results.append(result.read_bytes())
                    result.unlink()
                self.assertEqual(*results, f"{outputs}: {name} of {shapes[case]}")
        return text

    def test_a_size_that_only_the_host_function_asks_for(self):
        self.assert_right({"x": FULL, "t": FULL}, {"y": (ONE, "sum(abs(x - t), all) / size(x[0], all)")},
                          shapes=[[3, 33], [300, 5]])

    def test_what_is_taken_of_all_is_the_same_for_any_number_of_cores(self):
        shapes = [[300, 517], [40007], [9001, 3], [11]] # the first two in float32 and float16
        self.assert_same_on_all_chips({"x": FULL, "t": FULL}, {"y": (ONE, "mean((x - t)**2, all)")}, shapes)
        self.assert_same_on_all_chips({"x": FULL, "t": FULL},
                                      {"y": (ONE, "mean(-sum(log_softmax(x) * softmax(t)), all)")}, shapes)
        self.assert_same_on_all_chips({"x": FULL, "b": "[$n]"}, {"y": (ONE, "sum(x*b, all)"),
                                                                 "z": (FULL, "x * b / sqrt(mean(x*b*x, all))")}, shapes,
                                      generate="uniform(1, 2)")

    def test_cores_share_few_long_rows(self):
        shapes = [[1, 40009], [2, 50000], [24, 16401], [25, 16401], [0, 20000], [3, 16384], [2, 3, 7]]
        text = self.assert_same_on_all_chips({"x": FULL}, {"y": (FULL, "softmax(x)"), "m": (COLUMN, "amin(x)")}, shapes)
        tile = int(re.search(r"tile: tl.constexpr = (\d+)", text)[1])
        task, project = self.folder / "mine" / "level1" / "Math" / "Own", self.folder / "project"
        busy = [case["run"]["cores_busy"] for case in verdict(task, project, "--profile", "strict")["cases"]]
        self.assertEqual(busy[:4], [40009 // tile, 2 * min(24, 50000 // tile), 24 * 2, 25])
        self.assert_same_on_all_chips({"x": FULL, "t": FULL}, {"y": (ONE, "mean(log_softmax(x)*t, all)"),
                                                               "z": (COLUMN, "logsumexp(t) + mean(x)")}, shapes[:4])

    def test_integers_and_truth_values(self):
        text = self.assert_right({"x": FULL, "q": (FULL, "int8", "randint(-128, 128)"), "m": ("[$n]", "bool", "randbool"),
                                  "k": (COLUMN, "int32", "randint(0, 9)")},
                                 {"y": (FULL, "(m ? q : -q) * x + k"), "s": (FULL, "a = amax(abs(x))/127 + 1e-6; x / a", "int8"),
                                  "b": (FULL, "x == amax(x)", "bool"), "n": ("$lead", "sum(x > 0)", "int32")},
                                 shapes=[shape for shape in SHAPES if shape[0]][:5])
        self.assertIn("q_in_ub = tl.alloc_ub(tile, dtype=q.dtype)", text)
        self.assertIn('tl.cast(s_out_ub, value1_ub, round="zero", ', text)

    def test_names_of_the_program_make_way(self):
        text = self.assert_right({"m": FULL, "rows": "[$n]"},
                                 {"x_ub": (FULL, "(m - mean(m)) * rows"), "first": (COLUMN, "sum(m)")})
        self.assertIn("first_ = tl.program_id(0) // sharing * per_core", text)


if __name__ == "__main__":
    unittest.main()
