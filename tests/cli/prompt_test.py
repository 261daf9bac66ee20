#!/usr/bin/env python3
"""akgen gen TASK --print-prompt: what a prompt shows is true. Its examples pass as answers, the files to begin from compile, and
a project that is written by the letter of its requirements passes."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from akgen_program import AKGEN, HOME

PROMPTS = pathlib.Path(HOME, "prompts")


def akgen(*arguments, code=None):
    done = subprocess.run([AKGEN, *map(str, arguments)], capture_output=True, text=True)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{arguments}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def prompt(task, *arguments):
    """The user's message."""
    messages = json.loads(akgen("gen", task, "--print-prompt", "--json", *arguments, code=0).stdout)
    assert [message["role"] for message in messages] == ["system", "user"]
    return messages[1]["content"]


def section(text, heading):
    return re.search(rf"^#+ {heading}\n(.*?)(?=^#+ [A-Z]|\Z)", text, re.M | re.S)[1]


def tagged(text):
    """The files of a part of a prompt: {path: text}."""
    return {path: body for path, body in re.findall(r"^<([\w/]+\.\w+)>\n(.*?)^</\1>$", text, re.M | re.S)}


def verdict(task, answer, *arguments):
    """The verdict on an answer as a model would give it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "answer.txt")
        path.write_text(answer)
        return json.loads(akgen("eval", task, path, "--json", *arguments).stdout)


def answer_of(files):
    return "Here it is.\n" + "".join(f"<{path}>\n{text}</{path}>\n" for path, text in files.items())


class Examples(unittest.TestCase):
    def passes(self, asked, arguments, example, *how):
        shown = section(prompt(asked, *arguments), "Example")
        self.assertIn(f", {example}.\n", shown)
        found = verdict(example, answer_of(tagged(shown)), *how)
        self.assertEqual(found["verdict"], "pass", found.get("reason"))

    def test_the_worked_example_passes(self):
        self.passes("Lerp", ["--variant", "one-shot"], "npukernelbench/level1/Math/Sqrt")

    def test_an_exemplar_passes(self):
        self.passes("Less", ["--variant", "exemplars"], "npukernelbench/level1/Comparison/Equal")
        self.passes("MatmulBias", ["--variant", "exemplars"], "npukernelbench/level3/GMM/BasicMatmul", "--case", "1")

    def test_a_kernel_passes(self):
        self.passes("Sqrt", ["--variant", "exemplars", "--scope", "kernel", "--mode", "static"], "npukernelbench/level1/Math/Addcmul",
                    "--scope", "kernel", "--mode", "static")

    def test_a_program_passes(self):
        self.passes("multikernelbench/level1/Loss/HingeLoss", ["--variant", "exemplars", "--language", "dsl"],
                    "multikernelbench/level1/Loss/MseLoss", "--case", "2", "--language", "dsl")


class Files(unittest.TestCase):
    """The files that a prompt asks to be completed are a candidate that compiles and computes nothing."""
    def compiles(self, task, *arguments):
        text = prompt(task, *arguments)
        files = tagged(section(text, "Files"))
        if "kernel" in arguments:
            self.assertEqual(sorted(path.split("/")[0] for path in files), ["op_host", "op_kernel"])
            files = {path: body for path, body in files.items() if path.startswith("op_kernel")}
        found = verdict(task, answer_of(files), *arguments, *([] if "static" in arguments else ["--first-failure"]))
        self.assertNotIn(found["verdict"], ("pass", "compile_error", "infra_error", "unsupported"), found.get("reason"))

    def test_of_tasks(self):
        for task in ("AddLayerNorm", "ForeachLerpScalar", "multikernelbench/level1/Activation/Relu"):
            with self.subTest(task):
                self.compiles(task)
                self.compiles(task, "--scope", "kernel", "--mode", "static")

    def test_of_a_task_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            akgen("gen", "--describe", pathlib.Path(HOME, "examples/rms_norm.md"), "-o", pathlib.Path(folder, "x"), code=0)
            task = pathlib.Path(folder, "x/task")
            text = prompt(task)
            self.assertIn("y = x * rsqrt(mean(x*x) + eps) * weight\n", text)
            self.assertIn('this->Attr("eps").AttrType(REQUIRED).Float();', text)
            self.compiles(task)


# Written from the requirements of the prompts and nothing else.
LERP_TILING = """#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(ForeachLerpScalarTilingData)
TILING_DATA_FIELD_DEF(uint32_t, tensors);
TILING_DATA_FIELD_DEF(uint32_t, tileLength);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 64, sizes);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ForeachLerpScalar, ForeachLerpScalarTilingData)
}
"""
LERP_FUNCTION = """    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t bytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, bytes);
    uint32_t tensors = context->GetIrInputInstanceInfo(0)->GetInstanceNum(), sizes[64] = {0};
    if (tensors > 64)
        return ge::GRAPH_FAILED;
    for (uint32_t t = 0; t < tensors; t++)
        sizes[t] = context->GetDynamicInputShape(0, t)->GetStorageShape().GetShapeSize();
    ForeachLerpScalarTilingData tiling;
    tiling.set_tensors(tensors);
    tiling.set_tileLength(bytes / 64 / 64 * 64);
    tiling.set_sizes(sizes);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(platform.GetCoreNumAiv());
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize() + 1024;
    return ge::GRAPH_SUCCESS;
