#!/usr/bin/env python3
# test: cost=14 labels=long
"""akgen dsl build: what operations make of NaN, infinities, zeros and the ends of integer types is what the interpreter makes of
them. Each program computes of all pairs of a table's values."""
import pathlib
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN

TASK = """suite: mine
level: 1
category: Math
op: Pairs
reference: formula
inputs:
  - {{name: x, shape: "$shape", dtype: {type}, types: [{type}], generate: "{generate}", strict: "{generate}"}}
outputs:
  - {{name: y, shape: "$shape", dtype: {type}, types: [{type}], formula: "x"}}
"""
REALS = ("math.nan math.inf -math.inf 0.0 -0.0 1.0 -1.0 0.5 -0.5 2.0 -2.0 3.0 -3.0 2.5 -2.5 1000.0 -1000.0 1001.0 -1001.0 1e-30 -1e-30 "
         "3e37 -3e37 16777217.0 1e10 -1e10 100.5 -100.5").split()

# a_ub and b_ub hold the pairs, number i those of i // {n} and i % {n} of the table.
PAIRS = """import tile.language as tl


@ascend_kernel
def pairs_kernel(x, y, total):
    table_ub = tl.alloc_ub(128, dtype={wide})
    place_ub = tl.alloc_ub(1024, dtype=tl.int32)
    row_ub = tl.alloc_ub(1024, dtype=tl.float32)
    column_ub = tl.alloc_ub(1024, dtype=tl.float32)
    wide_ub = tl.alloc_ub(1024, dtype={wide})
    a_ub = tl.alloc_ub(1024, dtype={type})
    b_ub = tl.alloc_ub(1024, dtype={type})
    y_ub = tl.alloc_ub(1024, dtype={type})
    out_ub = tl.alloc_ub(1024, dtype={wide})
    p_ub = tl.alloc_ub(1024, dtype=tl.bool)
    with tl.compute():
        tl.duplicate(table_ub, 1)
{values}
        tl.iota(column_ub, 0)
        tl.vdiv(row_ub, column_ub, {n}.0)
        tl.vfloor(row_ub, row_ub)
        tl.vaxpy(column_ub, row_ub, -{n}.0)
        tl.vmul(column_ub, column_ub, 4.0)
        tl.cast(place_ub, column_ub)
        tl.gather(wide_ub, table_ub, place_ub, 0)
        tl.cast(b_ub, wide_ub)
        tl.vmul(row_ub, row_ub, 4.0)
        tl.cast(place_ub, row_ub)
        tl.gather(wide_ub, table_ub, place_ub, 0)
        tl.cast(a_ub, wide_ub)
{steps}
        tl.cast(out_ub, y_ub)
    with tl.copyout():
        tl.store(y, out_ub, count=total)


def pairs_host(x: torch.Tensor, y: torch.Tensor):
    total = x.numel()
    pairs_kernel[1](x, y, total)
"""

ONCE = """import tile.language as tl


@ascend_kernel
def pairs_kernel(x, y, total):
    x_ub = tl.alloc_ub(64, dtype=tl.int64)
    half_ub = tl.alloc_ub(64, dtype=tl.{type})
    y_ub = tl.alloc_ub(64, dtype=tl.float32)
    out_ub = tl.alloc_ub(64, dtype=tl.int64)
    with tl.compute():
{values}
        tl.cast(half_ub, x_ub, count=total)
        tl.cast(y_ub, half_ub, count=total)
        tl.cast(out_ub, y_ub, count=total)
    with tl.copyout():
        tl.store(y, out_ub, count=total)


def pairs_host(x: torch.Tensor, y: torch.Tensor):
    total = x.numel()
    pairs_kernel[1](x, y, total)
"""


