#!/usr/bin/env python3
# test: cost=13 labels=long
"""Buffers of UB whose lives do not meet share memory, where there is too little of it; what a turn of a loop leaves to the next
one is kept. Where the tiling function decides sizes, queues have two tensors if these fit."""
import pathlib
import re
import tempfile
import unittest

from akgen_program import edit, verdict
from dsl_build_test import build, doubtful_notes, kernel_after
from dsl_verify_test import verify

# x and y go through two tensors each, which leaves room for two of the three other buffers.
TILE = 7168
STEPS = """tl.vmul_scalar(first_ub, x_ub, 0.5)
            tl.vadd_scalar(second_ub, first_ub, 1.0)
            tl.vmul(third_ub, second_ub, second_ub)
            tl.vadd(y_ub, third_ub, x_ub)"""


def program(steps=STEPS, before="pass", tile=TILE, size="tile"):
    return f"""import tile.language as tl


@ascend_kernel
def sqrt_kernel(x, y, total, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, total)
    x_ub = tl.alloc_ub({size}, dtype=tl.float32)
    first_ub = tl.alloc_ub({size}, dtype=tl.float32)
    second_ub = tl.alloc_ub({size}, dtype=tl.float32)
    third_ub = tl.alloc_ub({size}, dtype=tl.float32)
    y_ub = tl.alloc_ub({size}, dtype=tl.float32)
    with tl.compute():
        {before}
    for at in range(start, end, tile):
        offsets = at + tl.arange(0, tile)
        with tl.copyin():
            tl.load(x + offsets, x_ub, mask=offsets < end)
        with tl.compute():
            {steps}
        with tl.copyout():
            tl.store(y + offsets, y_ub, mask=offsets < end)


def sqrt_host(x: torch.Tensor, y: torch.Tensor, tile: tl.constexpr = {tile}):
    total = x.numel()
    if total == 0:
        return
    cores = min(2, tl.cdiv(total, 512))
    per_core = tl.cdiv(tl.cdiv(total, cores), 64) * 64
    sqrt_kernel[cores](x, y, total, per_core, tile)
"""


def views(text):
    """{buffer: the one whose memory it lies in}, and the depths of the queues."""
    lines = "\n".join(kernel_after(text, "Sqrt", "pipeline"))
    return dict(re.findall(r"(\w+) = tl\.view_ub\(.*of=(\w+)\)", lines)), re.findall(r"depth=(\d)", lines)


class Share(unittest.TestCase):
    def is_right(self, text):
        done = verify(text, "Sqrt")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_lives_that_do_not_meet(self):
        """Of a chain every second step: a buffer for each would leave queues one tensor."""
        self.assertEqual(views(program()), ({"third_ub": "first_ub", "y_ub": "second_ub"}, ["2", "2"]))
        self.is_right(program())

    def test_nothing_is_shared_where_there_is_room(self):
        self.assertEqual(views(program(tile=4096)), ({}, ["2", "2"]))

    def test_what_lives_at_once_has_to_fit(self):
        done = build(program(tile=16384), "Sqrt", "--print")
        self.assertEqual(done.returncode, 1)
        self.assertIn("[fits]", done.stderr)
        self.assertEqual(views(program(tile=12032)), ({"third_ub": "first_ub", "y_ub": "second_ub"}, ["1", "1"]))  # 4 x 47 KiB; 5 are 235

    def test_what_a_turn_leaves_to_the_next(self):
        """first_ub is read before it is written again, and so lives through the loop."""
        steps = """tl.vadd(second_ub, x_ub, first_ub)
            tl.vmul_scalar(first_ub, x_ub, 0.25)
            tl.vmul(third_ub, second_ub, second_ub)
            tl.vadd(y_ub, third_ub, x_ub)"""
        text = program(steps, "tl.duplicate(first_ub, 3.0)")
        self.assertNotIn("first_ub", views(text)[0])
        self.assertNotIn("first_ub", views(text)[0].values())
        self.is_right(text)

    def test_a_part_that_is_written_anew(self):
        """The rest of first_ub is what the first turn left."""
        steps = """if at == start:
                tl.duplicate(first_ub, 3.0)
            tl.vmul_scalar(first_ub, x_ub, 0.25, count=64)
            tl.vadd_scalar(second_ub, first_ub, 1.0)
            tl.vmul(third_ub, second_ub, second_ub)
            tl.vadd(y_ub, third_ub, x_ub)"""
        self.assertNotIn("first_ub", views(program(steps))[0].values())

    def test_tiles_of_the_tiling_function(self):
        """Their sizes are unknown: the check before the launch counts what lives at once."""
        text = program().replace("tile: tl.constexpr = 7168", "unused: tl.constexpr = 1").replace(
            "    cores = min(2", "    tile = max(total // 4 // 64 * 64, 64)\n    cores = min(2")
        self.assertEqual(views(text)[0], {"third_ub": "first_ub", "y_ub": "second_ub"})
        needed = re.search(r"neededWith = (.*)", build(text, "Sqrt", "--print").stdout).group(1)
        self.assertEqual(needed.count("CeilDiv(tile, 8) * (tensors * 64 + 64)"), 1, needed)  # float: two queues, two buffers
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(build(text.replace("tl.vadd(y_ub, third_ub, x_ub)", "tl.vsqrt(y_ub, x_ub)"), "Sqrt", "-o",
                                   directory).returncode, 0)
            result = verdict("Sqrt", directory, "--sync", "manual", "--schedule", "random:3", "--strict-order", "--case", "0")
            self.assertEqual(doubtful_notes(result), [])


