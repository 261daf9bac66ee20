"""Right answers to a small task of the tests, and errors to plant in them: each is one replacement in one file.

QUEUES is a kernel with TQue, FLAGS one with TBuf and flags, PROGRAM one in AscendDSL; all compute y = sqrt(x)."""
from akgen_program import TASKS

YAML = """suite: mine
level: 1
category: Math
op: Sqrt
reference: formula
vary: sizes
inputs:
  - name: x
    shape: "$shape"
    dtype: "$dtype"
    types: [float16, float32, bfloat16]
    generate: "uniform(0.1, 4)"
outputs:
  - name: y
    shape: "$shape"
    dtype: "$dtype"
    types: [float16, float32, bfloat16]
    formula: "sqrt(x)"
"""
CASES = "case_id;shape;dtype\n0;[5, 33];float16\n1;[2, 3, 1001];float32\n2;[4, 2050];bfloat16\n"


def make_task(folder):
    """The task, below `folder`."""
    task = folder / "mine/level1/Math/Sqrt"
    task.mkdir(parents=True)
    (task / "task.yaml").write_text(YAML)
    (task / "cases.csv").write_text(CASES)
    (task / "desc.md").write_text("# Sqrt\n\nThe square root of each element.\n")
    return task


def reference(name):
    return (TASKS / "level1/Math/Sqrt/reference" / name).read_text()


KERNEL, HOST, TILING = "op_kernel/sqrt.cpp", "op_host/sqrt.cpp", "op_host/sqrt_tiling.h"
# Smaller tiles and larger parts, so that small cases have several tiles for a core.
QUEUES = {TILING: reference(TILING), KERNEL: reference(KERNEL),
          HOST: reference(HOST).replace("(4 * 4 + 4) / ALIGN", "(4 * 4 + 4) / 16 / ALIGN").replace("MIN_PER_BLOCK = 1024", "MIN_PER_BLOCK = 4096")}
PROGRAM = {"program.py": (TASKS / "level1/Math/Sqrt/program.py").read_text()}
FLAGS = dict(QUEUES)
FLAGS[KERNEL] = """// y = sqrt(x) without queues: one buffer, flags between the pipes.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void sqrt(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(sizes, tiling);
    TPipe pipe;
    TBuf<TPosition::VECCALC> given, wide;
    GlobalTensor<DTYPE_X> xGm, yGm;
    uint64_t begin = sizes.perBlock * GetBlockIdx();
    uint64_t length = sizes.total - begin < sizes.perBlock ? sizes.total - begin : sizes.perBlock;
    uint32_t tile = 256;
    xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
    yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
    pipe.InitBuffer(given, tile * sizeof(DTYPE_X));
    pipe.InitBuffer(wide, tile * sizeof(float));
    LocalTensor<DTYPE_X> data = given.Get<DTYPE_X>();
    LocalTensor<float> number = wide.Get<float>();
    for (uint64_t at = 0; at < length; at += tile) {
        uint32_t count = length - at < tile ? length - at : tile;
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(data, xGm[at], copy, pad);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        if constexpr (std::is_same_v<DTYPE_X, float>) {
            Sqrt(data, data, count);
        } else {
            Cast(number, data, RoundMode::CAST_NONE, count);
            Sqrt(number, number, count);
            Cast(data, number, RoundMode::CAST_RINT, count);
        }
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopyPad(yGm[at], data, copy);
        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    }
}
"""

