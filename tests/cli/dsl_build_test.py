#!/usr/bin/env python3
# test: builds=release cost=49
"""akgen dsl build: what each pass leaves, what the project says, and that it is right on the machine; what does not compile
and why."""
import itertools
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME, verdict

SQRT = """import tile.language as tl


# y = sqrt(x), tile by tile.
@ascend_kernel
def sqrt_kernel(x, y, total, per_core, tile):
    # the part of this core
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub(tile, dtype=tl.float32)
    y_ub = tl.alloc_ub(tile, dtype=tl.float32)
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        # the root
        with tl.compute():
            tl.vsqrt(y_ub, x_ub)
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def sqrt_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = 4096):
    total = x.numel()
    if total == 0:
        return
    cores = min(tl.num_vec_cores(), tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    sqrt_kernel[cores](x, y, total, per_core, tile)
"""
# The vector cores copy a and b, transposed or not; then the cube multiplies the copies. Of int8 the product is scaled behind.
PRODUCT = """import tile.language as tl


@ascend_kernel
def product_kernel(a, b, c, left, right, m, n, k{parameters}):
    core = tl.program_id(0)
    cores = tl.num_programs(0)
    a_l1 = tl.alloc_l1(({left_shape}), dtype=a.dtype)
    b_l1 = tl.alloc_l1(({right_shape}), dtype=b.dtype)
    c_l0 = tl.alloc_l0c((64, 96), dtype={sum_type})
    copy_ub = tl.alloc_ub(256 * 32, dtype=a.dtype)
    for row in range(core, m, cores):
        for at in range(0, k, 256):
            count = min(256, k - at)
            with tl.copyin():
                tl.load_rows(a + row * k + at, copy_ub, count, 1, 1, 32)
            with tl.copyout():
                tl.store_rows(left + {left_at}, copy_ub, count, 1, {left_step}, 32)
    for row in range(core, k, cores):
        for at in range(0, n, 256):
            count = min(256, n - at)
            with tl.copyin():
                tl.load_rows(b + row * n + at, copy_ub, count, 1, 1, 32)
            with tl.copyout():
                tl.store_rows(right + {right_at}, copy_ub, count, 1, {right_step}, 32)
    tl.sync_all()
    across = tl.cdiv(n, 96)
    for block in range(core, tl.cdiv(m, 64) * across, cores):
        row = block // across * 64
        col = block % across * 96
        rows = min(64, m - row)
        cols = min(96, n - col)
        for at in range(0, k, 32):
            depth = min(32, k - at)
            with tl.copyin():
                tl.load_tile(left + {left_tile})
                tl.load_tile(right + {right_tile})
            with tl.compute():
                tl.gemm(c_l0, a_l1, b_l1, rows, cols, depth, init=at == 0, transpose_a={turn_a}, transpose_b={turn_b})
        with tl.copyout():
            tl.store_tile({product} + row * n + col, c_l0, rows, cols, n)
{scaling}

def product_host(a: torch.Tensor, b: torch.Tensor, {tensors}c: torch.Tensor):
    m, k = a.shape
    n = b.shape[1]
    left = torch.empty(m * k, dtype=a.dtype)
    right = torch.empty(k * n, dtype=b.dtype)
{workspace}    product_kernel[tl.num_cube_cores()](a, b, c, left, right, m, n, k{parameters})
"""
SCALING = """    tl.sync_all()
    sum_ub = tl.alloc_ub(32, dtype=tl.int32)
    scale_ub = tl.alloc_ub(32, dtype=tl.float32)
    c_ub = tl.alloc_ub(32, dtype=tl.float32)
    for row in range(core, m, cores):
        factor = tl.extract_scalar(per_token_scale, row)
        for at in range(0, n, 32):
            count = min(32, n - at)
            with tl.copyin():
                tl.load(sums + row * n + at, sum_ub, count=count)
                tl.load(scale + at, scale_ub, count=count)
            with tl.compute():
                tl.cast(c_ub, sum_ub, count=count)
                tl.vmul(c_ub, c_ub, scale_ub, count=count)
                tl.vmul_scalar(c_ub, c_ub, factor, count=count)
            with tl.copyout():
                tl.store(c + row * n + at, c_ub, count=count)
"""