TASK = """suite: mine
level: 1
category: Math
op: Own
reference: formula
vary: sizes
inputs:
  - name: x
    shape: "$shape"
    dtype: float32
    types: [float32]
    generate: "uniform(1, 4)"
outputs:
  - name: y
    shape: "$shape"
    dtype: float32
    types: [float32]
    formula: "sqrt(x) + 1"
"""
# Whole rows: two buffers of 4 bytes for each element, twice where that is no more than 196352 bytes. The names are the tiling
# function's own, too.
ROWS = """import tile.language as tl


@ascend_kernel
def own_kernel(x, y, needed, queue_depth, tensors):
    x_ub = tl.alloc_ub(queue_depth, dtype=tl.float32)
    y_ub = tl.alloc_ub(tensors, dtype=tl.float32)
    for row in range(tl.program_id(0), needed, tl.num_programs(0)):
        with tl.copyin():
            tl.load(x + row * queue_depth, x_ub, count=queue_depth)
        with tl.compute():
            tl.vsqrt(y_ub, x_ub, count=queue_depth)
            tl.vadd_scalar(y_ub, y_ub, 1.0, count=queue_depth)
        with tl.copyout():
            tl.store(y + row * queue_depth, y_ub, count=queue_depth)


def own_host(x: torch.Tensor, y: torch.Tensor, least: tl.constexpr = 1):
    ub_bytes = x.shape[-1]
    needed = x.numel() // ub_bytes
    tensors = max(least, ub_bytes)
    own_kernel[min(needed, 2)](x, y, needed, ub_bytes, tensors)
"""
MOST = 24544  # of what 196352 bytes hold twice, in whole blocks


class Split(unittest.TestCase):
    """What is loaded, computed in place and stored is a queue's tensor before its last whole write and another's behind it."""

    def in_place(self, steps, dtype="tl.float32", **keywords):
        text = program(steps, **keywords).replace("y_ub", "x_ub").replace("dtype=tl.float32", f"dtype={dtype}")
        lines = text.splitlines()
        lines.remove(f"    x_ub = tl.alloc_ub(tile, dtype={dtype})")  # of y
        return "\n".join(lines) + "\n"

    def copies(self, text):
        return re.findall(r"tl\.convert\((\w+), (\w+),", "\n".join(kernel_after(text, "Sqrt", "pipeline")))

    def is_right(self, text, case="2"):
        done = verify(text, "Sqrt", "--case", case)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_nothing_is_copied(self):
        for dtype in ("tl.float32", "x.dtype"):
            text = self.in_place("tl.vsqrt(x_ub, x_ub)\n            tl.vadd_scalar(x_ub, x_ub, 1.0)", dtype, tile=1024)
            self.assertEqual(self.copies(text), [])
            self.assertIn("tl.vadd_scalar(x_made_ub, x_ub, 1.0", "\n".join(kernel_after(text, "Sqrt", "pipeline")))
            self.is_right(text)

    def test_what_is_updated_in_parts_is_the_result(self):
        text = self.in_place("""tl.vsqrt(x_ub, x_ub)
            if at > start:
                tl.set_scalar(x_ub, 0, 2.0)""", tile=1024)
        lines = "\n".join(kernel_after(text, "Sqrt", "pipeline"))
        self.assertIn("tl.vsqrt(x_made_ub, x_ub", lines)
        self.assertIn("tl.set_scalar(x_made_ub, 0, 2.0)", lines)
        self.is_right(text)

    def test_it_stays_one_where_no_instruction_makes_all_of_it(self):
        """A part that is written last, a sum over turns, a loop of updates: what was loaded is in what is stored."""
        for steps in ("tl.vsqrt(x_ub, x_ub, count=32)",
                      "tl.vadd(first_ub, first_ub, x_ub)\n            tl.vaxpy(x_ub, first_ub, 2.0, count=8)",
                      "for i in range(3):\n                tl.vmul_scalar(x_ub, x_ub, 0.5, count=8 * (i + 1))"):
            text = self.in_place(steps, before="tl.duplicate(first_ub, 0.0)", tile=1024)
            self.assertEqual(len(self.copies(text)), 2, steps)

    def test_both_may_share_memory(self):
        """Of float16 and bfloat16, where both lie beside their queues; of float32 they are the queues' own tensors."""
        text = self.in_place("""tl.vsqrt(x_ub, x_ub)
            tl.vadd(first_ub, x_ub, x_ub)
            tl.vadd(x_ub, x_ub, first_ub)
            tl.vadd_scalar(x_ub, x_ub, 1.0)""", tile=9600)
        shared, depths = views(text)
        self.assertEqual((shared["x_made_ub"], depths), ("x_ub", ["2", "2"]))
        self.is_right(text, case="0")