"""
LERP_KERNEL = """#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"
using namespace AscendC;
template <typename T>
__aicore__ inline void Lerp(GM_ADDR x1, GM_ADDR x2, GM_ADDR weight, GM_ADDR y, GM_ADDR workspace, const ForeachLerpScalarTilingData &tilingData)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> firstQueue, secondQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    TBuf<QuePosition::VECCALC> wideBuffer, otherBuffer, maskBuffer;
    uint32_t tile = tilingData.tileLength;
    pipe.InitBuffer(firstQueue, 2, tile * sizeof(T));
    pipe.InitBuffer(secondQueue, 2, tile * sizeof(T));
    pipe.InitBuffer(outQueue, 2, tile * sizeof(T));
    pipe.InitBuffer(wideBuffer, tile * sizeof(float));
    pipe.InitBuffer(otherBuffer, tile * sizeof(float));
    pipe.InitBuffer(maskBuffer, tile);
    GlobalTensor<float> weightGm;
    weightGm.SetGlobalBuffer((__gm__ float *)weight, 1);
    float factor = weightGm.GetValue(0);
    ListTensorDesc list((__gm__ void *)x1), otherList((__gm__ void *)x2), outList((__gm__ void *)y);
    GM_ADDR user = GetUserWorkspace(workspace);
    if (user == nullptr || list.GetSize() != tilingData.tensors)
        return;
    for (uint32_t t = 0; t < tilingData.tensors; t++) {
        uint32_t total = tilingData.sizes[t];
        GlobalTensor<T> firstGm, secondGm, outGm;
        firstGm.SetGlobalBuffer((__gm__ T *)list.GetDataPtr<T>(t), total);
        secondGm.SetGlobalBuffer((__gm__ T *)otherList.GetDataPtr<T>(t), total);
        outGm.SetGlobalBuffer((__gm__ T *)outList.GetDataPtr<T>(t), total);
        for (uint32_t at = GetBlockIdx() * tile; at < total; at += GetBlockNum() * tile) {
            uint32_t count = total - at < tile ? total - at : tile;
            uint32_t bytes = count * sizeof(T);
            LocalTensor<T> first = firstQueue.AllocTensor<T>(), second = secondQueue.AllocTensor<T>();
            DataCopyPad(first, firstGm[at], DataCopyExtParams{1, bytes, 0, 0, 0}, DataCopyPadExtParams<T>{false, 0, 0, 0});
            DataCopyPad(second, secondGm[at], DataCopyExtParams{1, bytes, 0, 0, 0}, DataCopyPadExtParams<T>{false, 0, 0, 0});
            firstQueue.EnQue(first);
            secondQueue.EnQue(second);
            first = firstQueue.DeQue<T>();
            second = secondQueue.DeQue<T>();
            LocalTensor<T> out = outQueue.AllocTensor<T>();
            LocalTensor<float> wide = wideBuffer.Get<float>(), other = otherBuffer.Get<float>();
            if constexpr (std::is_same_v<T, float>) {
                Muls(wide, first, 1.0f, count);
                Sub(other, second, first, count);
            } else {
                Cast(wide, first, RoundMode::CAST_NONE, count);
                Cast(other, second, RoundMode::CAST_NONE, count);
                Sub(other, other, wide, count);
            }
            Muls(other, other, factor, count);
            Add(wide, wide, other, count);
            if constexpr (std::is_same_v<T, float>)
                Adds(out, wide, 0.0f, count);
            else
                Cast(out, wide, RoundMode::CAST_RINT, count);
            PipeBarrier<PIPE_ALL>();
            outQueue.EnQue(out);
            firstQueue.FreeTensor(first);
            secondQueue.FreeTensor(second);
            out = outQueue.DeQue<T>();
            DataCopyPad(outGm[at], out, DataCopyExtParams{1, bytes, 0, 0, 0});
            outQueue.FreeTensor(out);
        }
    }
}