def product_program(turn_a, turn_b, int8):
    return PRODUCT.format(
        turn_a=turn_a, turn_b=turn_b,
        left_shape="32, 64" if turn_a else "64, 32", right_shape="96, 32" if turn_b else "32, 96",
        left_at="at * m + row" if turn_a else "row * k + at", left_step="m" if turn_a else "1",
        right_at="at * k + row" if turn_b else "row * n + at", right_step="k" if turn_b else "1",
        left_tile="at * m + row, a_l1, depth, rows, m" if turn_a else "row * k + at, a_l1, rows, depth, k",
        right_tile="col * k + at, b_l1, cols, depth, k" if turn_b else "at * n + col, b_l1, depth, cols, n",
        sum_type="tl.int32" if int8 else "tl.float32", product="sums" if int8 else "c",
        scaling=SCALING if int8 else "", parameters=", scale, per_token_scale, sums" if int8 else "",
        tensors="scale: torch.Tensor, per_token_scale: torch.Tensor, " if int8 else "",
        workspace="    sums = torch.empty(m * n, dtype=tl.int32)\n" if int8 else "")


PASSES = ["tiling", "init", "align", "process", "types", "pipeline", "sync"]


def build(text, task, *arguments):
    return subprocess.run([AKGEN, "dsl", "build", "-", "--task", task, *arguments], capture_output=True, text=True,
                          input=text, timeout=60)


def kernel_after(text, task, last):
    """The kernel's lines after a pass, without their indentation."""
    process = build(text, task, "--stop-after", last)
    assert process.returncode == 0, process.stderr
    lines = process.stdout.split("@ascend_kernel")[1].split("def sqrt_host")[0].splitlines()
    return [line.strip() for line in lines if line.strip()]


def doubtful_notes(result):
    """Notes that say that something was read before it was written, or that nothing orders two accesses."""
    kinds = {note["kind"] for case in result["cases"] for note in case["notes"]}
    return sorted(kind for kind in kinds if kind.startswith(("hazard", "uninitialized")))