ZEROS = """import tile.language as tl


# Each core adds its sum to all elements of the workspace; then each adds the total to its part.
@ascend_kernel
def sum_kernel(x, y, sums, counts, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    one_ub = tl.alloc_ub(16, dtype=tl.float32)
    two_ub = tl.alloc_ub(16, dtype=tl.int32)
    with tl.compute():
        tl.duplicate(one_ub, 1.0)
        tl.duplicate(two_ub, 2)
    with tl.copyout():
        tl.store_add(sums, one_ub, count=16)
        tl.store_add(counts, two_ub, count=16)
    tl.sync_all()
    for at in range(start, end, tile):
        n = min(tile, end - at)
        with tl.copyin():
            tl.load(x + at, x_ub, count=n)
            tl.load(sums, one_ub, count=16)
            tl.load(counts, two_ub, count=16)
        factor = tl.extract_scalar(one_ub, 3) * tl.extract_scalar(two_ub, 5)
        with tl.compute():
            tl.vmul(x_ub, x_ub, factor)
        with tl.copyout():
            tl.store(y + at, x_ub, count=n)


def sum_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 256):
    total = x.numel()
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    sums = torch.zeros(total, dtype=x.dtype)
    counts = torch.zeros((4, 16), dtype=torch.int32)
    sum_kernel[cores](x, y, sums, counts, total, per_core, tile=tile)
"""

# Through workspace, of whose sizes the host function asks; `size` is used where it must be right.
WORKSPACE = """import tile.language as tl


@ascend_kernel
def pass_kernel(x, work, y, total, size, tile):
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    at = tl.program_id(0) * tile
    n = min(tile, total - at)
    with tl.copyin():
        tl.load(x + at, x_ub, count=n)
    with tl.copyout():
        tl.store(work + at, x_ub, count=n)
    tl.sync_all()
    with tl.copyin():
        tl.load(work + at, x_ub, count=n)
    with tl.compute():
        tl.vadd(x_ub, x_ub, size - <is>)
    with tl.copyout():
        tl.store(y + at, x_ub, count=n)


def pass_host(x: torch.Tensor, y: torch.Tensor):
    total = x.numel()
    tile = 512
    cores = tl.cdiv(total, tile)
    work = {made}
    pass_kernel[cores](x, work, y, total, {asked}, tile)
"""
TYPES = """import tile.language as tl


@ascend_kernel
def copy_kernel(x, y, total):
    x_ub = tl.alloc_ub(1024, dtype=tl.{type})
    y_ub = tl.alloc_ub(1024, dtype=tl.{into})
    with tl.copyin():
        tl.load(x, x_ub, count=total)
    with tl.compute():
        tl.cast(y_ub, x_ub, count=total)
    with tl.copyout():
        tl.store(y, y_ub, count=total)


def copy_host(x: torch.Tensor, y: torch.Tensor):
    copy_kernel[1](x, y, x.numel())
"""