extern "C" __global__ __aicore__ void foreach_lerp_scalar(GM_ADDR x1, GM_ADDR x2, GM_ADDR weight, GM_ADDR y,
    GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    Lerp<DTYPE_X1>(x1, x2, weight, y, workspace, tilingData);
}
"""
MATMUL_TILING = """#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(BasicMatmulTilingData)
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(BasicMatmul, BasicMatmulTilingData)
}
"""
MATMUL_FUNCTION = """    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    auto a = context->GetInputShape(0)->GetStorageShape();
    int32_t m = a.GetDim(0), k = a.GetDim(1), n = context->GetInputShape(1)->GetStorageShape().GetDim(1);
    matmul_tiling::MultiCoreMatmulTiling cubeTiling(platform);
    cubeTiling.SetDim(platform.GetCoreNumAiv());
    cubeTiling.SetAType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cubeTiling.SetBType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cubeTiling.SetCType(matmul_tiling::TPosition::GM, matmul_tiling::CubeFormat::ND, matmul_tiling::DataType::DT_FLOAT16);
    cubeTiling.SetShape(m, n, k);
    cubeTiling.SetOrgShape(m, n, k);
    cubeTiling.SetBufferSpace(-1, -1, -1);
    BasicMatmulTilingData tiling;
    if (cubeTiling.GetTiling(tiling.cube) == -1)
        return ge::GRAPH_FAILED;
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(platform.GetCoreNumAic());
    context->GetWorkspaceSizes(1)[0] = platform.GetLibApiWorkSpaceSize();
    return ge::GRAPH_SUCCESS;
