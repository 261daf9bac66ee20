#!/usr/bin/env python3
"""akgen eval --seeds N: a result that depends on the order in which blocks happen to run. Four blocks add their terms to z
atomically, which needs no order between them; what is rounded depends on it all the same."""
import pathlib
import shutil
import tempfile
import unittest

from akgen_program import akgen, edit, verdict

KERNEL = """#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t COUNT = 32768, TILE = 4096;

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    TPipe pipe;
    TBuf<QuePosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, TILE * sizeof(half));
    LocalTensor<half> local = buffer.Get<half>();
    GlobalTensor<half> in, out;
    in.SetGlobalBuffer((__gm__ half *)(GetBlockIdx() == %(x_block)d ? x : y), COUNT);
    out.SetGlobalBuffer((__gm__ half *)z, COUNT);
    if (GetBlockIdx() == 0) {
        Duplicate(local, half(0), TILE);
        PipeBarrier<PIPE_ALL>();
        for (uint32_t at = 0; at < COUNT; at += TILE) {
            DataCopy(out[at], local, TILE);
        }
        PipeBarrier<PIPE_ALL>();
    }
    SyncAll();
    if (GetBlockIdx() > 3) {
        return;
    }
    SetAtomicAdd<half>();
    for (uint32_t at = 0; at < COUNT; at += TILE) {
        DataCopy(local, in[at], TILE);
        PipeBarrier<PIPE_ALL>();
        %(term)s
        PipeBarrier<PIPE_ALL>();
        DataCopy(out[at], local, TILE);
        PipeBarrier<PIPE_ALL>();
    }
    SetAtomicNone();
}
"""
# 0.0003 and -0.0003 cancel up to a rounding of x or y, wherever they come.
SMALL = {"x_block": 0, "term": "if (GetBlockIdx() > 1) { Duplicate(local, half(GetBlockIdx() == 2 ? 0.0003 : -0.0003), TILE); }"}
# 2048 and -2048 cancel in program order; between them x and y lose all their bits.
CANCEL = {"x_block": 2, "term": "if (GetBlockIdx() < 2) { Duplicate(local, half(GetBlockIdx() ? -2048 : 2048), TILE); }"}


class Seeds(unittest.TestCase):
    def evaluate(self, values, *options):
        with tempfile.TemporaryDirectory(prefix="akgen-seeds-") as folder:
            kernel = pathlib.Path(folder) / "op_kernel"
            kernel.mkdir()
            (kernel / "unalign_add.cpp").write_text(KERNEL % values)
            return verdict("UnalignAdd", folder, "--scope=kernel", "--case=0", *options)

    def test_wrong_under_some_order(self):
        self.assertEqual(self.evaluate(CANCEL)["verdict"], "pass")
        result = self.evaluate(CANCEL, "--seeds=20")
        self.assertEqual(result["verdict"], "wrong")
        self.assertRegex(result["reason"], r"under --schedule=random:\d+: ")
        seed = result["cases"][0]["orders_tried"]
        self.assertIn(f"random:{seed}:", result["reason"])
        again = self.evaluate(CANCEL, f"--schedule=random:{seed}")
        self.assertEqual(again["verdict"], "wrong", "the reported schedule shows it again")
        if seed > 1:
            self.assertEqual(self.evaluate(CANCEL, f"--seeds={seed - 1}")["verdict"], "pass", "it is the first")

    def test_other_bits(self):
        row = self.evaluate(SMALL, "--seeds=10")["cases"][0]
        self.assertEqual((row["ok"], row["orders_tried"]), (True, 10))
        self.assertRegex(row["order_decides"], r"^z\[\d+\] has other bits under --schedule=random:\d+")

    def test_nothing_differs(self):
        root = pathlib.Path(__file__).parents[1] / "kernels/good/flags"
        row = verdict("UnalignAdd", root, "--scope=kernel", "--case=0", "--seeds=4")["cases"][0]
        self.assertEqual((row["ok"], row["orders_tried"], row["order_decides"]), (True, 4, None))
        self.assertEqual(verdict("UnalignAdd", root, "--scope=kernel", "--case=0")["cases"][0]["orders_tried"], 0)
        shown = akgen("eval", "UnalignAdd", root, "--scope=kernel", "--case=0", "--seeds=4").stdout
        self.assertIn("; right under random:1 to random:4 too\n", shown)

    def test_strict_tries_an_order_where_cores_look_at_words_of_others(self):
        """A look that waits for nothing is right in program order, in which the block before has written; after it races are not looked for."""
        kernels = pathlib.Path(__file__).resolve().parents[1] / "kernels"
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(shutil.copytree(kernels / "faults" / "past_cache_of_an_input", pathlib.Path(directory) / "look"))
            edit(root / "op_kernel" / "unalign_add.cpp", "(__gm__ uint32_t *)x", "(__gm__ uint32_t *)(to + (block - 1) * PER_BLOCK)")
            self.assertEqual(verdict("UnalignAdd", root, "--scope=kernel", "--case=0")["verdict"], "pass")
            looks = verdict("UnalignAdd", root, "--scope=kernel", "--case=0", "--profile=strict")
        self.assertEqual((looks["verdict"], looks["cases"][0]["orders_tried"]), ("fault", 1))
        self.assertIn("under --schedule=random:1: ", looks["reason"])
        waits = verdict("UnalignAdd", kernels / "good" / "order_atomic_counter", "--case=0", "--profile=strict")
        self.assertEqual((waits["verdict"], waits["cases"][0]["orders_tried"]), ("pass", 1))

    def test_bad_number(self):
        done = akgen("eval", "UnalignAdd", ".", "--seeds=-1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--seeds: '-1' is not a whole number", done.stderr)


if __name__ == "__main__":
    unittest.main()