class Passes(unittest.TestCase):
    def test_more_elements_than_a_buffer_has_are_told_before_the_run(self):
        for longer in ["tl.arange(0, tile + 1)", "tl.arange(0, 2 * tile)"]:
            process = build(SQRT.replace("tl.arange(0, tile)", longer), "Sqrt", "--print")
            self.assertEqual(process.returncode, 1)
            self.assertRegex(process.stderr, r"(4097|8192) elements from 0 on of 'x_ub', which has 4096 \[bounds\]")
        process = build(SQRT.replace("x_ub)\n", "x_ub, count=5000)\n"), "Sqrt", "--print")
        self.assertIn("5000 elements from 0 on of 'x_ub', which has 4096 [bounds]", process.stderr)

    def test_tiling_makes_constants_of_what_the_launch_gives_as_constants(self):
        self.assertIn("def sqrt_kernel(x, y, total, per_core):", kernel_after(SQRT, "Sqrt", "tiling"))

    def test_a_piece_begins_at_32_bytes(self):
        text = SQRT.replace("(tile, ", "(tile + 64, ").replace("tl.vsqrt(y_ub, x_ub)", "tl.vsqrt(y_ub, x_ub[FROM:], count=8)")
        for begin, says in [("12", "begins at element 12 of 'x_ub', no multiple of 8"), ("8 + 16", "")]:
            process = build(text.replace("FROM", begin), "Sqrt", "--print")
            self.assertEqual((process.returncode, says in process.stderr), (1 if says else 0, True), process.stderr)
        with tempfile.NamedTemporaryFile("w", suffix=".py") as program:  # known when it runs: the interpreter says it
            program.write(text.replace("FROM", "min(end - at, 3)"))
            program.flush()
            process = subprocess.run([AKGEN, "dsl", "run", program.name, "--task", "Sqrt", "--case", "1"],
                                     capture_output=True, text=True, timeout=60)
        self.assertIn("the piece begins at element 3 of 'x_ub', no multiple of 8: operands begin at 32 bytes [alignment]",
                      process.stdout + process.stderr)

    def test_init_makes_queues_of_what_is_loaded_and_stored(self):
        lines = kernel_after(SQRT, "Sqrt", "init")
        self.assertIn("x_ub = tl.queue_in(tile, dtype=tl.float32)", lines)
        self.assertIn("y_ub = tl.queue_out(tile, dtype=tl.float32)", lines)

    def test_align_makes_counts_of_masks(self):
        lines = kernel_after(SQRT, "Sqrt", "align")
        self.assertIn("count = min(tile, end - at)", lines)  # at < end holds in the loop: no max(0, ..)
        self.assertIn("tl.load(x + at, x_ub, count=count)", lines)
        self.assertIn("tl.vsqrt(y_ub, x_ub, count=count)", lines)
        self.assertFalse([line for line in lines if "arange" in line or "mask" in line])

    def test_a_mask_that_may_leave_nothing_is_no_negative_count(self):
        lines = kernel_after(SQRT.replace("mask=offsets < end", "mask=offsets < total - 7"), "Sqrt", "align")
        self.assertIn("count = max(0, min(tile, total - 7 - at))", lines)

    def test_process_makes_instructions_of_operations(self):
        lines = kernel_after(SQRT.replace("tl.vsqrt(y_ub, x_ub)", "tl.vrsqrt(y_ub, x_ub)"), "Sqrt", "process")
        at = lines.index("tl.vsqrt(y_ub, x_ub, count=count)")
        self.assertEqual(lines[at + 1:at + 3], ["tl.duplicate(room, 1, count=count)",
                                                "tl.vdiv(y_ub, room, y_ub, count=count)"])

    def test_types_puts_a_queue_of_the_tensors_type_beside_the_buffer(self):
        lines = kernel_after(SQRT, "Sqrt", "types")
        self.assertIn("x_in = tl.queue_in(tile, dtype=x.dtype)", lines)
        self.assertIn("x_ub = tl.alloc_ub(tile, dtype=tl.float32)", lines)
        self.assertIn("tl.load(x + at, x_in, count=count)", lines)

    def test_pipeline_doubles_queues_and_hands_tensors_on(self):
        lines = kernel_after(SQRT, "Sqrt", "pipeline")
        self.assertIn("x_in = tl.queue_in(tile, dtype=x.dtype, depth=2)", lines)
        steps = [line for line in lines if "x_in" in line][1:]
        self.assertEqual([step.split("(")[0] for step in steps],
                         ["tl.alloc_tensor", "tl.load", "tl.enque", "tl.deque", "tl.widen", "tl.free_tensor"])

    def test_pipeline_takes_the_depths_that_the_program_says(self):
        deep = SQRT.replace("x_ub = tl.alloc_ub(tile, dtype=tl.float32)", "x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=3)")
        deep = deep.replace("y_ub = tl.alloc_ub(tile, dtype=tl.float32)", "y_ub = tl.alloc_ub(tile, tl.float32, 1)")
        self.assertEqual(deep.count("depth=3") + deep.count("tl.float32, 1)"), 2)
        lines = kernel_after(deep, "Sqrt", "pipeline")
        self.assertIn("x_in = tl.queue_in(tile, dtype=x.dtype, depth=3)", lines)
        self.assertIn("y_out = tl.queue_out(tile, dtype=y.dtype, depth=1)", lines)
        process = build(deep.replace("tl.constexpr = 4096", "tl.constexpr = 12288"), "Sqrt", "--stop-after", "pipeline")
        self.assertEqual(process.returncode, 1)
        self.assertIn("bytes of UB", process.stderr)

    def test_sync_orders_what_depends_on_each_other_and_nothing_else(self):
        lines = kernel_after(SQRT, "Sqrt", "sync")
        around = [i for i, line in enumerate(lines) if line == "tl.barrier_v()"]
        self.assertEqual([lines[i + 1].split("(")[0] for i in around], ["tl.vsqrt", "tl.narrow"])

    def test_what_every_pass_leaves_is_read_again(self):
        for last in PASSES:
            printed = build(SQRT, "Sqrt", "--stop-after", last).stdout
            process = subprocess.run([AKGEN, "dsl", "fmt", "-"], capture_output=True, text=True, input=printed)
            self.assertEqual((process.returncode, process.stdout), (0, printed), last)


