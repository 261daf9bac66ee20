"""More kinds of random programs for dsl_programs.py: products of matrices, phases between which all cores wait, lists of tensors with
attributes and what may be missing, elements by their place."""
from dsl_programs import FLOATS, Elements

LENGTHS = (1, 2, 5, 8, 15, 16, 17, 31, 33, 64, 65, 100, 128, 130, 255, 257)


class Kind(Elements):
    """A program whose kernel and host function are written line by line."""

    def __init__(self, seed):
        super().__init__(seed)
        self.masks, self.kept, self.numbers, self.conditions = False, [], [], ["n > 3", "tl.program_id(0) == 0"]
        self.size = "tile"
        self.parameters, self.head = [], []  # of the kernel: behind its tensors, before its buffers
        self.more, self.attrs = {}, ""  # lines of task.yaml

    def choose(self, *items):
        return self.random.choice(items)

    def tensor(self, name, shape, dtype, more=""):
        self.inputs.append((name, shape, dtype))
        self.more[name] = more

    def result(self, shape, dtype, more=""):
        self.outputs.append((f"y{len(self.outputs)}", shape, dtype))
        self.more[self.outputs[-1][0]] = more
        return self.outputs[-1][0]

    def together(self, host_parameters, host, launch):
        """The text: the kernel of what was written, and a host function of these lines."""
        alloc = [f"    {b.name} = tl.alloc_ub({b.size}, dtype=tl.{b.dtype})" for b in self.buffers]
        names = [name for name, _, _ in self.inputs + self.outputs]
        return "\n".join([*self.beginning(), f"def kernel({', '.join(names + self.parameters)}):",
                          *self.head, *alloc, *self.lines, "", "",
                          f"def host({', '.join(host_parameters)}):", *(f"    {line}" for line in host),
                          f"    kernel[{launch}]({', '.join(names + self.parameters)})"]) + "\n"

    def of_host(self):
        """The tensors among the parameters of the host function."""
        return [f"{name}: torch.Tensor" for name, _, _ in self.inputs + self.outputs]

    def loaded(self, address, dtype="float32", count="n", stem=None):
        """A new buffer and the load that fills it."""
        buffer = self.buffer(dtype, "tile", stem)
        with self.stage("copyin"):
            self.line(f"tl.load({address}, {buffer.name}, count={count})")
        buffer.extent, buffer.plain = "n", True
        return buffer

    def some_work(self, most=4):
        with self.stage("compute"):
            for _ in range(self.random.randint(0, most)):
                self.compute_one()

    def cases(self):
        return "case_id;" + ";".join(self.columns) + "\n" + "".join(
            f"{i};" + ";".join(map(str, row)) + "\n" for i, row in enumerate(self.rows))