class Depth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-depth-")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name) / "project"
        self.task = pathlib.Path(folder.name) / "mine/level1/Math/Own"
        self.task.mkdir(parents=True)
        (self.task / "task.yaml").write_text(TASK)
        (self.task / "desc.md").write_text("own\n")
        sizes = (100, MOST // 2, MOST // 2 + 8, MOST - 7, MOST, MOST + 1)
        (self.task / "cases.csv").write_text("case_id;shape\n" + "".join(f"{i};[5, {size}]\n" for i, size in enumerate(sizes)))

    def test_two_tensors_where_they_fit_and_else_one(self):
        self.assertEqual(build(ROWS, self.task, "-o", self.project).returncode, 0)
        kernel, = self.project.glob("op_kernel/*.cpp")
        edit(kernel, "    __aicore__ inline void Process()\n    {\n", "    __aicore__ inline void Process()\n    {\n"
             '        PRINTF("%d\\n", xQueue.HasIdleBuffer() + Second());\n')
        edit(kernel, "private:\n", """private:
    __aicore__ inline int Second() // whether there is another
    {
        auto first = xQueue.AllocTensor<float>();
        const int idle = xQueue.HasIdleBuffer();
        xQueue.FreeTensor(first);
        return idle;
    }

""")
        result = verdict(self.task, self.project, "--sync", "manual", "--schedule", "random:2", "--strict-order")
        told = [sorted(set((row["printed"] or "").split())) for row in result["cases"]]
        self.assertEqual(told[:5], [["2"], ["2"], ["1"], ["1"], ["1"]])
        self.assertEqual([row["verdict"] for row in result["cases"]], 5 * ["pass"] + ["wrong"])
        self.assertIn("Own: the tiles need 196416 bytes of UB, which has 196352", result["cases"][5]["printed"])
        self.assertEqual(doubtful_notes(result), [])

    def test_what_is_bounded_is_decided_when_the_program_is_compiled(self):
        """The rows of the queue are at most 8192 elements, however they are bounded."""
        for bound in ("min(ub_bytes, least)", "max(1, min(least // pitch, ub_bytes)) * pitch", "tl.pitch(min(ub_bytes, 4000)) * 2",
                      "tl.cdiv(min(ub_bytes, least), 32) * 32 if least > 1 else 64"):
            text = ROWS.replace("max(least, ub_bytes)", bound).replace("constexpr = 1", "constexpr = 8192").replace(
                "queue_depth, dtype", "tensors, dtype").replace("    tensors =", "    pitch = tl.pitch(min(ub_bytes, least))\n    tensors =")
            done = build(text, self.task, "--print")
            self.assertIn("InitBuffer(xQueue, 2, ", done.stdout, bound + done.stderr)
            text = text.replace("8192", "16384").replace("4000", "9000")
            self.assertIn("InitBuffer(xQueue, tiling.queueDepth, ", build(text, self.task, "--print").stdout, bound)

    def test_what_the_types_of_the_call_need(self):
        """Of float16 each element has 4 bytes beside the 2 of its queue's, of float32 it is the queue's own."""
        types = "float16, float32, bfloat16"
        (self.task / "task.yaml").write_text(TASK.replace("[float32]", f"[{types}]").replace("float32\n", '"$dtype"\n'))
        cases = (("float32", MOST), ("float16", MOST), ("float16", 16352), ("bfloat16", 16353))
        (self.task / "cases.csv").write_text("case_id;shape;dtype\n" + "".join(
            f"{i};[3, {size}];{dtype}\n" for i, (dtype, size) in enumerate(cases)))
        self.assertEqual(build(ROWS, self.task, "-o", self.project).returncode, 0)
        result = verdict(self.task, self.project, "--sync", "manual", "--schedule", "random:2", "--strict-order")
        self.assertEqual([row["verdict"] for row in result["cases"]], ["pass", "wrong", "pass", "pass"])
        self.assertIn("Own: the tiles need 294528 bytes of UB", result["cases"][1]["printed"])

    def test_zeros_in_as_many_tensors_as_there_are(self):
        """A reduction takes in whole blocks: every tensor begins with zeros."""
        text = ROWS.replace("tl.vadd_scalar(y_ub, y_ub, 1.0, count=queue_depth)", """tl.row_max(y_ub, x_ub, 1, queue_depth, tensors)
            most = tl.extract_scalar(y_ub, 0)
            tl.vsub_scalar(y_ub, x_ub, most, count=queue_depth)""").replace("max(least, ub_bytes)", "tl.pitch(ub_bytes)")
        text = text.replace("alloc_ub(queue_depth", "alloc_ub(tensors")
        self.assertIn("Clear<2>(xQueue, CeilDiv(tensors * sizeof(float), 256) * 256, tiling.queueDepth);",
                      build(text, self.task, "--print").stdout)
        for case in "01":
            done = verify(text, self.task, "--case", case)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

OPERAND = """  - name: {name}
    shape: "$shape"
    dtype: {dtype}
    types: [{dtype}]
"""


def sums(sizes, types):
    """y<i> = x<i> + i, computed in place in a buffer of size i, and a task of tensors of these types."""
    names = [(f"x{i}", f"y{i}", f"b{i}_ub") for i in range(len(sizes))]
    parameters = ", ".join(name for x, y, _ in names for name in (x, y))
    lines = [f"    {b} = tl.alloc_ub({size}, dtype={x}.dtype)" for (x, _, b), size in zip(names, sizes)]
    lines += ["    for at in range(start, end, tile):", "        n = min(tile, end - at)", "        with tl.copyin():"]
    lines += [f"            tl.load({x} + at, {b}, count=n)" for x, _, b in names]
    lines += ["        with tl.compute():", *(f"            tl.vadd_scalar({b}, {b}, {i}, count=n)" for i, (_, _, b) in enumerate(names))]
    lines += ["        with tl.copyout():", *(f"            tl.store({y} + at, {b}, count=n)" for _, y, b in names)]
    text = f"""import tile.language as tl


@ascend_kernel
def own_kernel({parameters}, total, tile):
    start = tl.program_id(0) * tile * 2
    end = min(start + tile * 2, total)
{chr(10).join(lines)}


def own_host({", ".join(part.strip() + ": torch.Tensor" for part in parameters.split(","))}, tile: tl.constexpr = 256):
    total = x0.numel()
    own_kernel[tl.cdiv(total, tile * 2)]({parameters}, total, tile)
"""
    inputs = "".join(OPERAND.format(name=x, dtype=dtype) + f'    generate: "choose(1, 2, 3)"\n' for (x, _, _), dtype in zip(names, types))
    outputs = "".join(OPERAND.format(name=y, dtype=dtype) + f'    formula: "{x}+{i}"\n'
                      for i, ((x, y, _), dtype) in enumerate(zip(names, types)))
    return text, TASK.split("inputs:")[0] + "inputs:\n" + inputs + "outputs:\n" + outputs


class Events(unittest.TestCase):
    """The queues of a position have events for eight tensors."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-events-")
        self.addCleanup(folder.cleanup)
        self.task = pathlib.Path(folder.name) / "mine/level1/Math/Own"
        self.task.mkdir(parents=True)
        (self.task / "cases.csv").write_text("case_id;shape\n0;[2003]\n")
        (self.task / "desc.md").write_text("own\n")

    def test_ten_loaded_and_stored_buffers_of_ten_sizes(self):
        text, task = sums([f"tile + {64 * i}" for i in range(10)], 10 * ["float32"])
        (self.task / "task.yaml").write_text(task)
        queues = re.findall(r"TQue<TPosition::(\w+)", build(text, self.task, "--print").stdout)
        self.assertLessEqual((queues.count("VECIN"), queues.count("VECOUT")), (8, 8))
        done = verify(text, self.task)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_more_types_than_there_are_events_are_refused(self):
        """Five have queues of their own, which leaves three for those of five types."""
        text, task = sums(10 * ["tile"], 6 * ["float32"] + ["float16", "int32", "int16", "int8"])
        for i in range(10):
            text = text.replace(f"    b{i}_ub =", f"    c{i}_ub = tl.alloc_ub(tile, dtype=x{i}.dtype)\n    b{i}_ub =")
            text = text.replace(f"vadd_scalar(b{i}_ub", f"vadd_scalar(c{i}_ub")
            text = text.replace(f"store(y{i} + at, b{i}_ub", f"store(y{i} + at, c{i}_ub")
        (self.task / "task.yaml").write_text(task)
        done = build(text, self.task, "-o", self.task / "project")
        self.assertEqual(done.returncode, 1)
        self.assertIn("'c0_ub' is one of 10 that are stored, and there are events for the queues of 8", done.stderr)


if __name__ == "__main__":
    unittest.main()