# (the answer, the file, what stands in it, what stands there instead)
ASCENDC = [
    (QUEUES, KERNEL, "inQueue.EnQue(x);\n    }", "inQueue.EnQue(x)\n    }"),
    (QUEUES, KERNEL, "uint32_t count = length - at <", "uint32_t cuont = length - at <"),
    (QUEUES, KERNEL, "TQue<QuePosition::VECOUT, 2> outQueue;", "TQueue<QuePosition::VECOUT, 2> outQueue;"),
    (QUEUES, HOST, "    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());\n", ""),
    (QUEUES, KERNEL, "        inQueue.FreeTensor(x);\n", ""),
    (QUEUES, KERNEL, "        outQueue.EnQue(y);\n", ""),
    (QUEUES, KERNEL, "        DataCopyPad(yGm[at], y, copy);", "        DataCopy(yGm[at], y, count);"),
    (QUEUES, HOST, "ubBytes / (4 * 4 + 4) / 16", "ubBytes / 4"),
    (QUEUES, KERNEL, "uint32_t count = length - at < tile ? length - at : tile;", "uint32_t count = tile;"),
    (FLAGS, KERNEL, "        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);\n        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);\n", ""),
    (FLAGS, KERNEL, "        SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);\n        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);\n", ""),
    (FLAGS, KERNEL, "        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);\n", ""),
    (QUEUES, KERNEL, "pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));", ""),
    (QUEUES, KERNEL, "Sqrt(wide, wide, count);", "Sqrt(wide, x, count);"),
    (FLAGS, KERNEL, "Sqrt(number, number, count);", "Sqrt(number, number);"),
    (FLAGS, KERNEL, "            Cast(number, data, RoundMode::CAST_NONE, count);\n", ""),
    (FLAGS, KERNEL, "        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);\n    }\n}", "        WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);\n    }"),
    (FLAGS, KERNEL, "Sqrt(data, data, count);", "Sqrt(data[4], data[4], count);"),
    (QUEUES, KERNEL, "        outQueue.FreeTensor(y);\n", "        outQueue.FreeTensor(y);\n        outQueue.FreeTensor(y);\n"),
    (FLAGS, KERNEL, "        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);\n", ""),
    (QUEUES, HOST, "context->SetBlockDim(static_cast<uint32_t>(blocks));", "context->SetBlockDim(static_cast<uint32_t>(blocks - 1));"),
    (QUEUES, KERNEL, "Sqrt(y, x, count);", "Sqrt(y, x, count / 2);"),
    (QUEUES, KERNEL, "RoundMode::CAST_RINT", "RoundMode::CAST_NONE"),
    (QUEUES, KERNEL, "yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);", "yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y, length);"),
    (QUEUES, HOST, ".DataType({ge::DT_FLOAT16, ge::DT_FLOAT, ge::DT_BF16})\n            .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});\n        this->Output", ".DataType({ge::DT_FLOAT16, ge::DT_FLOAT})\n            .Format({ge::FORMAT_ND, ge::FORMAT_ND});\n        this->Output"),
]
DSL = [
    ("with tl.compute():", "with tl.compute()"),
    ("tl.vsqrt", "tl.vsqr"),
    ("offsets = at +", "offset = at +"),
    ("tl.cdiv(tl.cdiv(total, cores), 64) * 64", "total // cores // 64 * 64"),
    ("tl.load(x + offsets, x_ub, mask=offsets < end)", "tl.load(x + offsets, x_ub)"),
    ("tl.store(y + offsets, y_ub, mask=offsets < end)", "tl.store(y + offsets, y_ub)"),
    ("tile: tl.constexpr = 4096", "tile: tl.constexpr = 65536"),
    ("with tl.compute():", "with tl.copyin():"),
    ("tl.vsqrt(y_ub, x_ub)", "tl.vsqrt(y_ub)"),
    ("total, per_core, tile)\n", "total, per_core)\n"),
    ("    cores =", "    assert total % 512 == 0, 'whole tiles'\n    cores ="),
    ("end = min(start + per_core, total)", "end = start + per_core"),
    ("@ascend_kernel\n", ""),
    ("y_ub = tl.alloc_ub(tile, dtype=tl.float32)", "y_ub = tl.alloc_ub(tile, dtype=tl.float16)"),
    ("        with tl.copyin():\n            tl.load", "        z_ub = tl.alloc_ub(tile, dtype=tl.float32)\n        with tl.copyin():\n            tl.load"),
    ("tl.vsqrt(y_ub, x_ub)", "tl.vsqrt(y_ub[1:tile], x_ub[1:tile])"),
    ("            tl.vsqrt(y_ub, x_ub)", "           tl.vsqrt(y_ub, x_ub)\n            pass"),
    ("tl.cdiv(total, 512)", "tl.cdiv(total, 512"),
    ("total = x.numel()", "total = = x.numel()"),
]


def plant(row, language):
    """The files of an answer with the error of a row in it."""
    base, file, old, new = row if language == "ascendc" else (PROGRAM, "program.py", *row)
    assert base[file].count(old) >= 1, old
    return {**base, file: base[file].replace(old, new, 1)}


def answer(files):
    """Files in the form in which a model answers."""
    return "".join(f"<{path}>\n{text}{'' if text.endswith(chr(10)) else chr(10)}</{path}>\n" for path, text in files.items())
