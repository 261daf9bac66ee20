#!/usr/bin/env python3
"""akgen dsl: programs that Python reads are read as Python reads them, and formatting changes none; what it says of
others, and where."""
import ast
import json
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME

SEED = 20261123
NAMES = ["x", "y_ub", "tile", "n", "pid", "size_2"]


PROGRAM = """import tile.language as tl


# y = sqrt(x), tile by tile.
@ascend_kernel
def sqrt_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    end = min(start + per_core, total)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            tl.vsqrt(y_ub, x_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def sqrt_host(x: torch.Tensor, y: torch.Tensor):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), total)
    sqrt_kernel[cores](x, y, total, tl.cdiv(total, cores), 4096)
"""


def akgen(*arguments, text=None):
    return subprocess.run([AKGEN, "dsl", *arguments], capture_output=True, text=True, input=text, timeout=60)


class Programs:
    """Programs at random in the part of Python that the grammar of docs/dsl.md gives, as Python's own trees."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self, context=ast.Load):
        return ast.Name(self.random.choice(NAMES), context())

    def expr(self, depth):
        if depth <= 0:
            return self.random.choice([self.name, lambda: ast.Constant(self.random.randrange(1 << 40)),
                                       lambda: ast.Constant(self.random.random() * 1e3), lambda: ast.Constant(True),
                                       lambda: ast.Constant(None), lambda: ast.Constant("it's \"so\"\\")])()
        inner = lambda: self.expr(depth - 1 - self.random.randrange(2))
        return self.random.choice([
            lambda: ast.BinOp(inner(), self.random.choice([ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
                                                           ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift,
                                                           ast.RShift])(), inner()),
            lambda: ast.UnaryOp(self.random.choice([ast.USub, ast.Not])(), inner()),
            lambda: ast.Compare(inner(), [self.random.choice([ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.Is,
                                                              ast.IsNot])()], [inner()]),
            lambda: ast.BoolOp(self.random.choice([ast.And, ast.Or])(), [inner(), inner()]),
            lambda: ast.IfExp(inner(), inner(), inner()),
            lambda: ast.Call(ast.Attribute(self.name(), "load", ast.Load()), [inner() for _ in range(3)],
                             [ast.keyword("mask", inner())]),
            lambda: ast.Call(self.name(), [], []),
            lambda: ast.Subscript(self.name(), inner(), ast.Load()),
            lambda: ast.Subscript(self.name(), ast.Slice(self.random.choice([None, inner()]),
                                                         self.random.choice([None, inner()])), ast.Load()),
            lambda: ast.Tuple([inner() for _ in range(self.random.randrange(4))], ast.Load()),
            lambda: ast.List([inner() for _ in range(self.random.randrange(4))], ast.Load()),
        ])()

    def block(self, depth):
        return [self.statement(depth) for _ in range(self.random.randrange(1, 4))]

    def statement(self, depth):
        simple = [
            lambda: ast.Expr(self.expr(3)),
            lambda: ast.Assign([self.name(ast.Store)], self.expr(4), lineno=0),
            lambda: ast.Assign([ast.Tuple([self.name(ast.Store), self.name(ast.Store)], ast.Store())], self.expr(2),
                               lineno=0),
            lambda: ast.AugAssign(self.name(ast.Store), self.random.choice([ast.Add, ast.FloorDiv, ast.LShift])(),
                                  self.expr(3)),
            lambda: ast.AnnAssign(self.name(ast.Store), self.name(), self.expr(2), simple=1),
            lambda: ast.Assert(self.expr(2), ast.Constant("why")),
            ast.Pass,
        ]
        nested = [
            lambda: ast.If(self.expr(2), self.block(depth - 1), self.block(depth - 1)),
            lambda: ast.If(self.expr(2), self.block(depth - 1), []),
            lambda: ast.For(self.name(ast.Store), self.expr(2), self.block(depth - 1), [], lineno=0),
            lambda: ast.While(self.expr(2), self.block(depth - 1), []),
            lambda: ast.With([ast.withitem(self.expr(1))], self.block(depth - 1), lineno=0),
        ]
        return self.random.choice(simple + (nested if depth else []))()

    def function(self):
        parameters = ast.arguments(posonlyargs=[], args=[ast.arg("a"), ast.arg("b", self.name())], kwonlyargs=[],
                                   kw_defaults=[], defaults=[self.expr(1)])
        return ast.FunctionDef("kernel", parameters, [ast.Expr(ast.Constant("What it does.\n\nAnd why."))] +
                               self.block(3) + [ast.Return(self.expr(1))], [self.name()], lineno=0)

    def program(self):
        return ast.unparse(ast.fix_missing_locations(ast.Module([self.function(), *self.block(2)], [])))


class Flat(ast.NodeTransformer):
    """(a or b) or c as a or b or c."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.BoolOp) and isinstance(first.op, type(node.op)):
            node.values[:1] = first.values
        return node


def same(text):
    """What Python reads."""
    return ast.dump(Flat().visit(ast.parse(text)))


