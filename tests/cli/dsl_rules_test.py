#!/usr/bin/env python3
# test: cost=13 labels=long
"""akgen dsl: each rule has a program that breaks it, and sizes that nobody thought of are tried without a task."""
import json
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME

RIGHT = """import tile.language as tl


@ascend_kernel
def scale_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=n)
        with tl.compute():
            tl.vmul_scalar(y_ub, x_ub, 2.0, count=n)
        with tl.copyout():
            tl.store(y + at, y_ub, count=n)


def scale_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), total)
    scale_kernel[cores](x, y, total, tl.cdiv(total, cores), tile)
"""

SOFTMAX = """@ascend_kernel
def softmax_kernel(x, y, rows, rows_per_core, tile, tiles, cols):
    first = tl.program_id(0) * rows_per_core
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for row in range(first, min(first + rows_per_core, rows)):
        largest = -math.inf
        for i in range(tiles):
            offsets = row * cols + i * tile + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x + offsets, x_ub)
            with tl.compute():
                tl.reduce_max(part_ub, x_ub, part_ub)
                largest = tl.max(largest, tl.extract_scalar(part_ub, 0))
        for i in range(tiles):
            offsets = row * cols + i * tile + tl.arange(0, tile)
            with tl.copyin():
                tl.load(x + offsets, x_ub)
            with tl.compute():
                tl.vsub_scalar(y_ub, x_ub, largest)
            with tl.copyout():
                tl.store(y + offsets, y_ub)


def softmax_host(x: torch.Tensor, y: torch.Tensor):
    rows, cols = x.shape
    cores = 32
    rows_per_core = tl.cdiv(rows, cores)
    tile = min(4096, cols)
    softmax_kernel[cores](x, y, rows, rows_per_core, tile, tl.cdiv(cols, tile), cols)
"""

SUM = """@ascend_kernel
def sum_kernel(x, y, sums, per_core, tile):
    pid = tl.program_id(0)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    sum_ub = tl.alloc_ub(tile, dtype=tl.float32)
    part_ub = tl.alloc_ub(tile, dtype=tl.float32)
    with tl.compute():
        tl.duplicate(sum_ub, 0.0)
    for i in range(per_core // tile):
        with tl.copyin():
            tl.load(x + pid * per_core + i * tile, x_ub)
        with tl.compute():
            tl.vadd(sum_ub, sum_ub, x_ub)
    with tl.compute():
        tl.reduce_sum(part_ub, sum_ub, x_ub)
    with tl.copyout():
        tl.store(sums + pid, part_ub, count=1)
    tl.sync_all()
    if pid == 0:
        with tl.copyin():
            tl.load(sums, x_ub, count=16)
        with tl.compute():
            tl.reduce_sum(part_ub, x_ub, sum_ub, count=16)
        with tl.copyout():
            tl.store(y, part_ub, count=1)


def sum_host(x: torch.Tensor, y: torch.Tensor):
    assert x.numel() % (16 * 512) == 0 and x.numel() > 0, "16 cores, whole tiles"
    sums = torch.empty(16, dtype=tl.float32)
    sum_kernel[16](x, y, sums, x.numel() // 16, 512)
"""

ROWS = """@ascend_kernel
def abs_kernel(x, y, rows, per_core, cols):
    first = tl.program_id(0) * per_core
    x_ub = tl.alloc_ub(1024, dtype=tl.float32)
    for row in range(first, min(first + per_core, rows)):
        with tl.copyin():
            tl.load(x + row * cols, x_ub, count=cols)
        with tl.compute():
            tl.vabs(x_ub, x_ub, count=cols)
        with tl.copyout():
            tl.store(y + row * cols, x_ub, count=cols)


def abs_host(x: torch.Tensor, y: torch.Tensor):
    rows, cols = x.shape
    assert rows > 0
    cores = min(tl.num_vec_cores(), rows)
    abs_kernel[cores](x, y, rows, tl.cdiv(rows, cores), cols)
"""

CHECK, RUN, BUILD = ("check",), ("run", "--task", "level1/Math/Sqrt", "--case", "1"), ("build", "--task", "level1/Math/Sqrt", "--print")
MATRIX = "    a = tl.alloc_l1((10, 16), dtype=tl.float32)\n    for at"

