#!/usr/bin/env python3
# test: cost=14
"""Ten kernels that do not compute their operator and still pass MultiKernelBench at its tolerance of 1e-4, because its inputs are
uniform in [0, 1): identities, constants, zeros. Each must pass here under the upstream profile with the published case (else that
profile would not be faithful) and fail under `strict`.

All are one template, out = f(in) tile by tile, with another f."""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from akgen_program import HOME, akgen, verdict, verdicts  # noqa: E402

SUITE = HOME / "tasks/multikernelbench/level1"
PUBLISHED = ("--case", "0", "--tolerance=1e-4")
IDENTITY = "Adds(y, x, 0.0f, count);"
ZEROS = "Duplicate(y, 0.0f, count);"
FIRST_COLUMNS = """Duplicate(y, 0.0f, count);
        float product = 1;
        for (uint32_t column = 0; column < count && column < 32; column++) {
            product *= x.GetValue(column);
            y.SetValue(column, product);
        }"""
# Task, what the kernel does instead, whether it passes at 1e-4 with the published inputs.
KERNELS = [
    ("Activation/Relu", IDENTITY, True),
    ("Activation/LeakyRelu", IDENTITY, True),
    ("Activation/Elu", IDENTITY, True),
    ("Activation/Hardtanh", IDENTITY, True),
    ("Activation/Selu", "Muls(y, x, 1.0507009873554805f, count);", True),
    ("Activation/Softmax", ZEROS, True),
    ("Reduce/ProductReductionOverADimension", ZEROS, True),
    ("Math/Cumprod", FIRST_COLUMNS, True),
    ("Optimizer/Adam", "Adds(y, x, -1e-3f, count);", True),
    # One gradient in 2^24 is exactly 0 and leaves its parameter alone: with 2^22 of them, five inputs in a row seldom have none.
    ("Optimizer/Adagrad", "Adds(y, x, -1e-2f, count);", True, 1),
    # These pass at 1e-2 alone.
    ("Optimizer/Sgd", IDENTITY, False),
    ("Loss/MseLoss", "Duplicate(y, 1.0f / 6, count);", False),
]

TILING_H = """#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(Rows)
TILING_DATA_FIELD_DEF(uint64_t, total);
TILING_DATA_FIELD_DEF(uint64_t, perBlock);
TILING_DATA_FIELD_DEF(uint32_t, tile);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(OP_TYPE, Rows)
} // namespace optiling
"""
TILING_FUNC = """static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    const auto &shape = context->GetOutputShape(0)->GetStorageShape();
    uint64_t total = shape.GetShapeSize();
    uint64_t columns = shape.GetDimNum() ? shape.GetDim(shape.GetDimNum() - 1) : 1;
    uint64_t rows = total / columns, cores = platform.GetCoreNumAiv();
    uint64_t perBlock = (rows + cores - 1) / cores;
    Rows tiling;
    tiling.set_total(total);
    tiling.set_perBlock(perBlock * columns);
    tiling.set_tile(static_cast<uint32_t>(columns < 8192 ? columns : 8192));
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>((rows + perBlock - 1) / perBlock));
    return ge::GRAPH_SUCCESS;
}
"""
BODY = """{
    GET_TILING_DATA(data, tiling);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    uint64_t begin = data.perBlock * GetBlockIdx();
    uint64_t end = begin + data.perBlock < data.total ? begin + data.perBlock : data.total;
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)INPUT);
    to.SetGlobalBuffer((__gm__ float *)OUTPUT);
    pipe.InitBuffer(in, 1, (data.tile * 4 + 31) / 32 * 32);
    pipe.InitBuffer(out, 1, (data.tile * 4 + 31) / 32 * 32);
    for (uint64_t at = begin; at < end; at += data.tile) {
        uint32_t count = end - at < data.tile ? end - at : data.tile;
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopyPad(x, from[at], copy, DataCopyPadExtParams<float>());
        in.EnQue(x);
        x = in.DeQue<float>();
        LocalTensor<float> y = out.AllocTensor<float>();
        COMPUTE
        out.EnQue(y);
        in.FreeTensor(x);
        y = out.DeQue<float>();
        DataCopyPad(to[at], y, copy);
        out.FreeTensor(y);
    }
}
"""


def make_project(directory, task, compute):
    """The task's question with the template in place of what is to be written."""
    project = directory / task.replace("/", "_")
    akgen("task", "question", SUITE / task, project)
    host, kernel = next(project.glob("op_host/*.cpp")), next(project.glob("op_kernel/*.cpp"))
    name = re.search(r"OP_ADD\((\w+)\)", host.read_text())[1]
    header = host.with_name(host.stem + "_tiling.h")
    header.write_text(TILING_H.replace("OP_TYPE", name))
    text = host.read_text()
    start, end = text.index("static ge::graphStatus TilingFunc"), text.index("} // namespace optiling")
    host.write_text(f'#include "{header.name}"\n' + text[:start] + TILING_FUNC + text[end:])
    text = kernel.read_text()
    names = re.findall(r"GM_ADDR (\w+)", text)
    body = BODY.replace("INPUT", names[0]).replace("OUTPUT", names[-3]).replace("COMPUTE", compute)
    kernel.write_text(text[:text.index("extern")] + "using namespace AscendC;\n\n" +
                      text[text.index("extern"):text.index("{\n")] + body)
    return project