class Product(Kind):
    """A product of matrices in blocks, perhaps followed by work of the vector cores."""

    def __init__(self, seed):
        super().__init__(seed)
        choose = self.choose
        self.dtype = choose("float16", "float16", "bfloat16", "float32", "int8")
        self.whole = self.maybe(0.2)  # tiles that no matrix leaves a rest of
        sizes = (32, 64, 128) if self.dtype == "int8" else (16, 32, 48, 64, 128)
        self.tiles = [choose(*sizes) for _ in range(3)]
        self.turned = [self.maybe(0.3), self.maybe(0.3)]
        self.columns = ["m", "n", "k"]
        self.rows = [[tile * choose(1, 2, 3) if self.whole else choose(*LENGTHS) for tile in self.tiles] for _ in range(2)]
        self.mixed = self.maybe(0.4)
        self.tile = 512

    def load_tiles(self):
        a_turned, b_turned = self.turned
        with self.stage("copyin"):
            self.line("tl.load_tile(a + at * m + row, a_l1, depth, rows, m)" if a_turned else
                      "tl.load_tile(a + row * k + at, a_l1, rows, depth, k)")
            self.line("tl.load_tile(b + col * k + at, b_l1, cols, depth, k)" if b_turned else
                      "tl.load_tile(b + at * n + col, b_l1, depth, cols, n)")
        with self.stage("compute"):
            turned = "".join(f", transpose_{name}=True" for name, is_turned in zip("ab", self.turned) if is_turned)
            if self.whole and not turned and self.maybe(0.5):
                self.line("tl.gemm_v0(a_l1, b_l1, c_l0, init=at == 0)")
            else:
                self.line(f"tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0{turned})")

    def blocks(self, target):
        with self.block("for block in range(tl.program_id(0), tl.cdiv(m, tile_m) * across, tl.num_programs(0)):"):
            self.line("row = block // across * tile_m")
            self.line("col = block % across * tile_n")
            self.line("rows = min(tile_m, m - row)")
            self.line("cols = min(tile_n, n - col)")
            with self.block("for at in range(0, k, tile_k):"):
                self.line("depth = min(tile_k, k - at)")
                self.load_tiles()
            with self.stage("copyout"):
                self.line(f"tl.store_tile({target} + row * n + col, c_l0, rows, cols, n)")

    def text(self):
        a_turned, b_turned = self.turned
        made = "int32" if self.dtype == "int8" else "float32"
        self.tensor("a", "[$k, $m]" if a_turned else "[$m, $k]", self.dtype)
        self.tensor("b", "[$n, $k]" if b_turned else "[$k, $n]", self.dtype)
        self.head = [f"    a_l1 = tl.alloc_l1({'(tile_k, tile_m)' if a_turned else '(tile_m, tile_k)'}, dtype=a.dtype)",
                      f"    b_l1 = tl.alloc_l1({'(tile_n, tile_k)' if b_turned else '(tile_k, tile_n)'}, dtype=b.dtype)",
                      f"    c_l0 = tl.alloc_l0c((tile_m, tile_n), dtype=tl.{made})"]
        self.parameters = ["m", "n", "k", "tile_m", "tile_n", "tile_k"] + (["tile", "product"] if self.mixed else [])
        self.line("across = tl.cdiv(n, tile_n)")
        self.blocks("product" if self.mixed else self.result("[$m, $n]", made if made == "int32" else self.choose(*FLOATS)))
        if self.mixed:
            self.line("tl.sync_all()")
            with self.block("for line in range(tl.program_id(0), m, tl.num_programs(0)):"):
                self.line("sum_at = line * n")
                with self.block("for first in range(0, n, tile):"):
                    self.count = "part"
                    self.conditions = ["first == 0", "line > 2"]
                    self.line("part = min(tile, n - first)")
                    self.loaded("product + sum_at + first", made, "part").exact = made == "int32"
                    self.some_work()
                    source = self.pick(lambda b: b.extent and b.size == "tile")
                    out = self.result("[$m, $n]", self.choose(*FLOATS) if source.real else source.dtype)
                    with self.stage("copyout"):
                        self.line(f"tl.store({out} + sum_at + first, {source.name}, count=part)")
        tiles = [f"tile_{name}: tl.constexpr = {tile}" for name, tile in zip("mnk", self.tiles)]
        sizes = ["m, n, k = a.shape[1], b.shape[0], a.shape[0]" if a_turned and b_turned else
                 "m, n, k = a.shape[1], b.shape[1], a.shape[0]" if a_turned else
                 "m, n, k = a.shape[0], b.shape[0], a.shape[1]" if b_turned else "m, n, k = a.shape[0], b.shape[1], a.shape[1]"]
        sizes.append(f"assert b.shape[{1 if b_turned else 0}] == k")
        if self.whole:
            sizes += [f"assert {size} % tile_{size} == 0" for size in "mnk"]
        if self.mixed:
            sizes.append(f"product = torch.empty(m * n, dtype=tl.{made})")
            tiles.append(f"tile: tl.constexpr = {self.tile}")
        cores = "tl.num_cube_cores()" if self.mixed else "min(tl.num_cube_cores(), tl.cdiv(m, tile_m) * tl.cdiv(n, tile_n))"
        return self.together(self.of_host() + tiles, sizes, cores)