"""
MATMUL_KERNEL = """#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void basic_matmul(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    using Operand = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    matmul::Matmul<Operand, Operand, Operand> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tilingData.cube);
    if (GetBlockIdx() >= tilingData.cube.usedCoreNum)
        return;
    int32_t m = tilingData.cube.M, n = tilingData.cube.N, k = tilingData.cube.Ka;
    int32_t high = (m + tilingData.cube.singleCoreM - 1) / tilingData.cube.singleCoreM;
    int32_t firstRow = GetBlockIdx() % high * tilingData.cube.singleCoreM;
    int32_t firstColumn = GetBlockIdx() / high * tilingData.cube.singleCoreN;
    if (firstRow >= m || firstColumn >= n)
        return;
    int32_t rows = m - firstRow < tilingData.cube.singleCoreM ? m - firstRow : tilingData.cube.singleCoreM;
    int32_t columns = n - firstColumn < tilingData.cube.singleCoreN ? n - firstColumn : tilingData.cube.singleCoreN;
    GlobalTensor<half> aGm, bGm, cGm;
    aGm.SetGlobalBuffer((__gm__ half *)a, m * k);
    bGm.SetGlobalBuffer((__gm__ half *)b, k * n);
    cGm.SetGlobalBuffer((__gm__ half *)c, m * n);
    mm.SetTail(rows, columns);
    mm.SetTensorA(aGm[firstRow * k]);
    mm.SetTensorB(bGm[firstColumn]);
    mm.IterateAll(cGm[firstRow * n + firstColumn]);
    mm.End();
}
"""


class Requirements(unittest.TestCase):
    def by_the_letter(self, task, name, tiling, function, kernel):
        files = tagged(section(prompt(task), "Files"))
        host = files[f"op_host/{name}.cpp"]
        host = re.sub(r"(ge::graphStatus TilingFunc\(.*?\)\n\{\n).*?^\}", lambda at: at[1] + function + "}", host, count=1, flags=re.M | re.S)
        answer = {f"op_host/{name}_tiling.h": tiling, f"op_host/{name}.cpp": f'#include "{name}_tiling.h"\n' + host, f"op_kernel/{name}.cpp": kernel}
        found = verdict(task, answer_of(answer))
        self.assertEqual(found["verdict"], "pass", json.dumps(found)[:3000])

    def test_vector(self):
        self.by_the_letter("ForeachLerpScalar", "foreach_lerp_scalar", LERP_TILING, LERP_FUNCTION, LERP_KERNEL)

    def test_cube(self):
        self.by_the_letter("BasicMatmul", "basic_matmul", MATMUL_TILING, MATMUL_FUNCTION, MATMUL_KERNEL)

    def test_what_they_call_stands_there(self):
        said = prompt("ForeachLerpScalar") + prompt("BasicMatmul")
        for code in (LERP_TILING, LERP_FUNCTION, LERP_KERNEL, MATMUL_TILING, MATMUL_FUNCTION, MATMUL_KERNEL):
            for name in re.findall(r"\b([A-Z][A-Za-z]{4,}|[A-Z][A-Z_]{6,})\b(?=[(<])", code):
                self.assertIn(name, said)


class Templates(unittest.TestCase):
    def refused(self, text, message, name="requirements.md", language="ascendc"):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, language).mkdir()
            pathlib.Path(folder, language, name).write_text(text)
            done = akgen("gen", "Sqrt", "--print-prompt", "--templates", folder, code=2)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_mistakes(self):
        self.refused("one\n{{descripton}}\n", "requirements.md:2: there is no placeholder 'descripton'; there are task, operator,")
        self.refused("{{#cube}}\n{{#soc}}\n{{/soc}}\n", "requirements.md:1: the section 'cube' is not ended by {{/cube}}")
        self.refused("a\n\n{{/cube}}", "requirements.md:3: {{/cube}} ends a section that was not begun")
        self.refused("{{#cube}}\n{{/soc}}", "requirements.md:2: {{/soc}} stands where {{/cube}} is to end the section of line 1")
        self.refused("{{cases\n}}", "requirements.md:1: '{{' is not closed by '}}'")
        self.refused("{{>requirements}}", "includes the file that it stands in")
        self.refused("{{>answers}}", "answers.md: No such file")
        self.refused("x", "requirement.md: no template includes this file; those that are read are system.md, user.md,", name="requirement.md")
        self.refused("x", "there is no folder", language="dsl")

    def test_a_copy_stands_in(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "ascendc").mkdir()
            pathlib.Path(folder, "ascendc/requirements.md").write_text("{{^cube}}\nNothing but {{operator}}.{{! a note }}\n{{/cube}}\n{{#cube}}no{{/cube}}")
            text = prompt("Sqrt", "--templates", folder)
        self.assertIn("</op_kernel/sqrt.cpp>\n\nNothing but sqrt.\n\n## Answer\n", re.sub("\n\n\n+", "\n\n", text))

    def test_six_strings(self):
        text = prompt("multikernelbench/level1/Activation/Relu", "--templates", PROMPTS / "six-strings")
        for name in ("project_json_src", "host_tiling_src", "host_operator_src", "kernel_src", "python_bind_src", "model_src"):
            self.assertIn(f"{name} = '''...'''", section(text, "Answer"))


class Retrieval(unittest.TestCase):
    def test_functions_and_documents(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sub").mkdir()
            pathlib.Path(folder, "sub/tips.html").write_text(
                "<html><style>p {}</style><h2>Square roots</h2><p>The sqrt of a &lt;half&gt; is <b>exact</b>.</p><script>if (a < b) sqrt();</script></html>")
            pathlib.Path(folder, "other.md").write_text("# Elsewhere\n\nNothing of the kind: zebra.\n")
            os.symlink(pathlib.Path(HOME, "tasks/npukernelbench/level1/Math/Sqrt/desc.md"), pathlib.Path(folder, "link.md"))
            text = section(prompt("Sqrt", "--variant", "retrieval", "--documents", folder, "--documents", pathlib.Path(HOME, "tasks")), "From the documentation")
        self.assertIn("- `Sqrt(LocalTensor<T> dst, LocalTensor<T> src, int32_t count)`\n", text)
        self.assertIn("- `DataCopyPad(", text)
        self.assertIn("**Square roots**\n\nThe sqrt of a <half> is exact.\n", text)
        for unwanted in ("zebra", "if (a", "elementwise", "p {}", "`Exp("):
            self.assertNotIn(unwanted, text)

    def test_what_cannot_be_read(self):
        self.assertIn("there is no such file", akgen("gen", "Sqrt", "--print-prompt", "--variant", "retrieval", "--documents", "/nonexistent", code=2).stderr)
        self.assertIn("documents are .md", akgen("gen", "Sqrt", "--print-prompt", "--variant", "retrieval", "--documents", "/dev/null", code=2).stderr)
        self.assertIn("--variant retrieval", akgen("gen", "Sqrt", "--print-prompt", "--documents", HOME, code=2).stderr)


class Printing(unittest.TestCase):
    def test_headings_and_tokens(self):
        done = akgen("gen", "Sqrt", "--print-prompt", code=0)
        self.assertTrue(done.stdout.startswith("----- system -----\nYou are"))
        self.assertIn("\n\n----- user -----\n# Operator Sqrt\n", done.stdout)
        self.assertRegex(done.stderr, r"^2 messages, \d+ tokens \(estimated: --tokenizer FILE counts\), [0-9a-f]{32}\n$")

    def test_a_tokenizer_counts(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            # A token for every byte: as many tokens as bytes, and five around each message.
            letters = [chr(c) for c in [*range(33, 127), *range(161, 173), *range(174, 256)]] + [chr(256 + i) for i in range(68)]
            json.dump({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
                       "model": {"type": "BPE", "vocab": {letter: i for i, letter in enumerate(letters)}, "merges": []}}, file)
            file.flush()
            messages = json.loads(akgen("gen", "Sqrt", "--print-prompt", "--json", code=0).stdout)
            tokens = sum(len(message["content"].encode()) + 5 for message in messages)
            self.assertIn(f"2 messages, {tokens} tokens, ", akgen("gen", "Sqrt", "--print-prompt", "--tokenizer", file.name, code=0).stderr)
            self.assertIn("100 more than the limit", akgen("gen", "Sqrt", "--print-prompt", "--tokenizer", file.name, "--prompt-token-limit", tokens - 100, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
