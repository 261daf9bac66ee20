#!/usr/bin/env python3
# test: builds=release cost=60
"""akgen dsl write: formulas along any axis. Their programs are right on the machine, without automatic synchronisation, in any
order of the cores, and as the interpreter computes them; shapes are such that nothing divides them, from one element on."""
import pathlib
import tempfile
import unittest

from akgen_program import akgen, verdict

TYPES = ["float32", "float16", "bfloat16"]
MATRICES = [[3, 33], [1, 1], [50000, 2], [300, 5], [4097, 1], [2, 50000], [7, 0]]
BATCHES = [[2, 3, 33], [1, 1, 1], [5, 300, 70], [50, 7, 3], [3, 4097, 1], [2, 2, 5000]]
IMAGES = [[2, 3, 5, 7], [1, 1, 1, 1], [3, 64, 7, 9], [2, 7, 1, 1], [1, 1000, 3, 11], [2, 5, 50, 70]]
RANKS = [[2, 3, 33], [7, 8], [3, 5, 2, 9], [300, 7], [5, 4097, 2]]
FULL, ONE, CHANNELS = "$shape", "[1]", "[$shape[1], 1, 1]"


def of_several(shapes, *axes):
    """The shapes that have several elements along these axes, so that their variance is not 0."""
    return [shape for shape in shapes if any(shape[axis] > 1 for axis in axes)]