class Phases(Kind):
    """What each core finds in its part, put together behind a tl.sync_all(); or added by all cores to the same elements."""

    def __init__(self, seed):
        super().__init__(seed)
        self.tile = self.choose(64, 100, 256, 1000)
        self.cores = self.choose(1, 3, 8, 20)
        self.columns, self.rows = ["shape"], [[f"[{self.choose(*LENGTHS, 1000, 4099)}]"] for _ in range(2)]
        self.dtype = self.choose(*FLOATS)

    def each_tile(self):
        return self.block("for at in range(start, end, tile):")

    def add_up(self, into):
        """The tile's elements taken together into the first of `into`."""
        source = self.pick(lambda b: b.extent and b.dtype == "float32" and b.size == "tile" and b not in self.kept)
        how = self.choose("sum", "sum", "max", "min")
        small, room = self.buffer("float32", 8, "r"), self.buffer("float32", "tile", "room")
        with self.stage("compute"):
            self.line(f"tl.reduce_{how}({small.name}, {source.name}, {room.name}, count=n)")
            self.line(f"tl.v{'add' if how == 'sum' else how}({into.name}, {into.name}, {small.name}, count=1)")
        return how

    def text(self):
        self.tensor("x", "$shape", self.dtype)
        self.head = ["    start = tl.program_id(0) * per_core", "    end = min(start + per_core, total)"]
        self.parameters = ["total", "per_core", "cores", "tile", "parts"]
        part = self.buffer("float32", 8, "part")
        self.kept.append(part)
        with self.stage("compute"):
            self.line(f"tl.duplicate({part.name}, {self.choose('0.0', '1.0', '-2.5')})")
        with self.each_tile():
            self.line("n = min(tile, end - at)")
            self.loaded("x + at")
            self.some_work(3)
            self.add_up(part)
        host = ["total = x.numel()", f"cores = {self.cores}", "per_core = tl.cdiv(total, cores)",
                "parts = torch.empty(cores * 8, dtype=tl.float32)"]
        if self.maybe(0.4):
            out = self.result("[8]", "float32", "    init: zero\n")
            self.parameters.remove("parts")
            host.pop()
            with self.stage("copyout"):
                self.line(f"tl.store_add({out}, {part.name}, count={self.choose(1, 5, 8)})")
        else:
            with self.stage("copyout"):
                self.line(f"tl.store(parts + tl.program_id(0) * 8, {part.name}, count=8)")
            self.line("tl.sync_all()")
            self.behind()
        return self.together(self.of_host() + [f"tile: tl.constexpr = {self.tile}"], host, "cores")

    def behind(self):
        every = self.buffer("float32", 8 * self.cores, "every")
        small, room = self.buffer("float32", 8, "r"), self.buffer("float32", 8 * self.cores, "room")
        by_all = self.maybe(0.5)
        if not by_all:
            self.line("if tl.program_id(0) == 0:")
            self.depth += 1
        with self.stage("copyin"):
            self.line(f"tl.load(parts, {every.name}, count=cores * 8)")
        with self.stage("compute"):
            self.line(f"tl.reduce_{self.choose('sum', 'max', 'min')}({small.name}, {every.name}, {room.name}, count=cores * 8)")
        if by_all:
            self.line(f"number = tl.extract_scalar({small.name}, 0)")
            self.line(self.choose("factor = tl.sqrt(tl.abs(number) + 1.0)", "factor = tl.exp(tl.min(number, 2.0))",
                                  "factor = tl.log(tl.abs(number) + 0.5)", "factor = tl.max(number * 0.01, -3.0)"))
            self.numbers.append(("factor", True, False))
            with self.each_tile():
                self.line("n = min(tile, end - at)")
                source = self.loaded("x + at")
                with self.stage("compute"):
                    self.line(f"tl.vmul({source.name}, {source.name}, factor, count=n)")
                source.exact = source.plain = False
                self.some_work(2)
                out = self.result("$shape", self.choose(*FLOATS))
                with self.stage("copyout"):
                    self.line(f"tl.store({out} + at, {source.name}, count=n)")
        else:
            out = self.result("[1]", self.choose(*FLOATS))
            with self.stage("copyout"):
                self.line(f"tl.store({out}, {small.name}, count=1)")
            self.depth -= 1


