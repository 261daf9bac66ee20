"""Programs in AscendDSL at random, each with a task of its own, and what the compiler makes of them.

A program is right by construction: what an operation reads has values, an output is stored once, cores store parts of their own. What
a buffer holds is followed while the text is written: which of its elements have values, and whether they are exact, since a choice
by a number that a chip approximates may fall otherwise there. Each program is of one of two shapes: `Flat`, elements in tiles, and `Rows`, rows of a matrix,
many at once. For tests/cli/dsl_programs_test.py and tests/prove/dsl_programs.py."""
import collections
import concurrent.futures
import pathlib
import random
import re
import subprocess
import tempfile

from akgen_program import AKGEN

FLOATS = ("float32", "float16", "bfloat16")
PASSES = ("tiling", "init", "align", "process", "types", "pipeline", "sync")
SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 255, 256, 257, 263, 511, 997, 1000, 1023, 1024, 1025, 2047, 2049,
         4099)
TILES = (8, 16, 32, 64, 96, 100, 128, 200, 250, 256, 257, 320, 512, 1000, 1024, 2048)
NUMBERS = ("0.5", "-1.25", "2", "3.0", "-0.0", "1e-3", "0.1", "100.0", "-7", "1")
WHOLE = ("1", "-1", "2", "3", "-7", "100", "0")
CONSTANTS = ("0.9", "0.1 * 3", "1 / 3", "math.sqrt(2.0 / math.pi)", "2.0 ** -1", "-math.pi / 4", "1_000.5", "math.exp(-1)", "0x10 / 7")
WIDTHS = {"int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "int8": 1, "uint8": 1, "bool": 1}
BYTES = ("int8", "uint8")  # their sums and products do not wrap yet
STEMS = {"int64": "j", "int32": "i", "int16": "h", "bool": "p", "int8": "b", "uint8": "u"}

EXACT = ("vabs", "vneg", "vrelu", "vsqrt", "vreciprocal")
STEPPED = ("vsign", "vfloor", "vceil", "vround", "vtrunc", "vfrac")
APPROXIMATE = ("vexp", "vexp2", "vln", "vlog2", "vlog10", "vrsqrt", "vasin", "vacos", "vatan", "vsinh", "vcosh",
               "vtanh", "vatanh", "verf", "verfc")
# Of arguments whose squares are numbers, that are not next to a pole, and that are no angle beyond 65504.
OF_PLAIN = ("vasinh", "vacosh", "vlgamma", "vdigamma", "vsin", "vcos", "vtan")
PAIRS = ("vadd", "vsub", "vmul", "vmax", "vmin")
SCALARS = ("vadd_scalar", "vsub_scalar", "vmul_scalar", "vmax_scalar", "vmin_scalar", "vclamp_max", "vclamp_min", "vaxpy")
COMPARISONS = ("veq", "vne", "vlt", "vle", "vgt", "vge")
ROUNDINGS = ("even", "away", "down", "up", "zero")


class Buffer:
    def __init__(self, name, dtype, size):
        self.name, self.dtype, self.size = name, dtype, size
        self.extent = None  # which elements have values: None, "n" (as many as the tile has), "all"
        self.exact = True
        self.plain = False  # its values are loaded or filled in, so none is NaN

    @property
    def real(self):
        return self.dtype in FLOATS


class Writer:
    """The text of a program, line by line."""

    def __init__(self, seed):
        self.random, self.extra = random.Random(seed), random.Random(f"extra {seed}")
        self.constants = []  # of the file: what they are
        self.lines, self.depth, self.buffers, self.names = [], 1, [], collections.Counter()
        self.inputs, self.outputs = [], []  # (name, shape, dtype)

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def maybe(self, chance):
        return self.random.random() < chance

    def name(self, stem):
        self.names[stem] += 1
        return f"{stem}{self.names[stem]}"

    def block(self, head):
        writer = self

        class Block:
            def __enter__(self):
                writer.line(head)
                writer.depth += 1
                self.begin = len(writer.lines)

            def __exit__(self, *_):
                if len(writer.lines) == self.begin:
                    writer.line("pass")
                writer.depth -= 1

        return Block()

    def stage(self, which):
        return self.block(f"with tl.{which}():")

    def buffer(self, dtype, size, stem=None):
        made = Buffer(self.name(stem or STEMS.get(dtype, "f")), dtype, size)
        self.buffers.append(made)
        return made

    def pick(self, wanted):
        found = [buffer for buffer in self.buffers if wanted(buffer)]
        return self.random.choice(found) if found else None

    def number(self, real):
        value = self.random.choice(NUMBERS if real else WHOLE)
        return self.constant() if real and self.extra.random() < 0.15 else value

    def constant(self):
        """A number that is made of a constant of the file."""
        if not self.constants or self.extra.random() < 0.5:
            self.constants.append(self.extra.choice(CONSTANTS + tuple(f"C{i} * 0.7" for i in range(len(self.constants)))))
        name = f"C{self.extra.randrange(len(self.constants))}"
        return self.extra.choice((name, f"1 - {name}", f"{name} * 0.3"))

    def beginning(self):
        """The lines before the kernel's."""
        constants = [f"C{i} = {value}" for i, value in enumerate(self.constants)]
        return ["import math", "import tile.language as tl", *([""] if constants else []), *constants, "", "", "@ascend_kernel"]


class Elements(Writer):
    """Operations element by element on buffers of one size, of which `count` elements are meant."""

    count = "n"

    def counted(self, *operands):
        """', count=n' or nothing, and which elements of the destination have values then."""
        whole = all(buffer.extent == "all" for buffer in operands)
        if self.masks and self.maybe(0.5):
            return "", "all" if whole else "n"
        return f", count={self.count}", "n"

    def write(self, dst, text, operands, exact=True, named=""):
        count, extent = self.counted(*operands)
        self.line(f"tl.{text}{named}{count})")
        dst.extent = "all" if dst.extent == "all" and count else extent
        dst.exact, dst.plain = exact and all(buffer.exact for buffer in operands), False

    def defined(self, dtype=None, exact=False, size=None):
        return self.pick(lambda b: b.extent in ("n", "all") and (not dtype or b.dtype == dtype) and (b.exact or not exact) and
                         b.size == (size or self.size))

    def target(self, dtype, source=None):
        """A buffer to write: a source itself, one that is there, a new one."""
        found = self.pick(lambda b: b.dtype == dtype and b.size == self.size and b not in self.kept)
        if source and source.dtype == dtype and source not in self.kept and self.maybe(0.35):
            return source
        if found and self.maybe(0.6):
            return found
        return self.buffer(dtype, self.size)

    def compute_one(self):
        self.random.choice(self.operations)(self)

    def of_one(self):
        src = self.defined()
        if not src or src.dtype in ("bool", *BYTES):
            return
        if not src.real:
            name = self.random.choice(("vabs", "vneg", "vsign", "vrelu", "vnot"))
            dst = self.target(src.dtype, src)
            return self.write(dst, f"{name}({dst.name}, {src.name}", [src])
        names = EXACT + APPROXIMATE + (STEPPED if src.exact else ())
        if not src.plain:
            names = [name for name in names if name not in ("vsign", "vexp2")]  # what they are made of loses NaN
        else:
            names += OF_PLAIN
        name = self.random.choice(names)
        dst = self.target(src.dtype, src)
        self.write(dst, f"{name}({dst.name}, {src.name}", [src], name not in APPROXIMATE + OF_PLAIN)

    def of_two(self):
        a = self.defined()
        if not a:
            return
        b = self.defined(a.dtype)
        if a.dtype == "bool":
            names = ("vand", "vor", "vxor")
        else:
            names = PAIRS + (("vdiv",) if a.real else ("vand", "vor", "vxor"))
            names += ("vfmod",) if a.real and a.exact and b.exact else ()
        if a.dtype in BYTES:
            names = ("vmax", "vmin")
        name = self.random.choice(names)
        dst = self.target(a.dtype, self.random.choice((a, b)))
        if self.maybe(0.1) and a.dtype not in ("bool", "int8") and dst.extent:
            return self.write(dst, f"vmul_add({dst.name}, {a.name}, {b.name}", [a, b, dst])
        if self.maybe(0.15) and a.dtype != "bool":
            return self.write(dst, f"{name}({dst.name}, {a.name}, {self.number(a.real)}", [a])
        self.write(dst, f"{name}({dst.name}, {a.name}, {b.name}", [a, b])

    def of_number(self):
        src = self.defined()
        if not src or src.dtype in ("bool", *BYTES):
            return
        names = SCALARS + (("vdiv_scalar", "vleaky_relu") if src.real else ())
        name = self.random.choice(names)
        dst = self.target(src.dtype, src)
        value, exact = self.value(src.real)
        if name == "vaxpy":
            if not dst.extent or dst is src:
                return
            return self.write(dst, f"{name}({dst.name}, {src.name}, {value}", [src, dst], exact)
        self.write(dst, f"{name}({dst.name}, {src.name}, {value}", [src], exact)

    def value(self, real):
        """A number of the kernel, and whether it is exact."""
        numbers = [number for number in self.numbers if number[1] == real]
        if numbers and self.maybe(0.4):
            name, _, exact = self.random.choice(numbers)
            return (f"{name} * 0.5" if real and self.maybe(0.3) else name), exact
        return self.number(real), True

    def compare(self):
        a = self.defined(exact=True)
        if not a or a.dtype == "bool":
            return
        b = self.defined(a.dtype, exact=True)
        dst = self.target("bool")
        operand = b.name if self.maybe(0.5) else self.number(a.real)
        self.write(dst, f"{self.random.choice(COMPARISONS)}({dst.name}, {a.name}, {operand}",
                   [a, b] if operand == b.name else [a])

    def select(self):
        condition, a = self.defined("bool"), self.defined()
        if not condition or not a or a.dtype == "bool":
            return
        b = self.defined(a.dtype)
        dst = self.target(a.dtype, a)
        form = self.random.randrange(3)
        texts = [a.name if form != 1 else self.number(a.real), b.name if form != 2 else self.number(a.real)]
        operands = [condition] + ([a] if form != 1 else []) + ([b] if form != 2 else [])
        self.write(dst, f"vselect({dst.name}, {condition.name}, {texts[0]}, {texts[1]}", operands)

    def cast(self):
        src = self.defined(exact=True)
        if not src:
            return
        to = self.random.choice([dtype for dtype in ("float32", "float16", "bfloat16", "int32", "int8", "bool", "int64", "int16", "uint8")
                                 if dtype != src.dtype])
        dst = self.target(to)
        named = ""
        if src.real and to not in (*FLOATS, "bool") and self.maybe(0.6):
            named = f", round=\"{self.random.choice(ROUNDINGS)}\""
        self.write(dst, f"cast({dst.name}, {src.name}", [src], named=named)

    def fill(self):
        dtype = self.random.choice(("float32", "float32", "float16", "bfloat16", "int32", "int64", "int16"))
        dst = self.target(dtype)
        if self.maybe(0.3) and dtype in ("float32", "int32"):
            self.line(f"tl.iota({dst.name}, {self.number(dtype == 'float32')})")
        else:
            self.line(f"tl.{self.random.choice(('duplicate', 'vconst'))}({dst.name}, {self.number(dtype in FLOATS)})")
        dst.extent, dst.exact, dst.plain = "all", True, True

    def piece(self):
        """A part of a buffer that has values throughout, by a part of another."""
        a = self.pick(lambda b: b.extent == "all" and b.size == self.size and b.dtype in ("float32", "float16", "int32"))
        if not a or self.tile < 64:
            return
        dst = self.pick(lambda b: b.extent == "all" and b.size == self.size and b.dtype == a.dtype and b not in self.kept)
        dst = dst or a
        if dst in self.kept:
            return
        unit = 32 // WIDTHS[a.dtype]
        at, frm = self.random.randrange(2) * unit, self.random.randrange(2, 4) * unit
        many = self.random.choice((unit, 5))
        if frm + many > self.tile or at + many > frm:
            return
        name = self.random.choice(("vadd", "vmax", "vmul"))
        texts = self.random.choice(((f"{dst.name}[{at}:{at + many}]", f"{a.name}[{frm}:{frm + many}]"),
                                    (f"{dst.name} + {at}", f"{a.name} + {frm}")))
        named = f", count={many}" if "+" in texts[0] else ""
        self.line(f"tl.{name}({texts[0]}, {texts[1]}, {self.number(a.real)}{named})")
        dst.exact &= a.exact
        dst.plain = False

    def gather(self):
        src = self.pick(lambda b: b.extent and b.size == self.size and b.dtype in ("float32", "int32", "float16"))
        if not src:
            return
        index, dst = self.buffer("int32", self.size, "at"), self.buffer(src.dtype, self.size, "g")
        width = WIDTHS[src.dtype]
        start, step = (0, width) if self.maybe(0.5) else (f"({self.count} - 1) * {width}", -width)
        self.line(f"tl.iota({index.name}, {start}, step={step}, count={self.count})")
        self.line(f"tl.gather({dst.name}, {src.name}, {index.name}, 0, count={self.count})")
        index.extent = dst.extent = "n"
        dst.exact = src.exact

    def shift(self):
        src = self.defined(self.random.choice(("int32", "int32", "int16", "int64")))
        if src:
            dst = self.target(src.dtype, src)
            self.write(dst, f"{self.random.choice(('vshift_left', 'vshift_right'))}({dst.name}, {src.name}, "
                            f"{self.random.randrange(6)}", [src])

    def power(self):
        """Of positive numbers: CANN's Power knows neither NaN nor that a negative number has no root."""
        a = self.pick(lambda b: b.extent in ("n", "all") and b.plain and b.dtype in ("float32", "float16") and b.size == self.size)
        if a:
            dst = self.target(a.dtype, a)
            self.write(dst, f"vabs({dst.name}, {a.name}", [a])
            self.write(dst, f"vpow({dst.name}, {dst.name}, {self.random.choice(('2.0', '3.0', '0.5', '-1.0'))}", [dst], False)

    operations = (of_one, of_one, of_one, of_two, of_two, of_two, of_number, of_number, compare, select, select, cast, fill, piece, shift,
                  power, gather)

    def reduce(self, scratch):
        """The tile's elements taken together, as a number."""
        src = self.pick(lambda b: b.extent and b.size == self.size and b.real and b not in self.kept)
        if not src:
            return
        name = self.random.choice(("reduce_sum", "reduce_max", "reduce_min"))
        small = self.buffer(src.dtype, self.random.choice((8, 16, 64)), "r")
        shared = self.target(src.dtype)
        if shared is src and self.maybe(0.5):
            shared = self.buffer(src.dtype, self.size)
        self.line(f"tl.{name}({small.name}, {src.name}, {shared.name}, count={self.count})")
        exact = src.exact and name != "reduce_sum"
        shared.extent = None
        number = self.name("s")
        scratch.append((number, small.name, exact))

    def compute(self, least=1, most=5):
        """A stage, and what is taken out of it."""
        scratch = []
        with self.stage("compute"):
            for _ in range(self.random.randint(least, most)):
                if self.maybe(0.12):
                    with self.block(f"for turn in range({self.random.choice(('2', '3'))}):"):
                        src = self.defined("float32")
                        if src:
                            dst = self.target("float32", src)
                            if dst.extent:
                                self.write(dst, f"vadd({dst.name}, {dst.name}, {src.name}", [dst, src])
                else:
                    self.compute_one()
            if self.maybe(0.25):
                self.reduce(scratch)
        for number, small, exact in scratch:
            self.line(f"{number} = tl.extract_scalar({small}, 0)")
            self.numbers.append((number, True, exact))
        if self.maybe(0.1):
            src = self.pick(lambda b: b.extent and b.size == self.size and b.dtype in ("float32", "float16", "int32"))
            if src:
                number = self.name("s")
                self.line(f"{number} = tl.extract_scalar({src.name}, {self.random.choice(('0', self.count + ' - 1'))})")
                self.numbers.append((number, src.real, src.exact))

    def condition(self):
        exact = [name for name, real, exact in self.numbers if real and exact]
        return self.random.choice(self.conditions + [f"{name} > 0.25" for name in exact[:1]])

    def branch(self):
        """Two computations of the same buffer."""
        src = self.defined("float32") or self.defined("float16")
        if not src:
            return self.compute()
        dst = self.target(src.dtype, src)
        before = dst.extent
        after = []
        with self.block(f"if {self.condition()}:"):
            with self.stage("compute"):
                self.write(dst, f"vmul({dst.name}, {src.name}, {src.name}", [src])
                after.append(dst.extent)
        if before and self.maybe(0.5):
            dst.extent = "all" if (before, after[0]) == ("all", "all") else "n"
            return None
        dst.extent = before
        with self.block("else:"):
            with self.stage("compute"):
                self.write(dst, f"vadd_scalar({dst.name}, {src.name}, {self.number(True)}", [src])
                after.append(dst.extent)
        dst.extent = "all" if after == ["all", "all"] else "n"
        return None


class Flat(Elements):
    """Elements of tensors of one shape, tile by tile, a part for each core."""

    def __init__(self, seed):
        super().__init__(seed)
        choose = self.random.choice
        self.tile, self.size = choose(TILES), "tile"
        self.masks, self.kept, self.numbers = self.maybe(0.5), [], []
        self.conditions = ["at == start", "n == tile", "total > 100", "at // tile % 2 == 0", "tl.program_id(0) == 0"]
        self.cores = choose((1, 3, 4, 8))
        self.totals = [choose(SIZES + (self.tile, self.tile + 1, 3 * self.tile - 1)) for _ in range(2)]
        self.dtypes = [choose(FLOATS + ("float32", "int32", "int32", "int64", "int16", "int8", "uint8", "bool")) for _ in range(self.random.randint(1, 3))]
        self.each = self.maybe(0.3)  # float inputs are of the case's data type: one project for several
        if self.each:
            self.dtypes = ["$dtype" if dtype in FLOATS else dtype for dtype in ["float32", *self.dtypes[1:]]]
        self.inputs = [(f"x{i}", "$shape", dtype) for i, dtype in enumerate(self.dtypes)]
        self.collects = self.maybe(0.35)

    def text(self):
        self.body()
        names = [name for name, _, _ in self.inputs + self.outputs]
        alloc = [f"    {b.name} = tl.alloc_ub({b.size}, dtype={self.written_type(b)})" for b in self.buffers]
        head = [*self.beginning(),
                f"def kernel({', '.join(names)}, total, per_core, tile):",
                "    start = tl.program_id(0) * per_core", "    end = min(start + per_core, total)", *alloc]
        if not self.collects and self.maybe(0.5):
            cores = [f"    cores = min(tl.num_vec_cores(), tl.cdiv(total, {self.random.choice((8, 64, 100))}))"]
        else:
            cores = [f"    cores = {self.cores}"]
        host = ["", "", f"def host({', '.join(f'{name}: torch.Tensor' for name in names)}, tile: tl.constexpr = {self.tile}):", "    total = x0.numel()", *cores,
                "    per_core = tl.cdiv(total, cores)", f"    kernel[cores]({', '.join(names)}, total, per_core, tile)"]
        return "\n".join(head + self.lines + host) + "\n"

    def written_type(self, buffer):
        for name, _, dtype in self.inputs:
            if getattr(buffer, "of", None) == name and dtype == buffer.dtype and self.random.random() < 0.4:
                return f"{name}.dtype"
        return f"tl.{buffer.dtype}"

    def load(self, name, dtype):
        choices = {"float32", "float16"} if dtype == "$dtype" else {dtype} | ({"float32"} if dtype in FLOATS else set())
        buffer = self.pick(lambda b: b.dtype in choices and b.size == "tile" and b not in self.kept)
        if not buffer or self.maybe(0.7):
            buffer = self.buffer(self.random.choice(sorted(choices)), "tile")
            buffer.of = name
        other = f", other={self.number(buffer.real)}" if self.maybe(0.3) else ""
        if self.masks:
            self.line(f"tl.load({name} + offsets, {buffer.name}, mask=offsets < end{other})")
        else:
            self.line(f"tl.load({name} + at, {buffer.name}, count=n)")
        buffer.extent = "all" if self.masks and other else "n"
        buffer.exact = buffer.plain = True

    def store(self, source, name):
        if self.masks:
            self.line(f"tl.store({name} + offsets, {source.name}, mask=offsets < end)")
        else:
            self.line(f"tl.store({name} + at, {source.name}, count=n)")

    def loads(self):
        inputs = self.random.sample(self.inputs, self.random.randint(1, len(self.inputs)))
        if self.maybe(0.12) and len(self.inputs) > 1 and self.inputs[0][2] == self.inputs[1][2]:
            with self.block(f"if {self.condition()}:"):
                with self.stage("copyin"):
                    buffer = self.buffer("float32" if self.each else self.inputs[0][2], "tile")
                    self.line(f"tl.load(x0 + at, {buffer.name}, count=n)")
            with self.block("else:"):
                with self.stage("copyin"):
                    self.line(f"tl.load(x1 + at, {buffer.name}, count=n)")
            buffer.extent = "n"
        with self.stage("copyin"):
            for name, _, dtype in inputs:
                self.load(name, dtype)

    def inner(self, buffer):
        """A buffer whose elements have values where this one's have."""
        return self.extra.choice([b.name for b in self.buffers if b.dtype == buffer.dtype and b.size == "tile" and b.extent])

    def stores(self):
        source = self.pick(lambda b: b.extent and b.size == "tile")
        if not source:
            return
        dtype = self.random.choice(("$dtype",) if self.each else FLOATS) if source.real else source.dtype
        if len(self.outputs) >= 3:
            return
        if source.dtype == "float32" and source not in self.kept and source.extent == "n" and self.extra.random() < 0.15:
            with self.stage("compute"):
                self.line(f"tl.vmul_add({source.name}, {source.name if self.extra.random() < 0.2 else self.inner(source)}, "
                          f"{self.inner(source)}, count=n)")
            source.exact = source.plain = False
        self.outputs.append((f"y{len(self.outputs)}", "$shape", dtype))
        with self.stage("copyout"):
            self.store(source, self.outputs[-1][0])

    def body(self):
        collected = None
        if self.collects:
            collected = self.buffer("float32", self.random.choice((8, "tile")), "all")
            self.kept.append(collected)
            with self.stage("compute"):
                self.line(f"tl.duplicate({collected.name}, 0.0)")
            if self.maybe(0.5):
                self.line("sums = 0.0")
                self.numbers.append(("sums", True, False))
        numbers = list(self.numbers)
        with self.block("for at in range(start, end, tile):"):
            self.line("n = min(tile, end - at)")
            if self.masks:
                self.line("offsets = at + tl.arange(0, tile)")
            self.loads()
            for _ in range(self.random.randint(1, 4)):
                self.random.choice((self.compute, self.compute, self.compute, self.branch, self.loads))()
                if self.maybe(0.3):
                    self.stores()
            if collected:
                self.collect(collected)
            if len(self.outputs) == 0 or self.maybe(0.5):
                self.stores()
        if collected:
            self.finish(collected, numbers)

    def collect(self, collected):
        src = self.pick(lambda b: b.extent and b.dtype == "float32" and b.size == "tile" and b is not collected)
        if not src:
            return
        if collected.size == "tile":
            with self.stage("compute"):
                self.line(f"tl.vadd({collected.name}, {collected.name}, {src.name}, count=n)")
        else:
            small = self.buffer("float32", 8, "r")
            room = self.buffer("float32", "tile")
            name = self.random.choice(("sum", "max"))
            with self.stage("compute"):
                self.line(f"tl.reduce_{name}({small.name}, {src.name}, {room.name}, count=n)")
                self.line(f"tl.v{'add' if name == 'sum' else 'max'}({collected.name}, {collected.name}, {small.name}, count=1)")
            if any(line.strip() == "sums = 0.0" for line in self.lines):
                self.line(f"sums = sums + tl.extract_scalar({small.name}, 0)")
        collected.exact = False

    def finish(self, collected, numbers):
        many = 8
        if numbers and self.maybe(0.7):
            with self.stage("compute"):
                self.line(f"tl.set_scalar({collected.name}, {self.random.randrange(8)}, {numbers[0][0]})")
        if self.tile < 8 and collected.size == "tile":
            many = self.tile
        dtype = "$dtype" if self.each else self.random.choice(FLOATS)
        self.outputs.append((f"y{len(self.outputs)}", f"[{many * self.cores}]", dtype))
        with self.stage("copyout"):
            self.line(f"tl.store({self.outputs[-1][0]} + tl.program_id(0) * {many}, {collected.name}, count={many})")

    def cases(self):
        shapes = []
        for total in self.totals:
            for divisor in (3, 7, 2):
                if total % divisor == 0 and self.maybe(0.4):
                    shapes.append(f"[{divisor}, {total // divisor}]")
                    break
            else:
                shapes.append(f"[{total}]")
        if self.each:
            return "case_id;shape;dtype\n" + "".join(f"{i};{shapes[i % 2]};{dtype}\n" for i, dtype in enumerate(FLOATS))
        return "case_id;shape\n" + "".join(f"{i};{shape}\n" for i, shape in enumerate(shapes))


class Rows(Elements):
    """Rows of a matrix, many at once: a row of numbers beside them, and one number of each."""

    def __init__(self, seed):
        super().__init__(seed)
        choose = self.random.choice
        self.masks, self.kept, self.numbers, self.size, self.count = False, [], [], "tile", "n * pitch"
        self.conditions = ["row == first", "n > 1", "rows > 3"]
        self.dtype = choose(FLOATS + ("float32", "int32"))
        self.wide = "float32" if self.dtype in FLOATS and self.maybe(0.7) else self.dtype
        self.tile = choose((1024, 2048, 3072))
        self.shapes = [(choose((1, 2, 3, 7, 16, 17, 33, 64)), choose((1, 5, 8, 15, 16, 17, 31, 64, 65, 100, 127, 257)))
                       for _ in range(2)]
        self.inputs = [("x0", "[$rows, $cols]", self.dtype)]
        self.has_row, self.has_col = self.maybe(0.6), self.maybe(0.5)
        if self.has_row:
            self.inputs.append(("beside", "[$cols]", self.dtype))
        if self.has_col:
            self.inputs.append(("each", "[$rows]", self.dtype))

    def text(self):
        self.body()
        names = [name for name, _, _ in self.inputs + self.outputs]
        alloc = [f"    {b.name} = tl.alloc_ub({b.size}, dtype=tl.{b.dtype})" for b in self.buffers]
        head = [*self.beginning(), f"def kernel({', '.join(names)}, rows, cols, per_core, tile):",
                "    first = tl.program_id(0) * per_core", "    last = min(first + per_core, rows)",
                "    pitch = tl.pitch(cols)", "    step = tile // pitch", *alloc]
        host = ["", "", f"def host({', '.join(f'{name}: torch.Tensor' for name in names)}, tile: tl.constexpr = {self.tile}):", "    rows, cols = x0.shape",
                f"    cores = min({self.random.choice(('tl.num_vec_cores()', '3', '1'))}, rows)", "    per_core = tl.cdiv(rows, cores)",
                f"    kernel[cores]({', '.join(names)}, rows, cols, per_core, tile)"]
        return "\n".join(head + self.lines + host) + "\n"

    # A buffer of one size holds a matrix; `lines` hold a number for each column ("c") or row ("r").
    def line_of(self, kind):
        return self.pick(lambda b: b.extent == kind and b.dtype == self.wide)

    def matrix(self):
        return self.pick(lambda b: b.extent == "n" and b.dtype == self.wide and b.size == "tile")

    def matrix_target(self, source):
        if source and source not in self.kept and self.maybe(0.4):
            return source
        return self.buffer(self.wide, "tile", "m")

    def with_line(self):
        by_row = self.maybe(0.5)
        beside, a = self.line_of("c" if by_row else "r"), self.matrix()
        if not beside or not a:
            return
        names = ("vadd", "vsub", "vmul", "vmax", "vmin") + (("vdiv",) if a.real else ())
        end = "row" if by_row else "col"
        dst = self.matrix_target(a)
        if self.maybe(0.15):
            self.line(f"tl.broadcast_{end}({dst.name}, {beside.name}, n, cols, pitch)")
            dst.exact = beside.exact
        else:
            self.line(f"tl.{self.random.choice(names)}_{end}({dst.name}, {a.name}, {beside.name}, n, cols, pitch)")
            dst.exact = a.exact and beside.exact
        dst.extent = "n"

    def together(self):
        a = self.matrix()
        if not a:
            return
        by_row = self.maybe(0.6)
        what = self.random.choice(("sum", "max", "min"))
        if a.dtype == "float32" and a.exact and self.maybe(0.2):
            places, dst = self.buffer("int32", "tile // 16", "i"), self.buffer("float32", "tile // 16", "l")
            self.line(f"tl.row_arg{self.random.choice(('max', 'min'))}({places.name}, {a.name}, n, cols, pitch)")
            self.line(f"tl.cast({dst.name}, {places.name}, count=n)")
            dst.extent, dst.exact = "r", True
            return
        dst = self.buffer(self.wide, "tile // 16" if by_row else "tile", "l")
        self.line(f"tl.{'row' if by_row else 'col'}_{what}({dst.name}, {a.name}, n, cols, pitch)")
        dst.extent, dst.exact = "r" if by_row else "c", a.exact and (what != "sum" or not a.real)

    def over_line(self):
        kind = self.random.choice("rc")
        a = self.line_of(kind)
        if not a or a in self.kept:
            return
        count = "n" if kind == "r" else "cols"
        name = self.random.choice(("vadd_scalar", "vmul_scalar", "vmax_scalar"))
        self.line(f"tl.{name}({a.name}, {a.name}, {self.number(a.real)}, count={count})")

    def turn(self):
        a = self.matrix()
        if not a:
            return
        t, back = self.buffer(self.wide, "tile", "t"), self.buffer(self.wide, "tile", "m")
        with self.block("if cols * tl.pitch(n) <= tile:"):
            self.line(f"tl.transpose({t.name}, {a.name}, n, cols, pitch, tl.pitch(n))")
            self.line(f"tl.transpose({back.name}, {t.name}, cols, n, tl.pitch(n), pitch)")
        with self.block("else:"):
            self.line(f"tl.vadd_scalar({back.name}, {a.name}, {'0.0' if a.real else '0'}, count=n * pitch)")
        back.extent, back.exact = "n", a.exact

    operations = (with_line, with_line, with_line, together, together, over_line, turn, Elements.of_one, Elements.of_two, Elements.of_two,
                  Elements.of_number, Elements.compare, Elements.select)

    def load_matrix(self):
        buffer = self.buffer(self.wide, "tile", "x")
        other = f", other={self.number(buffer.real)}" if self.maybe(0.25) else ""
        self.line(f"tl.load_rows(x0 + row * cols, {buffer.name}, n, cols, cols, pitch{other})")
        buffer.extent = "n"

    def load_line(self, name, at, kind, size):
        buffer = self.buffer(self.wide, size, kind)
        self.line(f"tl.load({name}{at}, {buffer.name}, count={'cols' if kind == 'c' else 'n'})")
        buffer.extent = kind
        self.kept.append(buffer)

    def stores(self):
        a, r = self.matrix(), self.line_of("r")
        with self.stage("copyout"):
            if a and (self.maybe(0.7) or not r):
                name = f"y{len(self.outputs)}"
                self.outputs.append((name, "[$rows, $cols]", self.random.choice(FLOATS) if a.real else a.dtype))
                self.line(f"tl.store_rows({name} + row * cols, {a.name}, n, cols, cols, pitch)")
            if r and (self.maybe(0.5) or not self.outputs):
                name = f"y{len(self.outputs)}"
                self.outputs.append((name, "[$rows]", self.random.choice(FLOATS) if r.real else r.dtype))
                self.line(f"tl.store({name} + row, {r.name}, count=n)")

    def body(self):
        if self.has_row and self.maybe(0.5):
            with self.stage("copyin"):
                self.load_line("beside", "", "c", "tile")
            self.has_row = False
        with self.block("for row in range(first, last, step):"):
            self.line("n = min(step, last - row)")
            with self.stage("copyin"):
                self.load_matrix()
                if self.has_row:
                    self.load_line("beside", "", "c", "tile")
                if self.has_col:
                    self.load_line("each", " + row", "r", "tile // 16")
            for _ in range(self.random.randint(1, 3)):
                with self.stage("compute"):
                    for _ in range(self.random.randint(1, 4)):
                        self.compute_one()
            self.stores()

    def cases(self):
        return "case_id;rows;cols\n" + "".join(f"{i};{rows};{cols}\n" for i, (rows, cols) in enumerate(self.shapes))


def task_files(program):
    """task.yaml and cases.csv of a task whose signature is the program's. Its formulas are of no meaning."""
    def param(name, shape, dtype, output=False):
        types = FLOATS if dtype == "$dtype" else (dtype,) * (len(FLOATS) if several else 1)
        in_place = more.get(f"{name} in place") if output else None  # then the OpDef declares no such output
        return f"  - name: {name}\n    shape: \"{shape}\"\n    dtype: \"{dtype}\"\n" + \
            (in_place or f"    types: [{', '.join(types)}]\n" + more.get(name, ""))

    more = getattr(program, "more", {})

    several = any(dtype == "$dtype" for _, _, dtype in program.inputs)
    generators = {"bool": "randbool", "uint8": "randint(0, 200)"}
    reference = getattr(program, "reference", "formula")
    yaml = f"suite: mine\nlevel: 1\ncategory: Random\nop: Program\nreference: {reference}\ninputs:\n"
    for name, shape, dtype in program.inputs:
        yaml += param(name, shape, dtype) + f"    generate: \"{generators.get(dtype, 'randint(-100, 100)' if 'int' in dtype else 'randn*2')}\"\n"
    yaml += "outputs:\n"
    for name, shape, dtype in program.outputs:
        yaml += param(name, shape, dtype, True) + ("    formula: \"1\"\n" if reference == "formula" else "")
    return yaml + getattr(program, "attrs", ""), program.cases()


def make(seed):
    """(text, task.yaml, cases.csv) of a program."""
    from dsl_program_kinds import KINDS  # which are made of what stands here
    kind = (Flat, Rows, Flat, KINDS[seed // 4 % len(KINDS)])[seed % 4]
    for attempt in range(100):
        program = kind(seed * 1000 + attempt)
        text = program.text()
        if program.outputs:
            return text, *task_files(program)
    raise AssertionError(f"seed {seed}: no program")


def akgen(*arguments, text=None, timeout=120):
    return subprocess.run([AKGEN, "dsl", *map(str, arguments)], capture_output=True, text=True, input=text, timeout=timeout)


REFUSALS = ("not-compiled", "fits", "types")


def write(seed, folder):
    """The folder of the program's task, which it lies in, below this one."""
    text, yaml, cases = make(seed)
    task = pathlib.Path(folder) / "mine/level1/Random/Program"
    task.mkdir(parents=True)
    for name, content in (("program.py", text), ("task.yaml", yaml), ("cases.csv", cases), ("desc.md", "A program at random.\n")):
        (task / name).write_text(content)
    return task


def judge(seed, verify, passes=PASSES):
    """(what came of a program, what is wrong with that or None): the checker and every pass take it, what each of `passes` leaves is
    read again, and there is a project, which computes what the interpreter does, or a rule that the compiler refuses programs by."""
    with tempfile.TemporaryDirectory(prefix="akgen-program-") as folder:
        task = write(seed, folder)
        file = task / "program.py"
        checked = akgen("check", file)
        if checked.returncode and akgen("build", file, "--task", task, "--stop-after", PASSES[0]).returncode:
            return "refused by the checker", checked.stderr
        built = akgen("build", file, "--task", task, "--unchecked", "-o", f"{folder}/project")
        if built.returncode:
            rules = set(re.findall(r"error: .*\[([a-z-]+)\]$", built.stderr, re.M))
            wrong = None if rules and rules <= set(REFUSALS) else f"exit code {built.returncode}\n{built.stderr}"
            return f"refused: {', '.join(sorted(rules))}", wrong
        if checked.returncode:
            return "refused by the checker, and compiled", checked.stderr
        for last in passes:
            printed = akgen("build", file, "--task", task, "--stop-after", last)
            again = akgen("fmt", "-", text=printed.stdout)
            if printed.returncode or (again.returncode, again.stdout) != (0, printed.stdout):
                return "not read again", f"after {last}\n{printed.stderr}{again.stderr}"
        if not verify:
            return "compiled", None
        done = akgen("build", file, "--task", task, "--verify", timeout=300)
        if done.returncode == 0:
            return "verified", None
        stopped = "the interpreter stops" in done.stdout
        return "stopped by the interpreter" if stopped else "wrong", done.stdout + done.stderr


def judge_all(seeds, verify_every, jobs=2, passes=PASSES):
    """{what came of programs: how many}, [(seed, what, why)] of those with which something is wrong."""
    counts, wrong = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for seed, (what, why) in zip(seeds, pool.map(lambda seed: judge(seed, seed % verify_every == 0, passes), seeds)):
            counts[what] += 1
            if why:
                wrong.append((seed, what, why))
    return counts, wrong


def compile_chunk(seeds):
    """{what came of programs: how many}, [(seed, why)] of those with which something is wrong: each goes through the checker and every
    pass, and what a pass leaves is read and checked again and holds what is said of the pass (tests/prove/dsl_passes.c)."""
    with tempfile.TemporaryDirectory(prefix="akgen-programs-") as folder:
        tasks = {str(write(seed, f"{folder}/{seed}")): seed for seed in seeds}
        done = subprocess.run([pathlib.Path(AKGEN).parent / "tests/dsl_passes"], input="\n".join(tasks) + "\n", capture_output=True,
                              text=True)
    rows = [line.split(": ", 1) for line in done.stdout.splitlines() if line.startswith("/")]
    counts = collections.Counter({kind: int(count) for count, kind in re.findall(r"^(\d+) (\S+)$", done.stdout, re.M)})
    wrong = [(tasks[task], why) for task, why in rows]
    if sum(counts.values()) != len(tasks):
        wrong.append((seeds[0], f"dsl_passes stopped in the chunk from this seed on, exit code {done.returncode}: {done.stderr[-2000:]}"))
    return counts, wrong


def compile_all(seeds, jobs=2, chunk=250):
    """compile_chunk() of many."""
    counts, wrong = collections.Counter(), []
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        for some, bad in pool.map(compile_chunk, [seeds[at:at + chunk] for at in range(0, len(seeds), chunk)]):
            counts.update(some)
            wrong += bad
    return counts, wrong


def operations_of(text):
    """The operations tl.NAME of a program."""
    return set(re.findall(r"\btl\.(\w+)\(", text))


if __name__ == "__main__":
    import sys
    if len(sys.argv) == 2:
        print(*make(int(sys.argv[1])), sep="\n----\n")
    else:
        first, last, every = map(int, sys.argv[1:])
        totals, failures = judge_all(range(first, last), every)
        for failed, what, why in failures:
            print(f"=== {failed}: {what}\n{why[:1500]}")
        print(dict(totals))