class Dsl(unittest.TestCase):
    def test_python_is_the_oracle(self):
        programs = Programs(SEED)
        for number in range(150):
            text = programs.program()
            done = akgen("fmt", "-", text=text)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"program {number}\n{text}")
            self.assertEqual(same(done.stdout), same(text), f"program {number}\n{text}\n{done.stdout}")
            again = akgen("fmt", "-", text=done.stdout)
            self.assertEqual(again.stdout, done.stdout, f"program {number}\n{text}")

    def test_format_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            good, other = pathlib.Path(folder, "good.py"), pathlib.Path(folder, "other.py")
            good.write_text("x = 1\n")
            other.write_text("x=1  # one\n")
            check = akgen("fmt", "--check", good, other)
            self.assertEqual((check.returncode, check.stdout), (1, f"{other}\n"))
            self.assertEqual(other.read_text(), "x=1  # one\n")
            self.assertEqual(akgen("fmt", good, other).returncode, 0)
            self.assertEqual(other.read_text(), "x = 1  # one\n")
            other.write_text("x = (\n")
            wrong = akgen("fmt", other)
            self.assertEqual((wrong.returncode, other.read_text()), (1, "x = (\n"))
            self.assertIn(f"{other}:1:6: error: ", wrong.stderr)

    def test_check(self):
        done = akgen("check", "--json", "-", text="x = lambda: 1\ny = )\n")
        self.assertEqual(done.returncode, 1)
        [file] = json.loads(done.stdout)
        self.assertEqual((file["file"], file["errors"]), ("-", 2))
        first, second = file["messages"]
        self.assertEqual((first["line"], first["column"], first["length"], first["rule"], first["source"]),
                         (1, 5, 6, "not-in-the-language", "x = lambda: 1"))
        self.assertEqual((second["line"], second["rule"], second["remedy"]), (2, "syntax", "write an expression before ')', or take ')' away"))
        missing = akgen("check", "-", text="x = 1\n")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("-:1:1: error: the program has no kernel [functions]", missing.stderr)
        good = akgen("check", "-", text=PROGRAM)
        self.assertEqual((good.returncode, good.stdout, good.stderr), (0, "", ""))

    def test_run(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "sqrt.py")
            program.write_text(PROGRAM)
            done = akgen("run", program, "--task", "level1/Math/Sqrt", "--case", "1")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "case 1: upstream right strict right\n", ""))
            program.write_text(PROGRAM.replace("tl.vsqrt(y_ub, x_ub)", "tl.vmul(y_ub, x_ub, x_ub)"))
            wrong = akgen("run", program, "--task", "level1/Math/Sqrt", "--case", "1")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("upstream wrong: ", wrong.stdout)
            program.write_text(PROGRAM.replace(", mask=offsets < end)", ")"))
            past = akgen("run", program, "--task", "multikernelbench/level1/Activation/Relu", "--case", "2")
            self.assertEqual((past.returncode, past.stdout), (1, "case 2: stopped\n"))
            self.assertIn("sqrt.py:14:16: error: element 231 of 'x', which has 231 [bounds]", past.stderr)
            self.assertEqual(akgen("run", program).returncode, 2)
            self.assertEqual(akgen("run", program, "--task", "Nothing").returncode, 2)

    def test_usage(self):
        for arguments in ((), ("check",), ("parse", "x.py")):
            self.assertEqual(akgen(*arguments).returncode, 2)
        missing = akgen("check", "/no/such/file.py")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("/no/such/file.py", missing.stderr)

    def test_page_has_each_rule_and_operation(self):
        rules = re.findall(r'RULE\(\w+, "([^"]+)",\s*"([^"]+)"\)', (HOME / "src/dsl/rules.def").read_text())
        operations = re.findall(r'^OPERATION\((\w+), \w+, "([^"]*)", \w+\)',
                                (HOME / "src/dsl/operations.def").read_text(), re.M)
        page = (HOME / "docs/dsl.md").read_text()
        self.assertGreater(min(len(rules), len(operations)), 10)
        self.assertEqual(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", page.split("## Rules")[1], re.M), rules)
        signatures = ["tl.%s(%s)" % (name, ", ".join(p.split(":")[0] + "=" * p.endswith("?") for p in parameters.split()))
                      for name, parameters in operations]
        self.assertEqual(re.findall(r"^\| `(tl\.\w+\(.*?\))` \|", page, re.M), signatures)

    def test_page_says_of_each_instruction_what_reaches_it(self):
        operations = set(re.findall(r"^OPERATION\((\w+),", (HOME / "src/dsl/operations.def").read_text(), re.M))
        section = (HOME / "docs/dsl.md").read_text().split("## What of the machine it reaches\n")[1].split("\n## ")[0]
        tables = [[row.split(" | ") for row in re.findall(r"^\| `.*", table, re.M)] for table in section.split("| functions |")]
        for (file, macro), rows in zip((("isa.def", "NPU_INSN"), ("adv.def", "NPU_ADV")), tables):
            of_table = re.findall(rf"^{macro}\((\w+),", (HOME / "include/abi" / file).read_text(), re.M)
            listed = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
            self.assertEqual(sorted(listed), sorted(of_table), file)
            for row in rows:
                reached, remark = re.findall(r"`(\w+)`", row[1]), row[-1].strip(" |")
                self.assertTrue(reached or remark, row)
                self.assertLessEqual(set(reached), operations, row)


if __name__ == "__main__":
    unittest.main()