class Options(Kind):
    """Attributes of all types, a tensor that may be missing, and a result in place."""

    def __init__(self, seed):
        super().__init__(seed)
        self.tile, self.cores = self.choose(64, 100, 256, 1000), self.choose(1, 3, 8)
        self.dtype = self.choose(*FLOATS)
        self.optional, self.in_place = self.maybe(0.6), self.maybe(0.5)
        self.columns = ["shape", "factor", "turn", "times", "there"]
        self.rows = [[f"[{self.choose(*LENGTHS, 1000)}]", self.choose(0.5, -1.25, 3.0), self.choose("true", "false"),
                      [self.choose(1, 2), self.choose(3, -4)], there] for there in ("true", "false")]

    def work(self, given):
        x = [self.loaded(f"{name} + at") for name in ("x0", "x1")]
        if given:
            extra = self.buffer("float32", "tile", "extra")
            with self.block("if given:"):
                with self.stage("copyin"):
                    self.line(f"tl.load(beside, {extra.name}, count=n)")
                with self.stage("compute"):
                    self.line(f"tl.vadd({x[0].name}, {x[0].name}, {extra.name}, count=n)")
        with self.block("for turn_number in range(times[0]):"):
            with self.stage("compute"):
                self.line(f"tl.vmul({x[0].name}, {x[0].name}, {self.choose('factor', '0.5', 'times[1]')}, count=n)")
        for _ in range(self.random.randint(1, 2)):
            self.choose(self.some_work, self.branch)()

    def text(self):
        for name in ("x0", "x1"):
            self.tensor(name, "$shape", self.dtype)
        if self.optional:
            self.tensor("beside", f"[{self.tile}]", "float32", "    optional: true\n    present: \"$there\"\n")
        result = "x0" if self.in_place else self.result("$shape", self.dtype)
        self.attrs = "attrs:\n" + "".join(f"  - name: {name}\n    type: {kind}\n    value: \"${name}\"\n" for name, kind in
                                          (("factor", "float"), ("turn", "bool"), ("times", "list_int")))
        self.parameters = ["factor", "whole", "turn", "times", "given", "total", "per_core", "tile"]
        self.numbers += [("factor", True, True), ("whole", True, True), ("least", True, True)]
        self.conditions += ["turn", "factor > 0.0", "times[1] > 0", "given"]
        self.head = ["    start = tl.program_id(0) * per_core", "    end = min(start + per_core, total)",
                     "    least = tl.ceil(factor * 0.5) - tl.floor(whole * 0.3)"]
        with self.block("for at in range(start, end, tile):"):
            self.line("n = min(tile, end - at)")
            self.work(self.optional)
            source = self.pick(lambda b: b.extent and b.size == "tile" and b.real)
            with self.stage("copyout"):
                self.line(f"tl.store({result} + at, {source.name}, count=n)")
        parameters = [parameter for parameter in self.of_host() if parameter != "beside: torch.Tensor"]
        text = self.together(parameters + ["factor: float", "turn: bool", "times: list"] + ["beside: torch.Tensor = None"] * self.optional +
                             [f"tile: tl.constexpr = {self.tile}"],
                             [f"given = {'beside is not None' if self.optional else 'False'}", "total = x0.numel()",
                              "whole = tl.floor(factor) + tl.pow(tl.abs(factor), 2.0)", "assert 4 * tile < tl.ub_size()", f"per_core = tl.cdiv(total, {self.cores})"], self.cores)
        if self.in_place:
            self.outputs.append(("x0", "$shape", self.dtype))
            self.more["x0 in place"] = "    in_place: x0\n"
        return text


class Lists(Kind):
    """The tensors of lists one after the other, with a number of the call."""

    reference = "foreach_lerp_scalar"

    def __init__(self, seed):
        super().__init__(seed)
        self.tile, self.cores = self.choose(64, 100, 256, 1000), self.choose(1, 3, 8)
        self.dtype = self.choose(*FLOATS)
        self.columns = ["shapes"]
        self.rows = [[[[self.choose(*LENGTHS)] for _ in range(self.random.randint(1, 4))]] for _ in range(2)]

    def text(self):
        for name in ("x1", "x2"):
            self.tensor(name, "$shapes", self.dtype, "    kind: tensor_list\n")
        self.tensor("weight", "[1]", "float32", "    kind: scalar\n")
        result = self.result("$shapes", self.dtype, "    kind: tensor_list\n")
        self.parameters = ["cores", "tile"]
        self.numbers.append(("weight", True, True))
        self.conditions += ["weight > 0.5", "t == 0", "len(x1) > 2"]
        with self.block("for t in range(len(x1)):"):
            self.line("total = x1[t].numel()")
            self.line("per_core = tl.cdiv(total, cores)")
            self.line("start = tl.program_id(0) * per_core")
            with self.block("for at in range(start, min(start + per_core, total), tile):"):
                self.line("n = min(min(tile, start + per_core - at), total - at)")
                for name in self.choose(("x1", "x2"), ("x1",), ("x2",)):
                    self.loaded(f"{name}[t] + at")
                for _ in range(self.random.randint(1, 2)):
                    self.choose(self.some_work, self.branch)()
                source = self.pick(lambda b: b.extent and b.size == "tile" and b.real)
                with self.stage("copyout"):
                    self.line(f"tl.store({result}[t] + at, {source.name}, count=n)")
        parameters = ["x1: list[torch.Tensor]", "x2: list[torch.Tensor]", "weight: int | float", f"{result}: list[torch.Tensor]",
                      f"tile: tl.constexpr = {self.tile}"]
        return self.together(parameters, [f"cores = {self.cores}"], "cores")


