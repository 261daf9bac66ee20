#!/usr/bin/env python3
"""An output whose length only the run tells (OutputShapeDependOnCompute): MaskedSelectV3."""
import pathlib
import shutil
import tempfile
import unittest

from akgen_program import akgen, edit, verdict

TASK = "level2/Mask/MaskedSelectV3"
# Case 0 alone: 8 x 2048 half values, gathered by the scalar unit of one core.
KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t COUNT = 8 * 2048;

extern "C" __global__ __aicore__ void masked_select_v3(GM_ADDR x, GM_ADDR mask, GM_ADDR y, GM_ADDR shape_out,
    GM_ADDR workspace, GM_ADDR tiling)
{
    if (GetBlockIdx() != 0) {
        return;
    }
    GlobalTensor<half> xGm, yGm;
    GlobalTensor<uint8_t> maskGm;
    GlobalTensor<uint64_t> shapeGm;
    xGm.SetGlobalBuffer((__gm__ half *)x, COUNT);
    yGm.SetGlobalBuffer((__gm__ half *)y, COUNT);
    maskGm.SetGlobalBuffer((__gm__ uint8_t *)mask, COUNT);
    shapeGm.SetGlobalBuffer((__gm__ uint64_t *)shape_out, 2);
    TPipe pipe;
    TBuf<TPosition::VECCALC> xBuffer, maskBuffer, yBuffer;
    pipe.InitBuffer(xBuffer, COUNT * sizeof(half));
    pipe.InitBuffer(yBuffer, COUNT * sizeof(half));
    pipe.InitBuffer(maskBuffer, COUNT);
    LocalTensor<half> from = xBuffer.Get<half>(), to = yBuffer.Get<half>();
    LocalTensor<uint8_t> chosen = maskBuffer.Get<uint8_t>();
    DataCopy(from, xGm, COUNT);
    DataCopy(chosen, maskGm, COUNT);
    PipeBarrier<PIPE_ALL>();
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        if (chosen.GetValue(i) != 0) {
            to.SetValue(count++, from.GetValue(i));
        }
    }
    PipeBarrier<PIPE_ALL>();
    DataCopyExtParams copy{1, uint32_t(count * sizeof(half)), 0, 0, 0};
    DataCopyPad(yGm, to, copy);
    shapeGm.SetValue(0, 1);
    shapeGm.SetValue(1, count);
    DataCacheCleanAndInvalid<uint64_t, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(shapeGm);
}
"""


class ShortResult(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="akgen-short-"))
        self.addCleanup(shutil.rmtree, folder)
        self.project = folder / "project"
        akgen("task", "question", TASK, self.project, "--scope", "kernel")
        self.kernel = self.project / "op_kernel" / "masked_select_v3.cpp"
        self.kernel.write_text(KERNEL)

    def verdict(self, profile):
        return verdict(TASK, self.project, "--case", "0", f"--profile={profile}")

    def test_what_lies_behind_the_result_may_stay_unwritten(self):
        for profile in ("upstream", "strict"):
            result = self.verdict(profile)
            self.assertEqual(result["verdict"], "pass", result["reason"])
            self.assertEqual([note["name"] for note in result["cases"][0]["notes"] if note["kind"] == "undefined"], [])

    def test_a_result_that_ends_too_early(self):
        edit(self.kernel, "uint32_t(count * sizeof(half))", "uint32_t((count - 1) * sizeof(half))")
        result = self.verdict("upstream")
        self.assertEqual(result["verdict"], "wrong", result["reason"])
        self.assertIn("unwritten_output", [note["name"] for note in result["cases"][0]["notes"]])

    def test_one_value_too_many_is_allowed_to_stand_behind(self):
        edit(self.kernel, "    DataCopyExtParams", "    to.SetValue(count++, 1);\n    DataCopyExtParams")
        self.assertEqual(self.verdict("upstream")["verdict"], "pass")


if __name__ == "__main__":
    unittest.main()