class Axes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-axis-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def task(self, inputs, outputs, shapes):
        task = self.folder / "mine" / "level1" / "Math" / "Own"
        task.mkdir(parents=True, exist_ok=True)
        types = f'    dtype: "$dtype"\n    types: [{", ".join(TYPES)}]\n'
        text = "suite: mine\nlevel: 1\ncategory: Math\nop: Own\nreference: formula\nvary: sizes\ninputs:\n"
        for name, shape in inputs.items():
            text += f'  - name: {name}\n    shape: "{shape}"\n{types}    generate: "uniform(-4, 4)"\n'
        text += "outputs:\n"
        for name, (shape, formula) in outputs.items():
            text += f'  - name: {name}\n    shape: "{shape}"\n{types}    formula: "{formula}"\n'
        (task / "task.yaml").write_text(text + 'attrs:\n  - name: eps\n    type: float\n    value: "1e-5"\n')
        rows = [f"{i};{shape};{TYPES[i % 3]}\n" for i, shape in enumerate(shapes)]
        (task / "cases.csv").write_text("case_id;shape;dtype\n" + "".join(rows))
        (task / "desc.md").write_text("own\n")
        return task

    def assert_right(self, inputs, outputs, shapes):
        task = self.task(inputs, outputs, shapes)
        program, project = self.folder / "program.py", self.folder / "project"
        process = akgen("dsl", "write", task, "-o", program)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        self.assertEqual(akgen("dsl", "fmt", "--check", program).returncode, 0)
        process = akgen("dsl", "check", program, "--task", task)
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        process = akgen("dsl", "build", program, "--task", task, "-o", project, "--verify")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process.stdout)
        result = verdict(task, project, "--profile", "strict", "--sync", "manual", "--schedule", "random:2",
                         "--strict-order")
        self.assertEqual(result["verdict"], "pass", f"{outputs}: {result['reason']}")
        return program.read_text()

    def assert_no_plan(self, inputs, outputs, shapes, message):
        process = akgen("dsl", "write", self.task(inputs, outputs, shapes))
        self.assertEqual(process.returncode, 1)
        self.assertIn(message, process.stderr)
        self.assertEqual(process.stderr.count("\n"), 1, process.stderr)

    def test_sums_of_columns(self):
        text = self.assert_right({"x": FULL}, {"y": ("$shape[1:]", "sum(x, 0)"), "z": ("[1, $shape[1]]", "amax(x, -2)")},
                                 [shape for shape in MATRICES if shape[1]])
        self.assertEqual(text.count("tl.load_rows("), 1)
        self.assertIn("tl.col_sum(", text)
        self.assert_right({"x": FULL}, {"y": ("[$shape[0], $shape[2]]", "logsumexp(x, 1)"),
                                        "z": (FULL, "(x - mean(x, 1)) * rsqrt(var(x, 1) + 1)")}, BATCHES)

    def test_softmax_over_channels(self):
        text = self.assert_right({"x": FULL}, {"y": (FULL, "softmax(x, 1)")}, IMAGES)
        self.assertIn("if step < rows:", text)
        self.assertEqual(text.count("for row in range("), 2)

    def test_ranks_differ(self):
        self.assert_right({"x": FULL}, {"y": (FULL, "softmax(x, 1)")}, RANKS)
        self.assert_right({"x": FULL}, {"y": (FULL, "log_softmax(x, -2)")}, RANKS)

    def test_running_sums(self):
        text = self.assert_right({"x": FULL}, {"y": (FULL, "cumsum(x, 0)")}, MATRICES)
        self.assertNotIn("tl.transpose(", text)
        self.assert_right({"x": FULL, "z": FULL}, {"y": (FULL, "c = cumsum(x, 1); c / (1 + amax(abs(c), 1)) + z"),
                                                   "s": ("replace($shape, 1, 1)", "amin(c * z, 1)")}, BATCHES)

    def test_outputs_larger_than_their_values(self):
        """Rows, columns and matrices of the batch that the output alone has; the host function refuses other shapes."""
        text = self.assert_right({"x": "$shape[1:]"}, {"y": (FULL, "x")}, [shape for shape in MATRICES if shape != [1, 1]])
        self.assertIn("tl.broadcast_row(", text)
        self.assertIn('assert y.numel() == rows * cols, "\'y\' has another shape"', text)
        self.assert_right({"x": "[$shape[0], 1]"}, {"s": ("[$shape[0]]", "abs(x)"), "y": (FULL, "s * 2 + index(x, 0)")}, [[3, 33], [5, 2], [300, 7]])
        self.assert_right({"x": "$shape[1:]"}, {"y": ("[$shape[0], $shape[1] - 1]", "x[1:]"), "z": ("[$shape[0], 2 * $shape[1]]", "concat(x, exp(x))")},
                          [[3, 33], [5, 2], [300, 5000]])
        text = self.assert_right({"x": "replace($shape, 1, 1)"}, {"y": (FULL, "x * 2")}, BATCHES)
        self.assertIn("batches", text)
        self.assert_right({"x": "replace($shape, 1, 1)", "z": FULL}, {"s": ("replace($shape, 1, 1)", "sum(z, 1)"), "y": (FULL, "exp(-x)")},
                          [[2, 3, 33], [5, 300, 70], [50, 7, 3]])
        self.assert_right({"x": "[$shape[0], 1, $shape[2], 1]"}, {"y": (FULL, "sin(x)")}, IMAGES[:3])
        self.assert_right({"x": "[1, $shape[1], 1, 1]"}, {"y": (FULL, "x + 1")}, IMAGES[:3])
        self.assert_right({"x": "[$shape[0] - $shape[0] + 1, 1]"}, {"y": (FULL, "x")}, [[3, 33], [7, 1], [1, 5]])
        self.assert_no_plan({"x": FULL}, {"y": (FULL, "x[:1]")}, [[3, 33], [5, 2]],
                            "output 'y' has the shape [3, 33], its value [3, 1], which the planner has no plan to stretch")
        self.assert_no_plan({"x": "$shape[1:]"}, {"y": (FULL, "softmax(x)")}, [[3, 33]], "rows that are the same for all rows")
        self.assert_no_plan({"x": "replace(replace($shape, 1, 1), 3, 1)"}, {"y": ("$shape", "x")}, [[2, 3, 4, 5, 6], [2, 3, 7, 5, 6]],
                            "into more than a batch, rows and columns")

    def test_positions_in_the_output(self):
        text = self.assert_right({"x": ONE}, {"y": (FULL, "x + index(y) * 3")}, [[7], [5000], [1]])
        self.assertIn("total = y.numel()", text)
        self.assert_right({"x": ONE}, {"y": (FULL, "index(y) - index(y, 0) * x")}, [[3, 33], [5, 2], [300, 7]])
        self.assert_right({"x": ONE}, {"y": (FULL, "where(index(y, -1) <= index(y, -2), x, 0)")}, [[3, 33], [4, 5, 6], [7, 7]])
        self.assert_right({"x": "$shape[1:]"}, {"y": (FULL, "i = index(y, 0); x * i + index(y, -1)")}, [[3, 33], [5, 2], [300, 7]])
        self.assert_right({"x": FULL}, {"s": ("[$shape[0]]", "sum(x)"), "y": (FULL, "x + index(y) * s")}, [[3, 33], [5, 2], [300, 7]])
        self.assert_no_plan({"x": FULL}, {"y": (FULL, "softmax(x, 1) + index(y, 1)")}, [[2, 3, 33]], "no plan for positions beside sums along other axes")

    def test_batch_norm(self):
        parameters = {name: CHANNELS for name in ("mu", "v", "gamma", "beta")}
        text = self.assert_right({"x": FULL, **parameters},
                                 {"y": (FULL, "(x - mu) * rsqrt(abs(v) + eps) * gamma + beta")}, IMAGES)
        self.assertIn("tl.vsub_col(", text)
        text = self.assert_right({"x": FULL, "gamma": CHANNELS, "beta": CHANNELS},
                                 {"y": (FULL, "m = mean(x, 0, 2, 3); v = var(x, 0, 2, 3); "
                                              "(x - m) * rsqrt(v + eps) * gamma + beta"),
                                  "mean": ("[$shape[1]]", "m"), "variance": ("[$shape[1]]", "v")},
                                 of_several(IMAGES, 0, 2, 3))
        self.assertEqual(text.count("for batch in range(batches):"), 2)
        self.assert_right({"x": FULL, "gamma": "[$shape[3]]"},
                          {"y": (FULL, "(x - mean(x, 0, 1, 2)) * rsqrt(var(x, 0, 1, 2) + eps) * gamma")},
                          of_several(IMAGES, 0, 1, 2))

    def test_norms_over_several_last_axes(self):
        shapes = of_several(IMAGES, 2, 3)
        text = self.assert_right({"x": FULL}, {"y": (FULL, "(x - mean(x, -2, -1)) * rsqrt(var(x, 2, 3) + eps)")}, shapes)
        self.assertIn("x.shape[-1] * x.shape[-2]", text)
        self.assert_right({"x": FULL, "gamma": CHANNELS},
                          {"y": (FULL, "(x - mean(x, 2, 3)) * rsqrt(var(x, 2, 3) + eps) * gamma")}, shapes)

    def test_what_is_stretched(self):
        self.assert_right({"x": FULL, "g": "[$shape[2]]", "h": "[$shape[1], 1]", "k": "[$shape[0], 1, $shape[2]]"},
                          {"y": (FULL, "s = softmax(x * g + h - k, 1); s * h - g / (2 + k*k)"),
                           "u": ("replace($shape, 1, 1)", "amax(abs(s), 1)")}, BATCHES)
        self.assert_right({"x": FULL, "g": CHANNELS}, {"y": (FULL, "x > mean(x, 1) ? x : where(g < x, g, 3 - x)"),
                                                       "z": (FULL, "mean(x, 1)")}, IMAGES)
        self.assert_right({"x": FULL}, {"y": ("[$shape[0], $shape[2]]", "sum(x, 1) / size(x, 1) - size(x, 0, 2)")}, BATCHES)

    def test_a_number_for_each_of_the_batch(self):
        text = self.assert_right({"x": FULL, "g": "[$shape[0], 1, 1]"},
                                 {"y": (FULL, "softmax(x * g, 1) + g"), "l": (ONE, "mean(g * amax(x, 1), all)")}, BATCHES)
        self.assertIn("tl.extract_scalar(g, batch)", text)

    def test_a_part_of_the_batch(self):
        heads = {"mask": "[$shape[0], 1, $shape[2], $shape[3]]", "scale": "[$shape[0], 1, 1, 1]"}
        text = self.assert_right({"x": FULL, **heads},
                                 {"y": (FULL, "s = x * scale + mask; softmax(s)"), "l": ("$shape[:-1]", "logsumexp(s)"),
                                  "m": (ONE, "mean(s, all)")}, IMAGES)
        self.assertIn("batch // inner", text)
        text = self.assert_right({"x": FULL, "inner": "[$shape[1], 1, $shape[3]]", "g": CHANNELS},
                                 {"y": (FULL, "softmax(x + inner * g, 2)")}, [[5, *shape] for shape in BATCHES])
        self.assertIn("batch % inner_", text)
        self.assert_no_plan({"x": FULL, "g": "[$shape[0], 1, 1, $shape[3]]"},
                            {"y": (FULL, "softmax(x, 2)"), "z": ("[$shape[0], 1, 1, $shape[3]]", "g * 2 + g")}, IMAGES,
                            "output 'z' has some of the axes alone")

    def test_in_stages(self):
        some = [shape for shape in MATRICES if all(shape)][:5]
        row = "[$shape[1]]"
        text = self.assert_right({"x": FULL, "dy": FULL, "g": row},
                                 {"dx": (FULL, "h = x * rsqrt(mean(x*x) + 1); d = dy*g; d - h*mean(d*h)"), "dg": (row, "sum(dy*h, 0)"),
                                  "t": (ONE, "mean(amax(dy), all)")}, some)
        self.assertEqual(text.count("    tl.sync_all()\n    # stage "), 2)
        self.assertRegex(text, r"kept\d_gm = torch.empty\(rows\w*, dtype=tl.float32\)")
        text = self.assert_right({"x": FULL}, {"y": (FULL, "x - mean(x, 0) - mean(x) + mean(x, all)")}, some)
        self.assertEqual(text.count("    # stage "), 2)
        self.assert_right({"x": FULL, "g": "[$shape[1], $shape[2], 1]"},
                          {"y": (FULL, "m = mean(x, 2, 3); (x - m) * rsqrt(mean((x - m)**2, 2, 3) + eps) * g")}, IMAGES[:3])
        self.assert_right({"x": FULL, "m": "[$shape[0], $shape[1], 1]"},
                          {"y": ("[$shape[0], $shape[2]]", "sum(x * m, 1) / (sum(abs(m), 1) + 1)")},
                          BATCHES[:3])

    def test_an_axis_that_is_1_in_some_cases(self):
        shapes = [[2, 3, 5, 7], [2, 7, 1, 3], [3, 4, 7, 900], [1, 10, 3, 5000]]
        self.assert_right({"x": FULL, "mask": "[$shape[0], 1, 1, $shape[3]]"},
                          {"y": (FULL, "softmax(x * 0.5 + mask)"), "s": ("$shape[:-1]", "logsumexp(x * 0.5 + mask)")}, shapes)
        self.assert_right({"x": FULL, "g": CHANNELS},
                          {"y": (FULL, "d = x - mean(x, 1); d * rsqrt(mean(d*d, 1) + eps) * g")}, shapes)

    def test_of_all_beside_an_axis(self):
        text = self.assert_right({"x": FULL, "t": FULL},
                                 {"y": (ONE, "mean(-sum(log_softmax(x, 1) * softmax(t, 1), 1), all)")}, BATCHES)
        self.assertIn("tl.sync_all()", text)
        self.assert_right({"x": FULL}, {"y": (FULL, "x - mean(x, all)"), "z": (ONE, "mean(var(x, 0), all)")}, BATCHES)

    def test_names_of_the_program_make_way(self):
        text = self.assert_right({"rows": FULL, "unit": "[1, $shape[1], 1]"},
                                 {"batch": (FULL, "rows - amax(rows, 2) * unit")}, BATCHES)
        self.assertIn("for unit_ in range(first, last):", text)

    def test_what_has_no_plan(self):
        self.assert_no_plan({"x": FULL}, {"y": (FULL, "r = softmax(x, 0); r / sum(r)")}, MATRICES,
                            "sums go along different axes, which the planner has no plan for")
        self.assert_no_plan({"x": FULL, "g": "[$shape[1], $shape[2], 1]"}, {"y": (FULL, "g * softmax(x)"), "z": (FULL, "cumsum(x, 0)")},
                            IMAGES, "sums go along different axes")
        self.assert_no_plan({"x": FULL}, {"y": ("replace($shape, 2, 1)", "softmax(x, 1)[0]")}, BATCHES,
                            "no plan for a part of rows beside sums along other axes")

    def test_an_axis_that_a_case_has_not(self):
        process = akgen("task", "check", self.task({"x": FULL}, {"y": (FULL, "softmax(x, 2)")}, RANKS))
        self.assertEqual(process.returncode, 2)
        self.assertIn("cases.csv:3: formula: in 'softmax(x, 2)', column 12: the shape [7, 8] has no axis 2",
                      process.stdout + process.stderr)


if __name__ == "__main__":
    unittest.main()