# The rule, the command, what stands in the right program, what stands there instead, the line that is told.
BROKEN = [
    ("text", CHECK, "import tile", "\x01import tile", 1),
    ("indentation", CHECK, "        n = min", "       n = min", 12),
    ("syntax", CHECK, "total = x.numel()", "total = = x.numel()", 21),
    ("not-in-the-language", CHECK, "total = x.numel()", "total = lambda: 1", 21),
    ("number", CHECK, "2048", "99999999999999999999", 20),
    ("depth", CHECK, "total = x.numel()", "total = " + "(" * 40 + "1" + ")" * 40, 21),
    ("extent", CHECK, "    for at in", "".join(f"    v{i} = {i}\n" for i in range(2048)) + "    for at in", 5),
    ("functions", CHECK, "@ascend_kernel\n", "\n", 5),
    ("launch", CHECK, ", tile)\n", ")\n", 25),
    ("names", CHECK, "end - at", "end - att", 11),
    ("types", CHECK, "2.0, count", "x, count", 15),
    ("arguments", CHECK, "tl.vmul_scalar(y_ub, x_ub, 2.0, count=n)", "tl.vmul_scalar(y_ub, x_ub)", 15),
    ("stages", CHECK, "with tl.compute():", "with tl.copyin():", 15),
    ("bounds", RUN, "tl.load(x + at, x_ub, count=n)", "tl.load(x + at, x_ub, count=n + 1)", 13),
    ("alignment", RUN, "tl.vmul_scalar(y_ub, x_ub, 2.0, count=n)", "tl.row_sum(y_ub, x_ub, 1, 5, 5)", 15),
    ("undefined", RUN, "tl.vmul_scalar(y_ub, x_ub, 2.0, count=n)", "tl.vmul_scalar(y_ub, x_ub, 2.0, count=n - 1)", 17),
    ("shared", RUN, "tl.store(y + at,", "tl.store(y + (at - start),", 17),
    ("coverage", RUN, "tl.cdiv(total, cores)", "tl.cdiv(total, cores) - 1", 25),
    ("neutral", CHECK, "    for at in", "    top = -1e30\n    for at in", None),
    ("arithmetic", RUN, "total == 0:\n", "total // (total - total):\n", 22),
    ("refused", RUN, "    total = x.numel()\n", "    total = x.numel()\n    assert total == 0, 'too large'\n", 22),
    ("fits", RUN, "2048", "100000", 8),
    ("not-compiled", BUILD, "tl.load(x + at, x_ub, count=n)", "tl.load(x + at + tl.arange(0, n) * n, x_ub)", 13),
    ("not-compiled", BUILD, "x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):\n",
     "x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 2048):\n    s = x.shape\n    w = torch.zeros(s, dtype=tl.float32)\n", 22),
]

# What sizes show: the program, what stands in it, what stands there instead, the rule, the line, what is said.
SIZES = [
    (RIGHT, "tl.cdiv(total, cores), tile", "total // cores, tile", "coverage", 25, "no core stores element"),
    (RIGHT, "min(start + per_core, total)", "start + per_core", "bounds", 13, "of 'x', which has"),
    (RIGHT, "n = min(tile, end - at)", "n = min(tile, total - at)", "shared", 17, "stored by core 0 and by core 1"),
    (RIGHT, "x_ub = tl.alloc_ub(tile,", "x_ub = tl.alloc_ub(60000,", "fits", 8, "does not fit into UB"),
    (RIGHT, "x_ub, 2.0, count=n", "x_ub[4:], 2.0, count=n - 4", "alignment", 15, "begins at element 4 of 'x_ub'"),
    (SOFTMAX, "rows_per_core = tl.cdiv(rows, cores)", "rows_per_core = rows // cores", "coverage", 29,
     "no core stores element"),
    (SOFTMAX, "", "", "shared", 23, "stored by core"),
    (SOFTMAX, "-math.inf", "-1e30", "neutral", 15, "elements below that are lost"),
    (SUM, "    tl.sync_all()\n", "    if pid == 15:\n        return\n", "shared", 22, "which core 0 stored, is read by core 0"),
    (SUM, "count=16)\n        with tl.copyout", "count=17)\n        with tl.copyout", "undefined", 23, "element 16 of 'x_ub'"),
]


def akgen(command, text):
    return subprocess.run([AKGEN, "dsl", command[0], "-", *command[1:]], capture_output=True, text=True, input=text,
                          timeout=120)