class Degenerate(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="akgen-cheat-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def test_degenerate_kernels(self):
        evaluations = []
        for task, compute, _, *few in KERNELS:
            name, inputs = "multikernelbench/level1/" + task, f"--inputs={few[0] if few else 5}"
            project = make_project(self.directory, task, compute)
            evaluations += [(name, project, *PUBLISHED, inputs), (name, project, "--case", "0", inputs),
                            (name, project, "--profile=strict")]
        results = iter(verdicts(evaluations))
        for task, _, passes, *few in KERNELS:
            inputs = few[0] if few else 5
            upstream, loose, strict = (next(results) for _ in range(3))
            with self.subTest(task):
                self.assertEqual(upstream["verdict"], "pass" if passes else "wrong", upstream["reason"])
                self.assertEqual(upstream["protocol"], f"shapes v1, tolerance 1e-4, {inputs} inputs")
                self.assertEqual(upstream["cases"][0]["inputs_tried"], inputs if passes else 1)
                self.assertEqual(loose["verdict"], "pass", loose["reason"])
                self.assertEqual(loose["protocol"], f"shapes v1, tolerance 1e-2, {inputs} inputs")
                self.assertEqual(strict["verdict"], "wrong", strict["reason"])
                self.assertEqual(strict["protocol"], "shapes v1, strict limits, 2 inputs")

    def test_an_honest_kernel_of_the_template(self):
        project = make_project(self.directory, "Activation/Relu", "Relu(y, x, count);")
        for options in (PUBLISHED, ("--profile=strict",)):
            result = verdict("multikernelbench/level1/Activation/Relu", project, *options)
            self.assertEqual(result["verdict"], "pass", result["reason"])

    def test_results_that_are_built_in(self):
        """The right outputs for the first inputs as a table, found out by an honest kernel that prints them."""
        name, case = "multikernelbench/level1/Activation/Relu", ("--case", "2")
        show = """Relu(y, x, count);
        for (uint32_t i = 0; i < count; i++) {
            float value = y.GetValue(i);
            AscendC::printf("%u %u\\n", static_cast<uint32_t>(at + i), *reinterpret_cast<uint32_t *>(&value));
        }"""
        project = make_project(self.directory, "Activation/Relu", show)
        printed = verdict(name, project, *case, "--inputs=1")["cases"][0]["printed"]
        values = dict(map(int, line.split()) for line in printed.splitlines())
        self.assertEqual(sorted(values), list(range(7 * 33)))
        table = ", ".join(f"{values[i]}u" for i in range(7 * 33))
        shutil.rmtree(project)
        project = make_project(self.directory, "Activation/Relu", f"""const uint32_t table[] = {{{table}}};
        for (uint32_t i = 0; i < count; i++)
            y.SetValue(i, *reinterpret_cast<const float *>(&table[at + i]));""")
        once = verdict(name, project, *case, "--inputs=1")
        self.assertEqual(once["verdict"], "pass", once["reason"])
        for options in ((), ("--profile=strict",)):
            result = verdict(name, project, *case, *options)
            self.assertEqual((result["verdict"], result["stage"]), ("rejected", "compare"), result["reason"])
            self.assertRegex(result["reason"], "bit by bit those of the first inputs.* results are built in")

    def test_the_tolerance_belongs_to_the_suite(self):
        project = make_project(self.directory, "Activation/Relu", IDENTITY)
        for arguments, message in (
                (("level1/Math/Sqrt", project, "--tolerance=1e-4"), "suite 'npukernelbench' has no tolerance to choose"),
                (("multikernelbench/level1/Activation/Relu", project, "--tolerance=1e-3"),
                 "'1e-3' is (neither|none of|not).*1e-2.*1e-4"),
                (("multikernelbench/level1/Activation/Relu", project, "--tolerance=1e-4", "--profile=strict"),
                 "strict profile has limits of its own")):
            process = akgen("eval", *arguments)
            self.assertEqual(process.returncode, 2)
            self.assertRegex(process.stderr, message)

    def test_the_protocol_stands_beside_every_figure(self):
        """Table, CSV, JSON and page of a run over the suite; runs of different protocols do not compare."""
        tree, db = self.directory / "tree", self.directory / "runs.db"
        project = make_project(self.directory, "Activation/Relu", IDENTITY)
        (tree / "level1/Activation").mkdir(parents=True)
        project.rename(tree / "level1/Activation/Relu")
        page = self.directory / "run.html"
        bench = ("bench", "--suite=multikernelbench", "--task=*/Relu", "--provider", f"dir:{tree}", "--db", db, "--case=0")
        one, two = akgen(*bench, "--report", page), akgen(*bench, "--tolerance=1e-4", "--inputs=3")
        loose, tight = "shapes v1, tolerance 1e-2, 5 inputs", "shapes v1, tolerance 1e-4, 3 inputs"
        self.assertIn(f"protocol: {loose}", one.stdout)
        self.assertRegex(one.stdout, r"of 1 tasks +Comp@1 +100\.0% +Pass@1 +100\.0%\n")
        self.assertNotIn("NPUKernelBench score", one.stdout)
        self.assertIn(loose, page.read_text())
        self.assertIn(f"protocol: {tight}", two.stdout)
        self.assertIn(f'"{tight}"', akgen("report", "--db", db, "--format=csv").stdout)
        self.assertIn(f'"protocol": "{loose}"', akgen("report", "--db", db, "--run=1", "--format=json").stdout)
        self.assertIn(f"the runs do not compare: upstream: {loose}, upstream: {tight}",
                      akgen("report", "--db", db, "--run=2", "--compare=1").stdout)


if __name__ == "__main__":
    unittest.main()
