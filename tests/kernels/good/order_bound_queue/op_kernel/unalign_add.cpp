#include "kernel_operator.h"

using namespace AscendC;

// x goes through a TQueBind straight to z; then y is added to it by atomic stores, behind a barrier of MTE3, the last tile
// first.
constexpr uint32_t BLOCKS = 16, PER_BLOCK = 2048, TILE = 256; // of 32768 elements

extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    if (GetBlockIdx() >= BLOCKS) {
        return;
    }
    TPipe pipe;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * PER_BLOCK;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, PER_BLOCK);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, PER_BLOCK);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, PER_BLOCK);
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> through;
    pipe.InitBuffer(through, 2, TILE * sizeof(half));
    for (uint32_t at = 0; at < PER_BLOCK; at += TILE) {
        LocalTensor<half> in = through.AllocTensor<half>();
        DataCopy(in, xGm[at], TILE);
        through.EnQue(in);
        LocalTensor<half> out = through.DeQue<half>();
        DataCopy(zGm[at], out, TILE);
        through.FreeTensor(out);
    }
    PipeBarrier<PIPE_MTE3>();
    SetAtomicAdd<half>();
    for (uint32_t at = PER_BLOCK; at != 0;) {
        at -= TILE;
        LocalTensor<half> in = through.AllocTensor<half>();
        DataCopy(in, yGm[at], TILE);
        through.EnQue(in);
        LocalTensor<half> out = through.DeQue<half>();
        DataCopy(zGm[at], out, TILE);
        through.FreeTensor(out);
    }
    SetAtomicNone();
}