class Rules(unittest.TestCase):
    def test_each_rule_is_broken(self):
        rules = re.findall(r'^RULE\(\w+, "([^"]+)"', (HOME / "src/dsl/rules.def").read_text(), re.M)
        self.assertEqual(sorted({row[0] for row in BROKEN} | {"internal"}), sorted(rules))
        for rule, command, old, new, line in BROKEN:
            with self.subTest(rule=rule):
                text = RIGHT.replace(old, new, 1)
                if "zeros" in new:
                    text = text.replace("(x, y, total, ", "(x, y, w, total, ")
                if rule == "neutral":
                    text = text.replace("        n = min", "        top = max(top, 1.0)\n        n = min")
                self.assertNotEqual(text, RIGHT)
                done = akgen(command, text)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertRegex(done.stderr, rf"^-:{line or 12}:\d+: error: .* \[{rule}\]\n")

    def test_names_of_names(self):
        """Names that each mention the last twice: following all of them would take time of two to their number."""
        def chain(first, each):
            return f"    u0 = {first}\n" + "".join(f"    u{i + 1} = {each.replace('LAST', f'u{i}')}\n" for i in range(100))

        total = "    total = x.numel()\n"
        for old, new in (("    x_ub =", chain("2", "LAST + LAST") + "    b_ub = tl.alloc_ub(u100, dtype=tl.float32)\n    x_ub ="),
                         (total, chain("x.numel()", "min(LAST, max(LAST, 16) // 16 * 16, LAST)") + "    total = u100\n"),
                         (total, chain("x.numel()", "LAST // (LAST + 1) + LAST % 7") + "    total = x.numel() + u100 - u100\n")):
            with self.subTest(new=new[-60:]):
                start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                self.assertIn(akgen(CHECK, RIGHT.replace(old, new, 1)).returncode, (0, 1))
                self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start, 20)

    def test_right_programs(self):
        for text in (RIGHT, SUM, SOFTMAX.replace("i * tile + tl.arange(0, tile)", "i * tile + tl.arange(0, min(tile, cols - i * tile))")
                     .replace("tl.reduce_max(part_ub, x_ub, part_ub)", "tl.reduce_max(part_ub, x_ub, part_ub, count=min(tile, cols - i * tile))")
                     .replace("    cores = 32", "    assert rows * cols > 0\n    cores = 32")):
            done = akgen(CHECK, text)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_sizes(self):
        for program, old, new, rule, line, says in SIZES:
            with self.subTest(rule=rule, line=line):
                done = akgen(("check", "--json"), program.replace(old, new, 1) if old else program)
                self.assertEqual(done.returncode, 1)
                [file] = json.loads(done.stdout)
                [message] = file["messages"]
                self.assertEqual((message["rule"], message["line"]), (rule, line), message)
                self.assertIn(says, message["text"])
                self.assertTrue(message["remedy"])

    def test_what_sizes_show_is_not_built(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, (program, old, new, rule, line, _) in enumerate(row for row in SIZES if row[3] not in ("fits", "neutral", "alignment")):
                text = program.replace(old, new, 1) if old else program
                built, unchecked = pathlib.Path(folder, f"{number}"), pathlib.Path(folder, f"{number}u")
                with self.subTest(rule=rule, line=line):
                    done = akgen(("build", "-o", built), text)
                    self.assertEqual((done.returncode, built.exists()), (1, False), done.stderr)
                    self.assertRegex(done.stderr, rf"^-:{line}:\d+: error: .* \[{rule}\]\n")
                    done = akgen(("build", "--unchecked", "-o", unchecked), text)
                    self.assertEqual((done.returncode, unchecked.exists()), (0, True), done.stderr)
            done = akgen(("build", "--task", "multikernelbench/level1/Activation/Relu", "-o", f"{folder}/case"),
                         RIGHT.replace("    total = x.numel()", "    assert x.numel() != 231\n    total = x.numel()"))
            self.assertRegex(done.stderr, r"error: case 2: the host function refuses the shape")

    def test_check_says_what_the_compiler_says(self):
        """Without a task for the operator that the text shows; a warning where the text leaves data types open."""
        large = RIGHT.replace("2048", "30000")
        for text, options, severity in ((large, (), "error"), (large, ("--task", "Sqrt"), "error"),
                                        (large.replace("dtype=tl.float32", "dtype=x.dtype"), (), "warning")):
            done = akgen(("check", "--json", *options), text)
            [file] = json.loads(done.stdout)
            [message] = file["messages"]
            self.assertEqual((message["severity"], message["rule"], done.returncode), (severity, "fits", severity == "error"))
            self.assertRegex(message["text"], r"the buffers need \d{6} bytes of UB, which has 196352")

    def test_warnings(self):
        """Sizes that the operator may not have: an empty tensor, rows longer than a tile."""
        empty = RIGHT.replace("    if total == 0:\n        return\n", "")
        for text, rule, line, says in ((empty, "launch", 23, "(0): the kernel is launched on 0 cores"),
                                       (ROWS, "bounds", 7, "2048 elements from 0 on of 'x_ub', which has 1024")):
            done = akgen(("check", "--json"), text)
            [file] = json.loads(done.stdout)
            self.assertEqual((done.returncode, file["errors"]), (0, 0), file)
            [message] = file["messages"]
            self.assertEqual((message["severity"], message["rule"], message["line"]), ("warning", rule, line))
            self.assertIn(says, message["text"])

    def test_proofs(self):
        [file] = json.loads(akgen(("check", "--json"), RIGHT).stdout)
        self.assertEqual(file["stores"], [{"line": 17, "column": 16, "tensor": "y", "proved": True, "extent": "x.numel()"}])
        [file] = json.loads(akgen(("check", "--json"), RIGHT.replace("end - at)", "total - at)")).stdout)
        self.assertEqual([store["proved"] for store in file["stores"]], [False])
        shown = akgen(("check", "-v"), SUM)
        self.assertEqual(shown.stdout, "-:17:12: sums: proved: stores the elements before 16, each once\n"
                                       "-:25:16: y: proved: stores the elements before 1, each once\n")

    def test_cases_of_a_task(self):
        text = RIGHT.replace("    total = x.numel()", "    assert x.numel() < 100 or x.numel() > 300\n    total = x.numel()")
        self.assertEqual(akgen(CHECK, text).returncode, 0)
        done = akgen(("check", "--task", "multikernelbench/level1/Activation/Relu"), text)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"-:21:5: error: case 2: the host function refuses the shape: .* \[refused\]")


if __name__ == "__main__":
    unittest.main()
