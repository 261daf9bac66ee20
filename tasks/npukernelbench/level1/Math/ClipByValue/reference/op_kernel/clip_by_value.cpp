// y = min(max(x, lowest), highest): where the limits cross, the upper one wins. Every block takes a contiguous share;
// tiles move through double-buffered queues. The limits are one element each in GM, read by the scalar unit.
#include "kernel_operator.h"

using namespace AscendC;

class KernelClipByValue {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR lowest, GM_ADDR highest, GM_ADDR y,
                                const ClipByValueTilingData &tiling, TPipe *pipe)
    {
        uint64_t begin = tiling.perBlock * GetBlockIdx();
        uint64_t left = tiling.total - begin;
        length = left < tiling.perBlock ? left : tiling.perBlock;
        tile = tiling.tile;
        xGm.SetGlobalBuffer((__gm__ DTYPE_X *)x + begin, length);
        yGm.SetGlobalBuffer((__gm__ DTYPE_X *)y + begin, length);
        lowestGm.SetGlobalBuffer((__gm__ DTYPE_X *)lowest, 1);
        highestGm.SetGlobalBuffer((__gm__ DTYPE_X *)highest, 1);
        pipe->InitBuffer(inQueue, 2, tile * sizeof(DTYPE_X));
        pipe->InitBuffer(outQueue, 2, tile * sizeof(DTYPE_X));
    }

    __aicore__ inline void Process()
    {
        DTYPE_X lowest = lowestGm.GetValue(0);
        DTYPE_X highest = highestGm.GetValue(0);
        for (uint64_t at = 0; at < length; at += tile) {
            uint32_t count = length - at < tile ? length - at : tile;
            CopyIn(at, count);
            Compute(lowest, highest, count);
            CopyOut(at, count);
        }
    }

private:
    __aicore__ inline void CopyIn(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.AllocTensor<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPadExtParams<DTYPE_X> pad;
        DataCopyPad(x, xGm[at], copy, pad);
        inQueue.EnQue(x);
    }

    __aicore__ inline void Compute(DTYPE_X lowest, DTYPE_X highest, uint32_t count)
    {
        LocalTensor<DTYPE_X> x = inQueue.DeQue<DTYPE_X>();
        LocalTensor<DTYPE_X> y = outQueue.AllocTensor<DTYPE_X>();
        Maxs(y, x, lowest, count);
        Mins(y, y, highest, count);
        outQueue.EnQue(y);
        inQueue.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(uint64_t at, uint32_t count)
    {
        LocalTensor<DTYPE_X> y = outQueue.DeQue<DTYPE_X>();
        DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(DTYPE_X)), 0, 0, 0};
        DataCopyPad(yGm[at], y, copy);
        outQueue.FreeTensor(y);
    }

    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<DTYPE_X> xGm, yGm, lowestGm, highestGm;
    uint64_t length;
    uint32_t tile;
};

extern "C" __global__ __aicore__ void clip_by_value(GM_ADDR x, GM_ADDR clip_value_min, GM_ADDR clip_value_max,
                                                    GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(tilingData, tiling);
    TPipe pipe;
    KernelClipByValue op;
    op.Init(x, clip_value_min, clip_value_max, y, tilingData, &pipe);
    op.Process();
}
