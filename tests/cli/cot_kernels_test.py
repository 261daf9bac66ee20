#!/usr/bin/env python3
# test: cost=13 labels=long
"""akgen cot kernels: kernels of a folder as files that compile alone; what does not, and what cannot be read, is counted and ends nothing."""
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

from akgen_program import akgen, kill_until_done, verdict

HELP = """// SPDX-License-Identifier: MIT
#ifndef HELP_H
#define HELP_H
#define WIDTH 64
#define UNUSED_MACRO(a) ((a) + 1)
namespace help {
template <typename T>
__aicore__ inline T Twice(T value)
{
    return value + value;
}
__aicore__ inline int Unused(int a) { return UNUSED_MACRO(a); }
} // namespace help
#endif
"""
KERNEL = """#include "kernel_operator.h"
#include "inc/help.h"
#include "../parts/run.inc"
using namespace AscendC;
extern "C" __global__ __aicore__ void ENTRY(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    Run(x, y, data.total);
}
"""
RUN = """
__aicore__ inline void Run(GM_ADDR x, GM_ADDR y, int64_t total)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, WIDTH * sizeof(half));
    AscendC::LocalTensor<half> local = buffer.Get<half>();
    AscendC::GlobalTensor<half> from, to;
    from.SetGlobalBuffer((__gm__ half *)x, total);
    to.SetGlobalBuffer((__gm__ half *)y, total);
    AscendC::DataCopy(local, from, WIDTH);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::Muls(local, local, static_cast<half>(help::Twice(1)), WIDTH);
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(to, local, WIDTH);
}
"""
TILING = """#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(TwiceItTilingData)
TILING_DATA_FIELD_DEF(int64_t, total);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(TwiceIt, TwiceItTilingData)
} // namespace optiling
"""


class Kernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="akgen-cot-")
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.tree = self.at / "tree"
        self.write("twice/op_kernel/inc/help.h", HELP)
        self.write("twice/parts/run.inc", RUN)
        self.write("twice/op_kernel/twice_it.cpp", KERNEL.replace("ENTRY", "twice_it"))
        self.write("twice/op_host/twice_it_tiling.h", TILING)
        self.write("twice/op_host/twice_it.cpp", "#include \"twice_it_tiling.h\"\n")

    def write(self, path, text):
        target = self.tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text) if isinstance(text, str) else target.write_bytes(text)

    def make(self, name, *options):
        done = akgen("cot", "kernels", self.tree, "--db", self.at / name, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(self.at / name) as store:
            return store.execute("SELECT part, mode, question, chain, answer, verdict, licence, tags, provenance FROM samples ORDER BY rowid").fetchall()

    def dropped(self, name):
        return json.loads(akgen("cot", "stats", "--db", self.at / name, "--json").stdout)["dropped"].get("kernels", {})

    def test_a_kernel_with_its_parts(self):
        (row,) = self.make("one.db")
        part, mode, question, chain, answer, judged, licence, tags, provenance = row
        self.assertEqual((part, mode, licence, json.loads(tags)), ("kernel", "ascendc", "MIT", ["pruned"]))
        self.assertEqual(json.loads(judged), {"verdict": "pass", "by": "compiler"})
        self.assertTrue(provenance.endswith("twice/op_kernel/twice_it.cpp"))
        for there in ("#define WIDTH 64", "Twice(T value)", "void Run(GM_ADDR x", "void twice_it(GM_ADDR x"):
            self.assertEqual(answer.count(there), 1, there)
        for gone in ("help.h", "run.inc", "Unused", "UNUSED_MACRO", "#pragma once"):
            self.assertNotIn(gone, answer)
        self.assertIn("`twice_it(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)`", question)
        self.assertIn("`Muls`", question)
        self.assertIn("`DataCopy`", question)
        self.assertIn("TILING_DATA_FIELD_DEF(int64_t, total);", question)
        self.assertIn("`twice_it` calls `Run`.", chain)
        self.assertIn("`Run` calls `DataCopy`, `PipeBarrier`, `Muls`, `Twice`.", chain)
        self.assertEqual(self.dropped("one.db"), {"no kernel": 1})
        # It compiles alone, as anybody would compile it.
        task = self.at / "task"
        task.mkdir()
        (task / "task.yaml").write_text("suite: rows\nlevel: 1\ncategory: Math\nop: TwiceIt\nreference: formula\ninputs:\n"
                                        "  - name: x\n    shape: \"[64]\"\n    dtype: \"float16\"\n    types: [float16]\n    generate: \"randn\"\n"
                                        "outputs:\n  - name: y\n    shape: \"[64]\"\n    dtype: \"float16\"\n    types: [float16]\n    formula: \"2 * x\"\n")
        (task / "cases.csv").write_text("case_id\n0\n")
        (task / "desc.md").write_text("# TwiceIt\n\nDoubles.\n")
        project = self.at / "project"
        (project / "op_kernel").mkdir(parents=True)
        (project / "op_kernel" / "twice_it.cpp").write_text(answer)
        (project / "op_host").mkdir()
        (project / "op_host" / "twice_it.cpp").write_text(TILING + """
#include "register/op_def_registry.h"
static ge::graphStatus Tile(gert::TilingContext *context)
{
    optiling::TwiceItTilingData data;
    data.set_total(64);
    data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(data.GetDataSize());
    context->SetBlockDim(1);
    return ge::GRAPH_SUCCESS;
}
namespace ops {
class TwiceIt : public OpDef {
public:
    explicit TwiceIt(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
        this->AICore().SetTiling(Tile);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(TwiceIt);
} // namespace ops
""")
        self.assertEqual(verdict(task, project)["verdict"], "pass")

    def test_what_becomes_no_sample(self):
        self.write("bad/wrong.cpp", KERNEL.replace("ENTRY", "wrong_one").replace("Run(x, y", "Rum(x, y"))
        self.write("bad/missing.cpp", KERNEL.replace("ENTRY", "missing_one").replace("../parts/run.inc", "none.h"))
        self.write("bad/circle.cpp", "#include \"circle_a.h\"\n" + KERNEL)
        self.write("bad/circle_a.h", "#include \"circle_b.h\"\n")
        self.write("bad/circle_b.h", "#include \"circle_a.h\"\n")
        self.write("bad/latin.cpp", "// caf\xe9\n".encode("latin-1"))
        self.write("bad/binary.cpp", b"\x7fELF\0\0")
        self.write("bad/bench/sqrt.cpp", KERNEL.replace("ENTRY", "sqrt"))
        self.write("bad/idle.cpp", "extern \"C\" __global__ __aicore__ void idle_one(GM_ADDR x, GM_ADDR y)\n{\n}\n")
        self.write("bad/huge.cpp", "// " + "x" * (2 << 20))
        (self.tree / "bad/link.cpp").symlink_to("wrong.cpp")
        os.mkfifo(self.tree / "bad/pipe.cpp")
        rows = self.make("bad.db", "--of-licence", "Apache-2.0")
        self.assertEqual(len(rows), 1)
        self.assertEqual(self.dropped("bad.db"), {
            "no kernel": 1, "it does not compile alone": 2, "includes that go in circles": 1, "no UTF-8": 1, "binary": 1,
            "a benchmark's operator": 1, "it calls nothing that is known": 1, "a file that is too large": 1, "a link": 1,
            "neither a file nor a folder": 1})
        self.assertEqual(self.make("bad.db", "--of-licence", "Apache-2.0"), rows)      # again: nothing is new
        self.assertEqual(akgen("cot", "kernels", "--db", self.at / "x.db").returncode, 2)
        self.assertIn("No such file", akgen("cot", "kernels", self.tree / "none", "--db", self.at / "x.db").stderr)

    def test_killed_runs_go_on(self):
        for i in range(8):
            self.write(f"more/op_kernel/more_{i}.cpp", "#include \"kernel_operator.h\"\n#include \"help.h\"\n#include \"run.inc\"\n"
                       f"extern \"C\" __global__ __aicore__ void more_{i}(GM_ADDR x, GM_ADDR y)\n{{\n    Run(x, y, {i});\n}}\n")
        whole = self.make("whole.db")
        self.assertEqual(len(whole), 9)
        self.assertGreater(kill_until_done("cot", "kernels", self.tree, "--db", self.at / "killed.db"), 0)
        self.assertEqual(self.make("killed.db"), whole)


if __name__ == "__main__":
    unittest.main()
