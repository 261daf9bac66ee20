#include "kernel_operator.h"

using namespace AscendC;

// 128 blocks on 48 cores: the first 48 wait in SyncAll for blocks that cannot start.
extern "C" __global__ __aicore__ void unalign_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(data, tiling);
    TPipe pipe;
    TBuf<QuePosition::VECCALC> xBuffer, yBuffer;
    GlobalTensor<half> xGm, yGm, zGm;
    uint32_t begin = GetBlockIdx() * data.perBlock;
    xGm.SetGlobalBuffer((__gm__ half *)x + begin, data.perBlock);
    yGm.SetGlobalBuffer((__gm__ half *)y + begin, data.perBlock);
    zGm.SetGlobalBuffer((__gm__ half *)z + begin, data.perBlock);
    pipe.InitBuffer(xBuffer, data.perBlock * sizeof(half));
    pipe.InitBuffer(yBuffer, data.perBlock * sizeof(half));
    LocalTensor<half> xLocal = xBuffer.Get<half>();
    LocalTensor<half> yLocal = yBuffer.Get<half>();
    DataCopy(xLocal, xGm, data.perBlock);
    DataCopy(yLocal, yGm, data.perBlock);
    PipeBarrier<PIPE_ALL>();
    Add(xLocal, xLocal, yLocal, data.perBlock);
    PipeBarrier<PIPE_ALL>();
    DataCopy(zGm, xLocal, data.perBlock);
    SyncAll(); // BUG: sync_more_blocks_than_cores
}