class Places(Kind):
    """Elements by their place: sorted, picked by index, those for which something holds."""

    def __init__(self, seed):
        super().__init__(seed)
        self.tile = self.choose(32, 64, 100, 256, 1024)
        self.dtype = self.choose("float32", "float16", "int32", "float32")
        self.wide = "int32" if self.dtype == "int32" else "float32"
        self.columns, self.rows = ["rows", "cols"], [[self.choose(1, 2, 7, 20), self.choose(*(n for n in LENGTHS if n <= self.tile))]
                                                     for _ in range(2)]

    def sorted_row(self, source):
        values, places = self.buffer(self.wide, "tile", "values"), self.buffer("int32", "tile", "places")
        with self.stage("compute"):
            self.line(f"tl.sort({values.name}, {places.name}, {source.name}, n)")
        made = [(values, self.wide), (places, "int32")]
        if self.maybe(0.5):
            index, picked = self.buffer("int32", "tile", "index"), self.buffer(self.wide, "tile", "picked")
            with self.stage("compute"):
                self.line(f"tl.{self.choose('vmul_scalar', 'vmul')}({index.name}, {places.name}, 4, count=n)")
                self.line(f"tl.gather({picked.name}, {source.name}, {index.name}, 0, count=n)")
            made.append((picked, self.wide))
        return made

    def compressed(self, source):
        holds, taken, kept = self.buffer("bool", "tile", "holds"), self.buffer(self.wide, "tile", "taken"), self.buffer(self.wide, "tile", "kept")
        zero, limit = ("0.0", "0.25") if self.wide == "float32" else ("0", "3")
        with self.stage("compute"):
            self.line(f"tl.{self.choose('vgt', 'vle', 'vne')}({holds.name}, {source.name}, {limit}, count=n)")
            self.line(f"found = tl.compress({taken.name}, {source.name}, {holds.name}, count=n)")
            self.line(f"tl.duplicate({kept.name}, {zero})")
        with self.block("if found > 0:"):
            with self.stage("compute"):
                self.line(f"tl.vadd_scalar({kept.name}, {taken.name}, {'1.0' if zero == '0.0' else '1'}, count=found)")
        return [(kept, self.wide)]

    def text(self):
        self.tensor("x", "[$rows, $cols]", self.dtype)
        self.parameters = ["rows", "n", "tile"]
        with self.block("for row in range(tl.program_id(0), rows, tl.num_programs(0)):"):
            source = self.loaded("x + row * n", self.wide)
            with self.stage("compute"):
                for _ in range(self.random.randint(0, 2)):
                    self.line(self.choose(f"tl.vabs({source.name}, {source.name}, count=n)", f"tl.vneg({source.name}, {source.name}, count=n)"))
            made = self.choose(self.sorted_row, self.compressed, lambda b: self.sorted_row(b) + self.compressed(b))(source)
            with self.stage("copyout"):
                for buffer, dtype in made:
                    out = self.result("[$rows, $cols]", self.choose(*FLOATS) if dtype == "float32" else dtype)
                    self.line(f"tl.store({out} + row * n, {buffer.name}, count=n)")
        return self.together(self.of_host() + [f"tile: tl.constexpr = {self.tile}"],
                             ["rows, n = x.shape", "assert n <= tile"], f"min({self.choose('tl.num_vec_cores()', '3')}, rows)")


KINDS = (Product, Phases, Lists, Places, Options)