class Values(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-dsl-")
        self.addCleanup(folder.cleanup)
        self.task = pathlib.Path(folder.name) / "tasks/mine/level1/Math/Pairs"
        self.task.mkdir(parents=True)

    def verify(self, text, type, elements, generate="randn"):
        (self.task / "task.yaml").write_text(TASK.format(type=type, generate=generate))
        (self.task / "cases.csv").write_text(f"case_id;shape\n0;[{elements}]\n")
        done = subprocess.run([AKGEN, "dsl", "build", "-", "--task", str(self.task), "--verify"], input=text, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "case 0: as the interpreter computes it\n"), text + done.stderr)

    def pairs(self, steps, type, table, wide):
        values = "\n".join(f"        tl.set_scalar(table_ub, {i}, {value})" for i, value in enumerate(table))
        lines = "\n".join(" " * 8 + step for step in steps.split("; "))
        text = PAIRS.format(steps=lines, type="tl." + type, wide="tl." + wide, values=values, n=len(table))
        self.verify(text, wide, len(table) ** 2, "randn" if wide == "float32" else "randint(0, 2)")

    def reals(self, steps, *types):
        for type in types or ("float32", "float16", "bfloat16"):
            with self.subTest(steps, type=type):
                self.pairs(steps, type, REALS, "float32")

    def test_sizes_of_workspace(self):
        for made, asked, size in (("torch.empty(total, dtype=torch.float32)", "work.numel()", 1031),
                                  ("torch.empty((cores, tile))", "work.shape[-1] + work.size(0) + work.dim()", 512 + 3 + 2),
                                  ("torch.empty(cores, tile)", "work.numel() + work.shape[0]", 1536 + 3),
                                  ("torch.empty(x.shape)", "work.shape[0] + work.numel() + work.ndim", 2 * 1031 + 1)):
            with self.subTest(made):
                self.verify(WORKSPACE.replace("<is>", str(size)).format(made=made, asked=asked), "float32", 1031)
        for asked in ("work.shape[total]", "len(work.shape)"):
            text = WORKSPACE.replace("<is>", "0").format(made="torch.empty(total)", asked=asked)
            self.refused(text, "float32", "of the workspace 'work' is not written down [not-compiled]")

    def refused(self, text, type, message):
        """Whether or not the interpreter has seen it before."""
        (self.task / "task.yaml").write_text(TASK.format(type=type, generate="randint(0, 2)"))
        (self.task / "cases.csv").write_text("case_id;shape\n0;[1000]\n")
        for how in ("--verify", "--unchecked"):
            done = subprocess.run([AKGEN, "dsl", "build", "-", "--task", str(self.task), how, "-o", str(self.task / "out")],
                                  input=text, text=True, capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(message, done.stderr, text)

    def test_types_between_which_no_transfer_converts(self):
        for type, into in (("int8", "float32"), ("int64", "int32"), ("bool", "float16"), ("int32", "float32")):
            with self.subTest(type, into=into):
                self.refused(TYPES.format(type=into, into=type), type, f"'x' holds {type} and 'x_ub' {into} [types]")

    def test_numbers_that_a_type_has_not(self):
        for type, step in (("uint8", "vmin(y_ub, x_ub, -1)"), ("int8", "vmax(y_ub, x_ub, 128)"), ("int16", "vclamp_max(y_ub, x_ub, 40000)"),
                           ("int32", "vmin(y_ub, x_ub, 3000000000)")):
            with self.subTest(type, step=step):
                text = TYPES.format(type=type, into=type).replace("cast(y_ub, x_ub", step[:-1])
                self.refused(text, type, f"which holds {type} [types]")

    def test_powers(self):
        self.reals("tl.vpow(y_ub, a_ub, b_ub)")
        self.reals("tl.vexp2(y_ub, a_ub)")
        self.reals("tl.vpow(b_ub, a_ub, b_ub); tl.vadd(y_ub, b_ub, 0)", "float32")
        for by, type in (("math.nan", "float32"), ("0.0", "bfloat16"), ("3", "float16"), ("-0.5", "float32")):
            self.reals(f"tl.vpow(y_ub, a_ub, {by})", type)

    def test_the_sign_of_nan(self):
        self.reals("tl.vsign(a_ub, a_ub); tl.vreciprocal(y_ub, a_ub); tl.vadd(y_ub, y_ub, a_ub)")

    def test_nan_differs_from_all(self):
        self.reals("tl.vne(p_ub, a_ub, b_ub); tl.vselect(y_ub, p_ub, 1.0, 0.0)")
        self.reals("tl.vne(p_ub, a_ub, 1.0); tl.vselect(y_ub, p_ub, 1.0, 0.0)", "float16")
        self.reals("tl.vle(p_ub, a_ub, b_ub); tl.vselect(y_ub, p_ub, 1.0, 0.0)", "float32")

    def test_shifts_by_a_buffer(self):
        numbers = "-1000 -33 -32 -17 -16 -1 0 1 2 3 7 8 13 15 16 17 30 31 32 33 1000".split()
        for type, ends in (("int16", ["-32768", "32767"]), ("int32", ["-2147483648", "2147483647", "-65536"])):
            for steps in ("tl.vshift_left(a_ub, a_ub, b_ub); tl.vadd(y_ub, a_ub, 0)", "tl.vshift_right(b_ub, a_ub, b_ub); tl.vsub(y_ub, b_ub, a_ub)"):
                with self.subTest(steps, type=type):
                    self.pairs(steps, type, numbers + ends, "int32")

    def test_integers_of_8_bits_wrap(self):
        for type, table in (("int8", "-128 -127 -100 -64 -3 -1 0 1 2 5 63 64 100 127".split()),
                            ("uint8", "0 1 2 3 5 63 64 100 127 128 129 200 254 255".split())):
            for steps in ("tl.vadd(y_ub, a_ub, b_ub)", "tl.vmul(y_ub, a_ub, b_ub)", "tl.vsub(a_ub, a_ub, 100); tl.vsub(y_ub, a_ub, b_ub)",
                          "tl.vmul(a_ub, a_ub, 127); tl.vaxpy(b_ub, a_ub, 3); tl.vneg(y_ub, b_ub)",
                          "tl.vabs(a_ub, a_ub); tl.vxor(y_ub, a_ub, b_ub); tl.vand(y_ub, y_ub, 92); tl.vnot(y_ub, y_ub)",
                          "tl.vshift_left(a_ub, a_ub, 3); tl.vshift_right(b_ub, b_ub, 2); tl.vor(y_ub, a_ub, b_ub)",
                          "tl.vshift_right(a_ub, a_ub, 9); tl.vshift_left(b_ub, b_ub, 8); tl.vadd(y_ub, a_ub, b_ub)"):
                with self.subTest(steps, type=type):
                    self.pairs(steps, type, table, "int32")

    def test_bytes_of_the_other_sign(self):
        """By way of float16 and int32, which lie apart in the room for it."""
        for of, to, generate in (("int8", "uint8", "randint(-128, 127)"), ("uint8", "int8", "randint(0, 255)")):
            text = f"""import tile.language as tl


@ascend_kernel
def pairs_kernel(x, y, total):
    x_ub = tl.alloc_ub(1024, dtype=tl.int32)
    of_ub = tl.alloc_ub(1024, dtype=tl.{of})
    to_ub = tl.alloc_ub(1024, dtype=tl.{to})
    y_ub = tl.alloc_ub(1024, dtype=tl.int32)
    with tl.copyin():
        tl.load(x, x_ub, count=total)
    with tl.compute():
        tl.cast(of_ub, x_ub, count=total)
        tl.cast(to_ub, of_ub, count=total)
        tl.cast(y_ub, to_ub, count=total)
    with tl.copyout():
        tl.store(y, y_ub, count=total)


def pairs_host(x: torch.Tensor, y: torch.Tensor):
    total = x.numel()
    pairs_kernel[1](x, y, total)
"""
            with self.subTest(of=of):
                self.verify(text, "int32", 1000, generate)

    def test_indices(self):
        for type, start, step in (("int64", 2**40, -(2**33)), ("int64", -5, 1), ("int16", -300, 7), ("int16", 32760, 1), ("int64", 0, 3)):
            text = f"""import tile.language as tl


@ascend_kernel
def pairs_kernel(x, y, total):
    i_ub = tl.alloc_ub(1024, dtype=tl.{type})
    out_ub = tl.alloc_ub(1024, dtype=tl.int64)
    with tl.compute():
        tl.iota(i_ub, {start}, step={step})
        tl.cast(out_ub, i_ub)
    with tl.copyout():
        tl.store(y, out_ub, count=total)


def pairs_host(x: torch.Tensor, y: torch.Tensor):
    total = x.numel()
    pairs_kernel[1](x, y, total)
"""
            with self.subTest(type=type, start=start):
                self.verify(text, "int64", 1000, "randint(0, 2)")

    def test_int64_is_rounded_once(self):
        """Ties of the 16-bit types, and numbers that float32 or double would round to them."""
        ties = [2**62 + 2**54, 2**62 + 2**54 + 1, 2**62 + 2**54 - 1, 2**40 + 2**32 + 1, 2**40 + 2**32, 33000 * 2 + 2**38, 4098, 4099, 4097,
                2050 + 2**11, 65519, 65520, 2**33 + 2**25 + 1, 2**33 + 2**25 - 1]
        table = [str(sign * n) for n in ties for sign in (1, -1)]
        values = "\n".join(f"        tl.set_scalar(x_ub, {i}, {value})" for i, value in enumerate(table))
        for type in ("float16", "bfloat16"):
            self.verify(ONCE.format(type=type, values=values), "int64", len(table), "randint(0, 2)")

    def test_workspace_of_zeros(self):
        """Cores add to workspace that torch.zeros made, of one and of two sizes, without a tl.sync_all() before."""
        for elements in (16, 5000):
            self.verify(ZEROS, "float32", elements)
        build = subprocess.run([AKGEN, "dsl", "build", "-", "--task", str(self.task), "--stop-after", "tiling"], text=True,
                               input=ZEROS.replace("total, dtype=x.dtype", "shape, dtype=x.dtype").replace("    total = ", "    shape = x.shape\n    total = "), capture_output=True)
        self.assertRegex(build.stderr, r"how large the workspace is, is not written down \[not-compiled\]")


if __name__ == "__main__":
    unittest.main()