class Project(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="akgen-dsl-")
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def build(self, text, task):
        process = build(text, task, "-o", str(self.dir))
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return {path.name: path.read_text() for path in self.dir.rglob("*.*")}

    def test_it_is_right_with_other_depths(self):
        deep = SQRT.replace("x_ub = tl.alloc_ub(tile, dtype=tl.float32)", "x_ub = tl.alloc_ub(tile, dtype=tl.float32, depth=4)")
        self.build(deep, "Sqrt")
        self.assertIn("TQue<TPosition::VECIN, 4>", (self.dir / "op_kernel/sqrt.cpp").read_text())
        for options in [("--sync", "auto"), ("--sync", "manual", "--schedule", "random:3", "--strict-order")]:
            result = verdict("Sqrt", self.dir, "--profile", "strict", *options)
            self.assertEqual((result["verdict"], result["cases_passed"]), ("pass", result["cases_total"]), options)
            self.assertEqual(doubtful_notes(result), [])

    def test_it_is_right_with_and_without_automatic_synchronisation(self):
        self.build(SQRT, "Sqrt")
        for options in [("--sync", "auto"), ("--sync", "manual", "--schedule", "random:3", "--strict-order")]:
            result = verdict("Sqrt", self.dir, "--profile", "strict", *options)
            self.assertEqual((result["verdict"], result["cases_passed"]), ("pass", result["cases_total"]), options)
            self.assertEqual(doubtful_notes(result), [])

    def test_constants_of_the_file_stand_where_the_host_part_or_the_kernel_names_them(self):
        text = SQRT.replace("\n\n\n# y", """
BLOCK = 8
# elements of a tile
TILE = BLOCK * 125
SIZES = (TILE, 1)
SHARE = 0.5
NEVER = False
KIND = "root"


# y""").replace("per_core, tile)", "per_core)").replace("        return\n", """        return
    if NEVER or KIND == "square":
        return
""").replace("tl.cdiv(total, 512)", "tl.cdiv(total, int(SIZES[0] * SHARE))")
        self.build(re.sub(r"tile(?=[,)])", "TILE", text), "Sqrt")
        host = (self.dir / "op_host/sqrt.cpp").read_text()
        kernel = (self.dir / "op_kernel/sqrt.cpp").read_text()
        for line in ["constexpr int64_t BLOCK = 8;", "// elements of a tile", "constexpr int64_t TILE = BLOCK * 125;"]:
            self.assertEqual((host.count(line), kernel.count(line)), (1, 1), line)
        self.assertIn("constexpr double SHARE = 0.5;", host)
        self.assertNotIn("SHARE", kernel)
        self.assertEqual(verdict("Sqrt", self.dir, "--profile", "strict")["verdict"], "pass")

    def test_without_a_task_the_program_says_which_operator_it_is(self):
        text = SQRT.replace("sqrt_", "add_root_").replace("(x, y, total", "(x, y, old, total").replace(
            "x: torch.Tensor, y: torch.Tensor", "x: torch.Tensor, y: torch.Tensor, old: torch.Tensor, factor: float").replace(
            "y_ub = tl.alloc_ub(tile, dtype=tl.float32)",
            "y_ub = tl.alloc_ub(tile, dtype=tl.float32)\n    old_ub = tl.alloc_ub(tile, dtype=tl.float16)").replace(
            "        # the root", "            tl.load(old + offsets, old_ub, mask=offsets < end)\n        # the root").replace(
            "            tl.store(y +", "            tl.store(old + offsets, old_ub, mask=offsets < end)\n            tl.store(y +")
        text = text.replace("per_core, tile)", "per_core, tile, factor)").replace(
            "tl.vsqrt(y_ub, x_ub)", "tl.vmul(y_ub, x_ub, factor)\n            tl.vadd(old_ub, old_ub, 1.0)")
        done = subprocess.run([AKGEN, "dsl", "build", "-", "-o", str(self.dir)], capture_output=True, text=True, input=text,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        host = (self.dir / "op_host/add_root.cpp").read_text()
        self.assertEqual(re.findall(r'->(Input|Output|Attr)\("(\w+)"\)', host),
                         [("Input", "x"), ("Input", "old"), ("Output", "y"), ("Attr", "factor")])
        self.assertEqual(re.findall(r"DataType\(\{ge::(\w+)\}\)", host), ["DT_FLOAT", "DT_FLOAT16", "DT_FLOAT"])
        for option, says in (("--verify", "whose cases --verify wants"), ("--static=0", "whose cases --static wants")):
            done = subprocess.run([AKGEN, "dsl", "build", "-", option], capture_output=True, text=True, input=text, timeout=60)
            self.assertEqual((done.returncode, says in done.stderr), (2, True), done.stderr)

    def test_it_reads_as_a_person_would_write_it(self):
        files = self.build(SQRT, "Sqrt")
        self.assertEqual(sorted(files), ["program.map.json", "sqrt.cpp", "sqrt_tiling.h"])  # op_host and op_kernel have one of a name
        kernel = (self.dir / "op_kernel" / "sqrt.cpp").read_text()
        self.assertTrue(kernel.startswith("// y = sqrt(x), tile by tile.\n"))
        self.assertRegex(kernel, r"// the root\n +Compute\(count\);")
        for field in ["total", "perCore"]:
            self.assertIn(f"TILING_DATA_FIELD_DEF(int64_t, {field});", files["sqrt_tiling.h"])
        host = (self.dir / "op_host" / "sqrt.cpp").read_text()
        self.assertIn(".DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})", host)

    def test_names_and_remarks_that_mean_something_else_in_cpp(self):
        text = SQRT.replace("# the root", "# the root \\")
        for name, other in [("per_core", "T"), ("total", "y_out"), ("x_ub", "switch"), ("y_ub", "y_queue"),
                            ("start", "yQueue"), ("end", "Min")]:
            text = re.sub(rf"\b{name}\b", other, text)
        text = text.replace("    for at in", "    yOut2 = (1 << 40) // (1 << 40)\n    for at in")
        text = text.replace("range(yQueue, Min, tile)", "range(yQueue, Min * yOut2, tile)")
        self.build(text, "Sqrt")
        result = verdict("Sqrt", self.dir, "--profile", "strict")
        self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_lists_of_tensors_and_numbers_of_the_combination(self):
        program = (HOME / "tasks/npukernelbench/level2/Foreach/ForeachMulScalarList/program.py").read_text()
        self.build(program, "ForeachMulScalarList")
        result = verdict("ForeachMulScalarList", self.dir, "--profile", "strict", "--case", "4")
        self.assertEqual(result["verdict"], "pass", result)

    def test_tensors_behind_a_list_keep_their_shapes(self):
        """GetInputShape counts each tensor of a list: what stands behind one is asked for by its place in the OpDef."""
        self.build((HOME / "tasks/npukernelbench/level1/Index/ScatterList/program.py").read_text(), "ScatterList")
        self.assertIn("GetRequiredInputShape(2)", (self.dir / "op_host" / "scatter_list.cpp").read_text())
        result = verdict("ScatterList", self.dir, "--profile", "strict", "--case", "3")
        self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_stores_to_places_that_elements_decide_are_ordered(self):
        """Several entries go to one place: only the last of these stores may stay."""
        self.build((HOME / "tasks/npukernelbench/level2/TensorMove/CoalesceSparse/program.py").read_text(), "CoalesceSparse")
        kernel = (self.dir / "op_kernel" / "coalesce_sparse.cpp").read_text()
        store = kernel.split("inline void CopyOut1(")[1].split("FreeTensor")[0]
        self.assertLess(store.index("PipeBarrier<PIPE_MTE3>();"), store.index("DataCopyPad(newIndicesGm["))
        result = verdict("CoalesceSparse", self.dir, "--profile", "strict", "--sync", "manual", "--schedule", "random:5",
                         "--strict-order", "--case", "7")
        self.assertEqual((result["verdict"], doubtful_notes(result)), ("pass", []), result["reason"])

    def test_products_of_every_type_with_operands_as_they_are_and_transposed(self):
        types = ["float16", "float32", "bfloat16"]
        own = [("level2/Linalg/Matmul", [f"[{m}, {k}];[{k}, {n}];{type}" for type in types
                                         for m, k, n in [(70, 100, 130), (1, 33, 1)]]),
               ("level3/GMM/QuantMatmul", ["70;100;130;float16", "1;33;1;float16"])]
        for path, cases in own:
            task = self.dir / "npukernelbench" / path
            shutil.copytree(HOME / "tasks/npukernelbench" / path, task)
            header = (task / "cases.csv").read_text().splitlines()[0]
            (task / "cases.csv").write_text("\n".join([header, *(f"{i};{case}" for i, case in enumerate(cases))]) + "\n")
            for turn_a, turn_b in itertools.product([False, True], repeat=2):
                with self.subTest(path=path, turn_a=turn_a, turn_b=turn_b):
                    project = task / f"{turn_a}{turn_b}"
                    process = build(product_program(turn_a, turn_b, "Quant" in path), str(task), "-o", str(project))
                    self.assertEqual((process.returncode, process.stderr), (0, ""))
                    result = verdict(str(task), project, "--profile", "strict", "--sync", "manual", "--strict-order")
                    self.assertEqual(result["verdict"], "pass", result["reason"])
                    self.assertEqual(doubtful_notes(result), [])

    def test_rows_of_any_length(self):
        program = (HOME / "tasks/npukernelbench/level2/Norm/RmsNorm/program.py").read_text()
        self.build(program, "RmsNorm")
        result = verdict("RmsNorm", self.dir, "--profile", "strict", "--sync", "manual")
        self.assertEqual(result["verdict"], "pass", result["reason"])
        self.assertEqual(doubtful_notes(result), [])


class Exemplars(unittest.TestCase):
    """The programs that docs/dsl.md names, as the provider of a benchmark."""

    def test_each_is_right_where_it_has_no_slack(self):
        table = (HOME / "docs" / "dsl.md").read_text().split("## Exemplars")[1].split("## ")[0]
        tasks = re.findall(r"\| `(\w+)/(level[^`]+)` \|", table)
        self.assertGreater(len(tasks), 10)
        for suite, task in tasks:
            process = subprocess.run([AKGEN, "bench", "--provider", "dsl", "--suite", suite, "--task", task, "--profile",
                                      "strict", "--sync", "manual"], capture_output=True, text=True, timeout=300)
            self.assertRegex(process.stdout, r"verdicts +pass 1\n", f"{task}: {process.stdout} {process.stderr}")


class Answer(unittest.TestCase):
    """The same project as an answer in MultiKernelBench's format."""

    def test_it_is_judged_as_an_answer_is(self):
        program = HOME / "tasks/multikernelbench/level1/Activation/LeakyRelu/program.py"
        task = "multikernelbench/level1/Activation/LeakyRelu"
        with tempfile.TemporaryDirectory(prefix="akgen-dsl-") as folder:
            answer = pathlib.Path(folder) / "answer.txt"
            process = build(program.read_text(), task, "--response", str(answer))
            self.assertEqual((process.returncode, process.stderr), (0, ""))
            result = verdict(task, answer, "--profile", "strict")
        self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_a_shape_that_no_input_has_cannot_be_bound(self):
        program = HOME / "tasks/npukernelbench/level2/Norm/RmsNorm/program.py"
        process = build(program.read_text(), "RmsNorm", "--response", "/dev/null")
        self.assertEqual(process.returncode, 3)
        self.assertIn("output 'rstd' has a shape that no input has", process.stderr)


class Errors(unittest.TestCase):
    def refused(self, text, task="Sqrt"):
        process = build(text, task, "--print")
        self.assertEqual((process.returncode, process.stdout), (1, ""))
        found = re.search(r":(\d+):\d+: error: (.*) \[(.*)\]", process.stderr)
        self.assertTrue(found, process.stderr)
        return int(found.group(1)), found.group(2), found.group(3)

    def test_buffers_that_do_not_fit_are_told_with_their_bytes(self):
        line, text, rule = self.refused(SQRT.replace("= 4096", "= 65536"))
        self.assertEqual((line, rule), (6, "fits"))
        self.assertIn("y_ub 262144", text)

    def test_a_data_type_that_no_instruction_has(self):
        line, text, rule = self.refused(SQRT.replace("y_ub = tl.alloc_ub(tile, dtype=tl.float32)",
                                                     "y_ub = tl.alloc_ub(tile, dtype=tl.int64)"))
        self.assertEqual((line, rule), (18, "types"))
        self.assertIn("tl.vsqrt of int64", text)

    def test_a_mask_that_is_no_beginning(self):
        line, _, rule = self.refused(SQRT.replace("x_ub, mask=offsets < end", "x_ub, mask=offsets > end"))
        self.assertEqual((line, rule), (15, "not-compiled"))

    def test_parameters_that_the_task_does_not_have(self):
        process = build(SQRT.replace("y: torch.Tensor", "y: torch.Tensor, z: torch.Tensor"), "Sqrt", "--print")
        self.assertEqual(process.returncode, 1)
        self.assertIn("'z'", process.stderr)

    def test_wrong_usage(self):
        self.assertEqual(build(SQRT, "Sqrt").returncode, 2)
        self.assertEqual(build(SQRT, "Sqrt", "--stop-after", "nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main()
