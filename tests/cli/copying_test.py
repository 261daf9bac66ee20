#!/usr/bin/env python3
"""scripts/copying answers with the formulas of its input and reads nothing else; scripts/reword says them in other notations, of which it can copy none."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import HOME, akgen

COPYING, REWORD = HOME / "scripts/copying", HOME / "scripts/reword"
NORM = """RmsNorm
Over the last dimension: `rstd = 1 / sqrt(mean(x^2) + epsilon)`, `y = x * rstd * gamma`, computed in float32. `rstd` has one element per row.
in x float16 [128,256]
attr epsilon float
out y float16 [128,256]
out rstd float32 [128,1]
"""
WATCH = """
import re, sys
asked = []
code = compile(open(sys.argv[1]).read(), sys.argv[1], "exec")
sys.addaudithook(lambda event, what: asked.append(event) if event == "open" or event.split(".")[0] in ("os", "subprocess", "socket") else None)
exec(code, {"__name__": "__main__"})
sys.exit(" ".join(asked) or 0)
"""


def copied(prompt):
    """What it prints, in an empty folder and without any environment."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([COPYING], input=prompt, capture_output=True, text=True, cwd=folder, env={"PATH": "/usr/bin:/bin"}, check=True)
    return done.stdout


class Copying(unittest.TestCase):
    def test_what_it_copies(self):
        for text, outputs, answer in (
                ("`y = sqrt(x)`, elementwise.", "y", "y = sqrt(x)\n"),
                ("`y[t] = |x[t]|`, for every tensor `t`.", "y", "y = abs(x)\n"),
                ("`y = cosh(x) = (exp(x) + exp(-x)) / 2`", "y", "y = cosh(x)\n"),
                ("`x[i * incx] *= alpha` for `i < n`, in place", "x", "x = x * (alpha)\n"),
                ("`y[i]` is true (1) where `x1[i] < x2[i]`, else false", "y", "y = x1 < x2\n"),
                ("`s = a + b`, `q = 3`; `x1` becomes `s * g`, `x2` becomes `s`.", "x1 x2", "s = a + b\nx1 = s * g\nx2 = s\n"),
                # No formula in backquotes, none that is the output's, no output.
                ("y is the square root of x", "y", ""), ("$y = \\sqrt{x}$", "y", ""), ("`z = x`", "y", ""), ("`y = x`", "", "")):
            self.assertEqual(copied("Op\n" + text + "\n" + "".join(f"out {name} float16 [8]\n" for name in outputs.split())), answer)
        self.assertEqual(copied(NORM), "rstd = 1 / sqrt(mean(x**2) + epsilon)\ny = x * rstd * gamma\n")
        self.assertEqual(copied(""), "")

    def test_it_reads_its_input_alone(self):
        """Under an audit hook, which sees each file, process and connection that Python is asked for."""
        done = subprocess.run(["python3", "-c", WATCH, COPYING], input=NORM.replace("x * rstd", "open('/etc/passwd') * rstd"), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("y = open('/etc/passwd') * rstd * gamma\n", done.stdout)

    def test_reworded_tasks(self):
        said = {}
        with tempfile.TemporaryDirectory() as folder:
            for wording in ("shipped", "formula", "latex", "prose", "steps"):
                home = pathlib.Path(folder, wording)
                told = subprocess.run([REWORD, wording, home], capture_output=True, text=True, check=True).stdout
                self.assertEqual(told, f"65 tasks in {home}\n")
                done = akgen("gen", "Lerp", "--print-prompt", "--language", "graph", "--case", 0, env={"AKGEN_HOME": str(home)})
                self.assertEqual(done.returncode, 0, done.stderr)
                said[wording] = done.stdout.partition("Lerp\n")[2]
        end = said["shipped"].partition("\n")[2]  # a line for each tensor, the same in all
        self.assertEqual(said["shipped"], "`y = start + weight * (end - start)`, elementwise; all tensors have the same shape.\n" + end)
        self.assertEqual(said["formula"], "`y = start + weight * (end - start)`, elementwise.\n" + end)
        self.assertEqual(said["latex"], r"$y = \mathrm{start} + \mathrm{weight} \cdot (\mathrm{end} - \mathrm{start})$, elementwise." + "\n" + end)
        self.assertEqual(said["prose"], "`y` is the sum of `start` and the product of `weight` and the difference of `end` and `start`, elementwise.\n" + end)
        self.assertEqual(said["steps"], "For each element, subtract start from end, then multiply weight by the result, then add the result to start, and store that in y.\n" + end)
        self.assertEqual([copied("Lerp\n" + said[wording]) for wording in ("shipped", "formula")], ["y = start + weight * (end - start)\n"] * 2)
        self.assertEqual([copied("Lerp\n" + said[wording]) for wording in ("latex", "steps")], [""] * 2)


if __name__ == "__main__":
    unittest.main()
